"""Draw the curves of a benchmark."""

from cdspp.figure_curves import draw_curves
from cdspp.jobs import job

with job(snakemake.log[0]):
    draw_curves(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
