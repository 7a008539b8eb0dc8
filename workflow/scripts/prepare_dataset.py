"""Put the files of a data set in place."""

from cdspp.datasets.stages import prepare_dataset
from cdspp.jobs import job

with job(snakemake.log[0]):
    prepare_dataset(
        name=snakemake.wildcards.dataset,
        folder=snakemake.params.recipe["folder"],
        catalogue=snakemake.params.catalogue,
        output=snakemake.output[0],
    )
