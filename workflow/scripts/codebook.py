"""Learn visual words from one domain."""

from cdspp.core.jobs import job
from cdspp.stages.bundles import unpack
from cdspp.stages.features import build_codebook

files = {**snakemake.input}
bundles, _ = files.pop("bundles", ()), files.pop("own", ())
with job(
    snakemake.log[0],
    files.values(),
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    unpack(bundles)
    build_codebook(
        **files,
        extractor=snakemake.params.extractor,
        options=snakemake.params.options,
        output=snakemake.output[0],
        numeric_threads=snakemake.params.numeric_threads,
    )
