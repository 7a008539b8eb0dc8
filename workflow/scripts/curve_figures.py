"""Draw the curves of a benchmark."""

from cdspp.analysis.curves import arrange_curves
from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.report.figures.curves import draw_curves
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    curves = arrange_curves(read_scores(snakemake.input.scores), plan)
    draw_curves(curves, list(snakemake.output))
