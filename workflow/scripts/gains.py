"""Write the table of what the source was worth."""

from cdspp.gains import write_gains
from cdspp.jobs import job

with job(snakemake.log[0]):
    write_gains(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        outputs=list(snakemake.output),
    )
