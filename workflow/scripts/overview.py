"""Write the table over all benchmarks."""

from cdspp.jobs import job
from cdspp.tables import write_overview

with job(snakemake.log[0]):
    write_overview(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        outputs=list(snakemake.output),
    )
