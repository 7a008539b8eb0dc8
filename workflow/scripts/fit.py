"""Fit a method on a task for a block of trials."""

from cdspp.core.jobs import job
from cdspp.stages.fit import TaskFiles, fit_block

with job(snakemake.log[0]):
    fit_block(
        files=TaskFiles(**snakemake.input),
        predictions=snakemake.output.predictions,
        record=snakemake.output.record,
        benchmark=snakemake.wildcards.benchmark,
        task=snakemake.wildcards.task,
        method=snakemake.wildcards.method,
        block=snakemake.wildcards.block,
        **snakemake.params.fit,
    )
