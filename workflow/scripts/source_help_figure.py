"""Draw the opening chart."""

from cdspp.core.jobs import job
from cdspp.report.figures.source_help import draw_source_help
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    draw_source_help(
        scores=snakemake.input.scores,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        outputs=list(snakemake.output),
    )
