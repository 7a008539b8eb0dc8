"""Write the table of the paper's claims."""

from cdspp.core.jobs import job
from cdspp.report.tables.claims.claims import build_claims_table, check_claims
from cdspp.report.tables.claims.evidence import read_evidence
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    evidence = read_evidence(snakemake.input.scores, plans, snakemake.input.records)
    write_tables([build_claims_table(check_claims(evidence))], list(snakemake.output))
