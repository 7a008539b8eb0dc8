"""Write the table of what the source was worth."""

from cdspp.analysis.gains import gather_gains
from cdspp.core.jobs import job
from cdspp.report.tables.gains import build_gains_table
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    gains = gather_gains(snakemake.input.scores, plans)
    write_tables([build_gains_table(gains)], list(snakemake.output))
