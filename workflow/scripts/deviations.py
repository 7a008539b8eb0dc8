"""Write the table of where paper and released code differ."""

from cdspp.deviations import write_deviations
from cdspp.jobs import job

with job(snakemake.log[0]):
    write_deviations(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        deviations=snakemake.input.deviations[0],
        outputs=list(snakemake.output),
    )
