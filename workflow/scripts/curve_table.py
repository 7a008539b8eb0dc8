"""Write the table of a curve."""

from cdspp.core.jobs import job
from cdspp.report.tables.curves import write_curve_tables

with job(snakemake.log[0]):
    write_curve_tables(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
