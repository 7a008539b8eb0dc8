"""Write the table of computation times."""

from cdspp.core.jobs import job
from cdspp.report.tables.times import write_times

with job(snakemake.log[0]):
    write_times(
        records=snakemake.input.records,
        layouts=snakemake.params.layouts,
        paper=snakemake.params.paper,
        outputs=list(snakemake.output),
    )
