"""Draw one task in detail."""

from cdspp.core.jobs import job
from cdspp.report.figures.samples import draw_showcase
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    draw_showcase(
        fits=snakemake.input.fits,
        subspace=snakemake.input.subspace,
        source_labels=snakemake.input.source_labels,
        target_labels=snakemake.input.target_labels,
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        outputs=list(snakemake.output),
    )
