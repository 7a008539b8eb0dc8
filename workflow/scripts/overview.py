"""Write the table over all benchmarks."""

from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import write_overview

with job(snakemake.log[0]):
    write_overview(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        outputs=list(snakemake.output),
    )
