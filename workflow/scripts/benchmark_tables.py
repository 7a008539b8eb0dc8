"""Write the tables of a benchmark."""

from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import write_benchmark_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_benchmark_tables(
        scores=snakemake.input.scores,
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        outputs=list(snakemake.output),
    )
