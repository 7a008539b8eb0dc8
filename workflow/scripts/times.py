"""Write the table of computation times."""

from pathlib import Path

from cdspp.core.jobs import job
from cdspp.report.tables.times import write_times
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_times(
        records=snakemake.input.records,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        paper=Path(snakemake.input.paper[0]).parent,
        outputs=list(snakemake.output),
    )
