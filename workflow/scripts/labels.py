"""Write the labels of a domain."""

from cdspp.datasets.stages import write_labels
from cdspp.jobs import job

with job(snakemake.log[0]):
    write_labels(snakemake.input[0], snakemake.wildcards.domain, snakemake.output[0])
