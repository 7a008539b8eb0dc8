"""Write the table over all benchmarks."""

from cdspp.analysis.summary import read_summaries
from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import build_overview
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    summaries = read_summaries(snakemake.input.scores, plans)
    write_tables([build_overview(summaries)], list(snakemake.output))
