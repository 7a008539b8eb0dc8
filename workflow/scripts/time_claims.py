"""Write the table of what the paper claims of computation time."""

from pathlib import Path

from cdspp.analysis.fit_records import measure_times, read_fit_records
from cdspp.core.jobs import job
from cdspp.paper.claims.claims import build_time_claims_table, check_claims, read_claims
from cdspp.paper.claims.evidence import Times
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

CLAIMS = Path(snakemake.scriptdir, "../../resources/paper/claims.yaml")

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    times = measure_times(read_fit_records(snakemake.input.records).outcomes, plans)
    findings = check_claims([Times(plan, times) for plan in plans], read_claims(CLAIMS))
    write_tables([build_time_claims_table(findings)], list(snakemake.output))
