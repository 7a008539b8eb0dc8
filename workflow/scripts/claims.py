"""Write the table of the paper's claims."""

from pathlib import Path

from cdspp.core.jobs import job
from cdspp.paper.claims import claims
from cdspp.paper.claims.evidence import read_evidence
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

CLAIMS = Path(snakemake.scriptdir, "../../resources/paper/claims.yaml")

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    given = snakemake.input
    evidence = read_evidence(given.scores, given.comparisons, given.rows, plans)
    findings = claims.check_claims(evidence, claims.read_claims(CLAIMS))
    made = claims.build_verdicts_table(findings), claims.build_claims_table(findings)
    write_tables(made, list(snakemake.output))
