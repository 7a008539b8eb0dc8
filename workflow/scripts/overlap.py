"""Write the table of samples that are on both sides of a task."""

from cdspp.core.jobs import job
from cdspp.report.tables.overlap import write_overlap

with job(snakemake.log[0]):
    write_overlap(
        splits=list(snakemake.input),
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
