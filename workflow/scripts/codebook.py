"""Learn visual words from one domain."""

from cdspp.core.jobs import job
from cdspp.stages.features import build_codebook
from cdspp.stages.node_archives import unpack_archives

files = unpack_archives(snakemake.input)
with job(
    snakemake.log[0],
    files.values(),
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    build_codebook(
        files=files,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        output=snakemake.output[0],
        numeric_threads=snakemake.params.numeric_threads,
    )
