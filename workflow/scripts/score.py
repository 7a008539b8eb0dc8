"""Score the predictions of a benchmark."""

from cdspp.evaluation import write_scores
from cdspp.jobs import job

with job(snakemake.log[0]):
    write_scores(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        output=snakemake.output[0],
    )
