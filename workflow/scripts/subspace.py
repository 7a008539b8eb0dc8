"""Project one trial iteration by iteration."""

from cdspp.core.jobs import file_job, log_ready

output, made_of = snakemake.output[0], snakemake.params.specification
files = {**snakemake.input}
with file_job(snakemake.log[0], output, made_of, files) as options:
    from cdspp.stages.subspace import write_subspace

    log_ready()
    write_subspace(files=files, output=output, **options)
