"""Draw the figures of a benchmark."""

from cdspp.figures import draw_benchmark
from cdspp.jobs import job

with job(snakemake.log[0]):
    draw_benchmark(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
