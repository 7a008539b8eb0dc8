"""Write the table of what the source was worth."""

from cdspp.core.jobs import job
from cdspp.report.tables.gains import write_gains
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_gains(
        scores=snakemake.input.scores,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        outputs=list(snakemake.output),
    )
