"""Write the table of methods by source states."""

from cdspp.analysis.source_help import compare
from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.report.tables.source_help import build_matrix_table
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    scores = map(read_scores, snakemake.input.scores)
    found = [compare(*pair) for pair in zip(scores, plans, strict=True)]
    table = build_matrix_table(found, plans[0].margin)
    write_tables([table], list(snakemake.output))
