"""Count the shares of the classes among the test samples of a block of trials."""

from cdspp.core.jobs import file_job
from cdspp.stages.splits import write_test_shares

output, made_of = snakemake.output[0], snakemake.params.specification
files = {**snakemake.input}
with file_job(snakemake.log[0], output, made_of, files):
    write_test_shares(output=output, **files)
