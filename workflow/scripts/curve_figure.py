"""Draw the curves of a benchmark."""

from cdspp.core.jobs import job
from cdspp.report.figures.curves import draw_curves
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    draw_curves(
        scores=snakemake.input.scores,
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        outputs=list(snakemake.output),
    )
