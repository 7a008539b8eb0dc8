"""Draw the opening chart, and the matrix of methods by source states below it."""

from cdspp.analysis.source_help import compare
from cdspp.analysis.summary import read_scores, summarise
from cdspp.core.jobs import job
from cdspp.report.figures.source_help import draw_source_help
from cdspp.report.figures.source_states import draw_source_states
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    scores = [read_scores(path) for path in snakemake.input.scores]
    pairs = list(zip(scores, plans, strict=True))
    found = [compare(*pair) for pair in pairs]
    summaries = [summarise(*pair) for pair in pairs]
    draw_source_help(summaries, found, snakemake.output[:2])
    draw_source_states(found, [plan.title for plan in plans], snakemake.output[2:])
