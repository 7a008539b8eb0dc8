"""Write the tables of a benchmark."""

from cdspp.analysis.summary import read_summary
from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import build_benchmark_tables
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    summary = read_summary(snakemake.input.scores, plan)
    write_tables(build_benchmark_tables(summary), list(snakemake.output))
