"""Draw the order of the paired rows in a block of trials."""

from cdspp.core.jobs import file_job, log_ready

output, made_of = snakemake.output[0], snakemake.params.specification
with file_job(snakemake.log[0], output, made_of, {**snakemake.input}) as options:
    from cdspp.stages.splits import write_pairs

    log_ready()
    write_pairs(
        index=snakemake.input.index,
        output=output,
        block=snakemake.wildcards.block,
        **options,
    )
