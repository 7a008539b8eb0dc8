"""Fit methods on a task for a block of trials, in several settings."""

from cdspp.core.jobs import job
from cdspp.stages.fit import Fit, JobInputs, fit_block

with job(snakemake.log[0], snakemake.input):
    job_inputs = JobInputs(
        files={**snakemake.input},
        benchmark=snakemake.params.benchmark,
        task=snakemake.wildcards.task,
        gpus=snakemake.resources.gpu,
        **snakemake.params.study,
    )
    fits = zip(snakemake.output.predictions, snakemake.params.fits, strict=True)
    fit_block(job_inputs, [Fit(predictions=path, **rest) for path, rest in fits])
