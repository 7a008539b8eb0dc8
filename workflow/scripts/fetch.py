"""Fetch a published resource of a data set."""

from cdspp.core.jobs import job, log_ready

with job(snakemake.log[0], echo=True):
    from cdspp.datasets.resources import fetch_resource
    from cdspp.stages.node_archives import pack_fetched
    from cdspp.study.files import workflow_folder

    log_ready()
    fetch_resource(
        dataset=snakemake.wildcards.data,
        resource=snakemake.wildcards.resource,
        catalogue=workflow_folder() / "resources/datasets.yaml",
        mirror=snakemake.config.get("mirror"),
        output=snakemake.output[0],
    )
    pack_fetched(snakemake.output[0], snakemake.output[1:])
