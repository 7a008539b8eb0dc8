"""Learn visual words from one domain."""

from cdspp.features.stages import build_codebook
from cdspp.jobs import job

with job(snakemake.log[0]):
    build_codebook(
        **snakemake.input,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        output=snakemake.output[0],
        numeric_threads=snakemake.params.numeric_threads,
    )
