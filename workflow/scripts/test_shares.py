"""Count the shares of the classes among the test samples of a block of trials."""

from cdspp.core.jobs import file_job, log_ready

output, made_of = snakemake.output[0], snakemake.params.specification
files = {**snakemake.input}
with file_job(snakemake.log[0], output, made_of, files):
    from cdspp.stages.splits import write_test_shares

    log_ready()
    write_test_shares(output=output, **files)
