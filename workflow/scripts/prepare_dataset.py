"""Put the files of a data set in place."""

from pathlib import Path

from cdspp.core.jobs import job
from cdspp.stages.data import prepare_dataset

with job(snakemake.log[0]):
    prepare_dataset(
        name=snakemake.wildcards.dataset,
        own=snakemake.params.recipe["own"],
        catalogue=Path(snakemake.scriptdir, "../../resources/datasets.yaml"),
        output=snakemake.output[0],
    )
