"""Project one trial iteration by iteration."""

from cdspp.core.jobs import job
from cdspp.stages.subspace import write_subspace

with job(
    snakemake.log[0],
    snakemake.input,
    output=snakemake.output[0],
    made_of=snakemake.params.made_of,
):
    write_subspace(
        files={**snakemake.input},
        output=snakemake.output[0],
        overlap=snakemake.params.overlap,
        method=snakemake.params.method,
        options=snakemake.params.options,
        numeric_threads=snakemake.params.numeric_threads,
    )
