"""Draw the opening chart."""

from cdspp.figures import draw_source_help
from cdspp.jobs import job

with job(snakemake.log[0]):
    draw_source_help(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        outputs=list(snakemake.output),
    )
