"""Learn visual words from one domain."""

from unpack import unpack

from cdspp.core.jobs import job
from cdspp.stages.features import build_codebook

files, made_of = unpack(snakemake.input), snakemake.params.made_of
output = snakemake.output[0]
with job(snakemake.log[0], files.values(), output=output, made_of=made_of):
    build_codebook(
        **files,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        output=output,
        numeric_threads=snakemake.params.numeric_threads,
    )
