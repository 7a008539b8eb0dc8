"""Write the table of what the source was worth."""

from cdspp.core.jobs import job
from cdspp.report.tables.gains import write_gains

with job(snakemake.log[0]):
    write_gains(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        outputs=list(snakemake.output),
    )
