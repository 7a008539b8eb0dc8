"""Fit methods on a task for a block of trials, in the settings of their group."""

from cdspp.core.jobs import job
from cdspp.stages.fit import Fit, TaskBlock, fit_block

with job(snakemake.log[0], snakemake.input):
    task_block = TaskBlock(
        files={**snakemake.input},
        benchmark=snakemake.params.benchmark,
        task=snakemake.wildcards.task,
        **snakemake.params.study,
    )
    members = zip(snakemake.output.predictions, snakemake.params.members, strict=True)
    fit_block(task_block, [Fit(predictions=path, **rest) for path, rest in members])
