"""Write the table of where paper and released code differ."""

from cdspp.core.jobs import job
from cdspp.report.tables.deviations import write_deviations
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_deviations(
        scores=snakemake.input.scores,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        deviations=snakemake.input.deviations,
        outputs=list(snakemake.output),
    )
