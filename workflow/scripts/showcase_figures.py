"""Draw one task in detail."""

from cdspp.core.jobs import job
from cdspp.report.figures.benchmark import draw_showcase

with job(snakemake.log[0]):
    draw_showcase(
        fits=snakemake.input.fits,
        subspace=snakemake.input.subspace,
        source_labels=snakemake.input.source_labels,
        target_labels=snakemake.input.target_labels,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
