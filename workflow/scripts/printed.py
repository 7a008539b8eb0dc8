"""Write the printed numbers beside the reproduced ones."""

from pathlib import Path

from cdspp.core.jobs import job
from cdspp.report.tables.printed import write_printed
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_printed(
        scores=snakemake.input.scores,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        paper=Path(snakemake.input.paper[0]).parent,
        outputs=list(snakemake.output),
    )
