"""Count the shares of the classes among the test samples of a block of trials."""

from cdspp.core.jobs import job
from cdspp.stages.splits import write_test_shares

with job(
    snakemake.log[0],
    snakemake.input,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    write_test_shares(
        labels=snakemake.input.labels,
        split=snakemake.input.split,
        output=snakemake.output[0],
    )
