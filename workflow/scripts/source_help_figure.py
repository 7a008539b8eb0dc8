"""Draw the opening chart, and the matrix of methods by source states below it."""

from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import read_summaries
from cdspp.core.jobs import job
from cdspp.report.figures.source_help import draw_source_help, draw_source_states
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    found = [read_comparisons(path) for path in snakemake.input.comparisons]
    summaries = read_summaries(snakemake.input.scores, plans)
    draw_source_help(summaries, found, snakemake.output[:2])
    draw_source_states(found, plans, snakemake.output[2:])
