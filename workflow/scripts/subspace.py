"""Project one trial iteration by iteration."""

from cdspp.core.jobs import file_job
from cdspp.stages.subspace import write_subspace

output, made_of = snakemake.output[0], snakemake.params.specification
files = {**snakemake.input}
with file_job(snakemake.log[0], output, made_of, files) as options:
    write_subspace(files=files, output=output, **options)
