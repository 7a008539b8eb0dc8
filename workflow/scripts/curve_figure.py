"""Draw the curves of a benchmark."""

from cdspp.core.jobs import job
from cdspp.report.figures.curves import draw_curves

with job(snakemake.log[0]):
    draw_curves(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
