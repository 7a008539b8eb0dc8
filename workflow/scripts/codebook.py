"""Learn visual words from one domain."""

from cdspp.core.jobs import job
from cdspp.stages.features import build_codebook

with job(
    snakemake.log[0],
    snakemake.input,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    build_codebook(
        **snakemake.input,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        output=snakemake.output[0],
        numeric_threads=snakemake.params.numeric_threads,
    )
