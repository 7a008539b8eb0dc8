"""Write the table of the paper's claims."""

from cdspp.core.jobs import job
from cdspp.report.tables.claims.claims import write_claims

with job(snakemake.log[0]):
    write_claims(
        scores=snakemake.input.scores,
        layouts=snakemake.params.layouts,
        records=snakemake.input.records,
        outputs=list(snakemake.output),
    )
