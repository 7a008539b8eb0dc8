"""Draw the figures of a benchmark."""

from cdspp.core.jobs import job
from cdspp.report.figures.benchmark import draw_benchmark

with job(snakemake.log[0]):
    draw_benchmark(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
