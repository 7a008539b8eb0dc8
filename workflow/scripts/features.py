"""Compute a view of a domain."""

from cdspp.core.jobs import file_job, log_ready
from cdspp.stages.node_archives import unpack_archives

files, made_of = unpack_archives(snakemake.input), snakemake.params.specification
output = snakemake.output[0]
with file_job(snakemake.log[0], output, made_of, files) as options:
    from cdspp.stages.features import extract_view

    log_ready()
    extract_view(
        files=files,
        domain=snakemake.wildcards.domain,
        output=output,
        gpus=snakemake.resources.gpu,
        **options,
    )
