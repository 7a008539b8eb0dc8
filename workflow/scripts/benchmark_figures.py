"""Draw the figures of a benchmark."""

from cdspp.analysis.summary import read_scores, summarise
from cdspp.core.jobs import job
from cdspp.report.figures.benchmark import draw_benchmark
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    summary = summarise(read_scores(snakemake.input.scores), plan)
    draw_benchmark(summary, list(snakemake.output))
