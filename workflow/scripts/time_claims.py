"""Write the table of what the paper claims of computation time."""

from cdspp.analysis.fit_records import measure_times, read_fit_records
from cdspp.core.jobs import job
from cdspp.paper.claims.claims import build_time_claims_table, check_time_claims
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    times = measure_times(read_fit_records(snakemake.input.records).outcomes, plans)
    table = build_time_claims_table(check_time_claims(times, plans))
    write_tables([table], list(snakemake.output))
