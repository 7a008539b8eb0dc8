"""Compute a view of a domain."""

from unpack import unpack

from cdspp.core.jobs import job
from cdspp.stages.features import extract_view

own, params, output = snakemake.params.own_files, snakemake.params, snakemake.output[0]
files, made_of = unpack(snakemake.input), params.made_of
inputs = files.values()
with job(snakemake.log[0], inputs, own=own, output=output, made_of=made_of):
    extract_view(
        **files,
        extractor=params.extractor,
        options=params.options,
        scale=params.scale,
        spec=params.spec,
        domain=snakemake.wildcards.domain,
        output=output,
        numeric_threads=params.numeric_threads,
        gpus=snakemake.resources.gpu,
    )
