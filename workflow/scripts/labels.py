"""Write the labels of a domain."""

from cdspp.core.jobs import job
from cdspp.stages.data import write_labels

with job(
    snakemake.log[0],
    snakemake.input,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    write_labels(snakemake.input[0], snakemake.wildcards.domain, snakemake.output[0])
