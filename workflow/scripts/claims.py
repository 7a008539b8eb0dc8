"""Write the table of the paper's claims."""

from cdspp.claims import write_claims
from cdspp.jobs import job

with job(snakemake.log[0]):
    write_claims(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        records=snakemake.input.records,
        outputs=list(snakemake.output),
    )
