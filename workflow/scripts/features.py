"""Compute a view of a domain."""

from cdspp.features.stages import extract_view
from cdspp.jobs import job

with job(snakemake.log[0]):
    extract_view(
        **snakemake.input,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        layout=snakemake.params.layout,
        domain=snakemake.wildcards.domain,
        output=snakemake.output[0],
        numeric_threads=snakemake.params.numeric_threads,
    )
