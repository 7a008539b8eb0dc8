"""Write what methods predict for rows without a label."""

from cdspp.core.jobs import job
from cdspp.stages.score import write_predictions

with job(snakemake.log[0], snakemake.input):
    write_predictions(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        outputs=snakemake.output,
    )
