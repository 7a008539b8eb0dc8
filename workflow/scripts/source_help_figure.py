"""Draw the opening chart."""

from cdspp.analysis.summary import read_summaries
from cdspp.core.jobs import job
from cdspp.report.figures.source_help import draw_source_help
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    draw_source_help(
        read_summaries(snakemake.input.scores, plans), list(snakemake.output)
    )
