"""Draw what pairs and shared columns give, beside labels alone."""

from cdspp.analysis.curves import arrange_curves
from cdspp.analysis.summary import read_scores, summarise
from cdspp.core.jobs import job
from cdspp.report.figures.curves import draw_bridges
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    pairs = zip(map(read_scores, snakemake.input), plans, strict=True)
    found = [(summarise(*pair), arrange_curves(*pair)) for pair in pairs]
    draw_bridges(found, snakemake.output)
