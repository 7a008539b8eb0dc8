"""Draw the opening chart."""

from cdspp.core.jobs import job
from cdspp.report.figures.benchmark import draw_source_help

with job(snakemake.log[0]):
    draw_source_help(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        outputs=list(snakemake.output),
    )
