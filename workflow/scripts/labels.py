"""Write the labels of a domain."""

from cdspp.core.jobs import file_job, log_ready

output, made_of = snakemake.output[0], snakemake.params.specification
with file_job(snakemake.log[0], output, made_of, {**snakemake.input}):
    from cdspp.stages.data import write_labels

    log_ready()
    write_labels(snakemake.input.index, snakemake.wildcards.domain, output)
