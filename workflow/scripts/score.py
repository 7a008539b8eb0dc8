"""Score the predictions of a benchmark."""

from cdspp.core.jobs import job
from cdspp.stages.score import write_scores

with job(snakemake.log[0], snakemake.input):
    write_scores(
        fits=snakemake.input.fits,
        labels=snakemake.input.labels,
        output=snakemake.output.scores,
        rows=snakemake.output.rows,
        expected=snakemake.params.expected,
    )
