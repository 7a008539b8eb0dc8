"""Write the tables of a benchmark."""

from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import write_benchmark_tables

with job(snakemake.log[0]):
    write_benchmark_tables(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
