"""Compute a view of a domain."""

from cdspp.core.jobs import job
from cdspp.stages.features import extract_view
from cdspp.stages.node_archives import unpack_archives

own, made_of = snakemake.params.own_files, snakemake.params.made_of
output = snakemake.output[0]
files = unpack_archives(snakemake.input)
inputs = files.values()
with job(snakemake.log[0], inputs, own=own, output=output, made_of=made_of):
    extract_view(
        files=files,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        scale=snakemake.params.scale,
        spec=snakemake.params.spec,
        domain=snakemake.wildcards.domain,
        output=output,
        numeric_threads=snakemake.params.numeric_threads,
        gpus=snakemake.resources.gpu,
    )
