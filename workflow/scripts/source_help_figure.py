"""Draw the opening chart, and the matrix of methods by source states below it."""

from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import read_summaries
from cdspp.core.jobs import job
from cdspp.report.figures.source_help import draw_source_help, draw_source_states
from cdspp.report.figures.style import by_kind
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    found = [read_comparisons(path) for path in snakemake.input.comparisons]
    summaries = read_summaries(snakemake.input.scores, plans)
    kinds = ("source-help", "source-states")
    for kind, paths in by_kind(snakemake.output, kinds).items():
        if kind == "source-help":
            draw_source_help(summaries, found, paths)
        else:
            draw_source_states(found, plans, paths)
