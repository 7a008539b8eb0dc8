"""Draw the curves of a benchmark."""

from cdspp.analysis.curves import read_curves
from cdspp.core.jobs import job
from cdspp.report.figures.curves import draw_curves
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    draw_curves(read_curves(snakemake.input.scores, plan), list(snakemake.output))
