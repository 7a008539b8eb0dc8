"""Draw the labelled samples of a block of trials."""

from cdspp.core.jobs import file_job, log_ready

output, made_of = snakemake.output[0], snakemake.params.specification
with file_job(snakemake.log[0], output, made_of, {**snakemake.input}) as options:
    from cdspp.stages.splits import write_split

    log_ready()
    write_split(
        labels=snakemake.input.labels,
        output=output,
        domain=snakemake.wildcards.domain,
        role=snakemake.wildcards.role,
        block=snakemake.wildcards.block,
        **options,
    )
