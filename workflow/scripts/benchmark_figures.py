"""Draw the figures of a benchmark."""

from cdspp.core.jobs import job
from cdspp.report.figures.benchmark import draw_benchmark
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    draw_benchmark(
        scores=snakemake.input.scores,
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        outputs=list(snakemake.output),
    )
