"""Write the table of selected hyper-parameters."""

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.selection import read_selections
from cdspp.core.jobs import job
from cdspp.report.tables.source_help import build_selection_table
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    outcomes = read_fit_records(snakemake.input.records).outcomes
    files = snakemake.input.scores, snakemake.input.comparisons
    found = read_selections(*files, plans, outcomes)
    write_tables([build_selection_table(found, plans)], list(snakemake.output))
