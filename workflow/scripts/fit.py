"""Fit methods on a task for a block of trials, in several settings."""

from cdspp.core.jobs import job

with job(snakemake.log[0], snakemake.input):
    from cdspp.core.records import Specification
    from cdspp.stages.fit import Fit, JobInputs, fit_block

    job_inputs = JobInputs(
        files={**snakemake.input},
        benchmark=snakemake.params.benchmark,
        task=snakemake.wildcards.task,
        gpus=snakemake.resources.gpu,
    )
    specifications = (Specification(**each) for each in snakemake.params.fits)
    files = snakemake.output.predictions
    fit_block(job_inputs, [*map(Fit.specified, files, specifications)])
