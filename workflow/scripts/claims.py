"""Write the table of the paper's claims."""

from cdspp.core.jobs import job
from cdspp.report.tables.claims.claims import write_claims
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_claims(
        scores=snakemake.input.scores,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        records=snakemake.input.records,
        outputs=list(snakemake.output),
    )
