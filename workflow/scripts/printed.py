"""Write the printed numbers beside the reproduced ones."""

from cdspp.core.jobs import job
from cdspp.report.tables.printed import write_printed

with job(snakemake.log[0]):
    write_printed(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        paper=snakemake.params.paper,
        outputs=list(snakemake.output),
    )
