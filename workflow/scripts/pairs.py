"""Draw the order of the paired rows in a block of trials."""

from cdspp.core.jobs import job
from cdspp.stages.splits import write_pairs

with job(
    snakemake.log[0],
    snakemake.input,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    write_pairs(
        index=snakemake.input[0],
        output=snakemake.output[0],
        block=snakemake.wildcards.block,
        seed=snakemake.params.seed,
    )
