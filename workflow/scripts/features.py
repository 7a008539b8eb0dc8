"""Compute a view of a domain."""

from cdspp.core.jobs import job
from cdspp.stages.features import extract_view

with job(
    snakemake.log[0],
    snakemake.input,
    own=snakemake.params.own_files,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    extract_view(
        **snakemake.input,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        scale=snakemake.params.scale,
        spec=snakemake.params.spec,
        domain=snakemake.wildcards.domain,
        output=snakemake.output[0],
        numeric_threads=snakemake.params.numeric_threads,
        gpus=snakemake.resources.gpu,
    )
