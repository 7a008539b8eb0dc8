"""Write the table of several sources: each of them left out."""

from cdspp.analysis.source_help import compare_without_each
from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.report.tables.source_help import build_several_table
from cdspp.report.tables.table import write_tables
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    scores = read_scores(snakemake.input.scores)
    found = compare_without_each(scores, plan, RowScores(snakemake.input.rows))
    write_tables([build_several_table(found, plan)], list(snakemake.output))
