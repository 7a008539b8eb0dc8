"""Write the table of where paper and released code differ."""

from cdspp.core.jobs import job
from cdspp.report.tables.deviations import write_deviations

with job(snakemake.log[0]):
    write_deviations(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        deviations=snakemake.input.deviations[0],
        outputs=list(snakemake.output),
    )
