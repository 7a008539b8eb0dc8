"""Write the table of samples that are on both sides of a task."""

from cdspp.core.jobs import job
from cdspp.report.tables.overlap import write_overlap
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_overlap(
        splits=list(snakemake.input),
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        outputs=list(snakemake.output),
    )
