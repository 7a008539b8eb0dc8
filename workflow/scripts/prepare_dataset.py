"""Put the files of a data set in place."""

from cdspp.core.jobs import file_job, log_ready

output, made_of = snakemake.output[0], snakemake.params.specification
own = made_of["options"]["own"]
with file_job(snakemake.log[0], output, made_of):
    from cdspp.stages.data import prepare_dataset
    from cdspp.stages.node_archives import pack_index
    from cdspp.study.files import workflow_folder

    log_ready()
    prepare_dataset(
        name=made_of["options"]["name"],
        own=own,
        catalogue=workflow_folder() / "resources/datasets.yaml",
        output=output,
    )
    pack_index(output, snakemake.output[2:])
