"""Write the table of methods by source states."""

from cdspp.analysis.source_help import read_comparisons
from cdspp.core.jobs import job
from cdspp.report.tables.source_help import build_matrix_table
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    found = [read_comparisons(path) for path in snakemake.input.comparisons]
    how = {"margin": plans[0].margin, "corrected": plans[0].holm_over_methods}
    how["protocols"] = [plan.protocol for plan in plans]
    write_tables([build_matrix_table(found, **how)], list(snakemake.output))
