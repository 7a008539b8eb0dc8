"""Fetch a resource of a data set from where it is published."""

from pathlib import Path

from pack import pack

from cdspp.core.jobs import job
from cdspp.datasets.resources import fetch_resource

with job(snakemake.log[0], echo=True):
    fetch_resource(
        dataset=snakemake.wildcards.dataset,
        resource=snakemake.wildcards.resource,
        catalogue=Path(snakemake.scriptdir, "../../resources/datasets.yaml"),
        mirror=snakemake.config.get("mirror"),
        output=snakemake.output[0],
    )
    pack(snakemake.output[0], snakemake.output[1:])
