"""Draw what pairs and shared columns give, beside labels alone."""

from cdspp.analysis.curves import read_curves
from cdspp.analysis.summary import read_summary
from cdspp.core.jobs import job
from cdspp.report.figures.bridges import draw_bridges
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    draw_bridges(
        [
            (read_summary(scores, plan), read_curves(scores, plan))
            for scores, plan in zip(snakemake.input, plans, strict=True)
        ],
        snakemake.output,
    )
