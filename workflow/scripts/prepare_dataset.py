"""Put the files of a data set in place."""

from cdspp.core.jobs import job
from cdspp.stages.data import prepare_dataset
from cdspp.stages.node_archives import pack_index
from cdspp.study.files import workflow_folder

own = snakemake.params.own or {}
with job(
    snakemake.log[0],
    own=own.get("tables", {}).values(),
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    prepare_dataset(
        name=snakemake.wildcards.dataset,
        own=snakemake.params.own,
        catalogue=workflow_folder() / "resources/datasets.yaml",
        output=snakemake.output[0],
    )
    pack_index(snakemake.output[0], snakemake.output[2:])
