"""Write the tables of a benchmark."""

from cdspp.jobs import job
from cdspp.tables import write_benchmark_tables

with job(snakemake.log[0]):
    write_benchmark_tables(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
