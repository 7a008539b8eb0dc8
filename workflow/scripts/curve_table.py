"""Write the table of a curve."""

from cdspp.curves import write_curve_tables
from cdspp.jobs import job

with job(snakemake.log[0]):
    write_curve_tables(
        scores=snakemake.input.scores,
        layout=snakemake.params.layout,
        outputs=list(snakemake.output),
    )
