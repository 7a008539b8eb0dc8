"""Put the files of a data set in place."""

from pathlib import Path

from pack import pack

from cdspp.core.jobs import job
from cdspp.stages.data import prepare_dataset

own, made_of = snakemake.params.own, snakemake.params.made_of
tables, output = (own or {}).get("tables", {}).values(), snakemake.output[0]
with job(snakemake.log[0], own=tables, output=output, made_of=made_of):
    prepare_dataset(
        name=snakemake.wildcards.dataset,
        own=own,
        catalogue=Path(snakemake.scriptdir, "../../resources/datasets.yaml"),
        output=output,
    )
    pack(output, snakemake.output[2:])
