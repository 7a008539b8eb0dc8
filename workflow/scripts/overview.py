"""Write the table over all benchmarks."""

from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import write_overview
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_overview(
        scores=snakemake.input.scores,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        outputs=list(snakemake.output),
    )
