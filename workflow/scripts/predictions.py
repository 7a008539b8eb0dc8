"""Write the predictions of methods for unlabelled rows."""

from cdspp.core.jobs import job
from cdspp.stages.score import write_predictions

with job(snakemake.log[0], snakemake.input):
    write_predictions(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        outputs=snakemake.output,
        expected=snakemake.params.expected,
    )
