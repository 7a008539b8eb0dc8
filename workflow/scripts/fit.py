"""Fit a method on a task for a block of trials, in the settings of its group."""

from cdspp.core.jobs import job
from cdspp.stages.fit import Cell, Fit, TaskFiles, fit_cell

with job(snakemake.log[0]):
    cell = Cell(
        files=TaskFiles(**snakemake.input),
        benchmark=snakemake.params.benchmark,
        task=snakemake.wildcards.task,
        method=snakemake.wildcards.method,
        block=snakemake.wildcards.block,
        code=snakemake.params.code,
        **snakemake.params.study,
    )
    outputs = snakemake.output.predictions, snakemake.output.record
    ways = snakemake.params.ways
    fit_cell(
        cell, [Fit(*files, **way) for *files, way in zip(*outputs, ways, strict=True)]
    )
