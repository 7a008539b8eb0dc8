"""Draw the labelled samples of a block of trials."""

from cdspp.core.jobs import job
from cdspp.stages.splits import write_split

with job(
    snakemake.log[0],
    snakemake.input,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    write_split(
        labels=snakemake.input[0],
        output=snakemake.output[0],
        dataset=snakemake.params.dataset,
        domain=snakemake.wildcards.domain,
        role=snakemake.wildcards.role,
        block=snakemake.wildcards.block,
        **snakemake.params.draw,
    )
