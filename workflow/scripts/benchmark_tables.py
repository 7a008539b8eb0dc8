"""Write the tables of a benchmark."""

from cdspp.analysis.source_help import compare_with_rivals
from cdspp.analysis.summary import read_scores, summarise
from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import build_benchmark_tables
from cdspp.report.tables.source_help import build_task_table
from cdspp.report.tables.table import write_tables
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    scores = read_scores(snakemake.input.scores)
    tables = build_benchmark_tables(summarise(scores, plan))
    found = compare_with_rivals(scores, plan, RowScores(snakemake.input.rows))
    of = {"title": plan.title, "protocol": plan.protocol}
    tables.append(build_task_table(found, plan.benchmark, **of))
    write_tables(tables, list(snakemake.output))
