"""Write the table of where paper and released code differ."""

from pathlib import Path

from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.paper.effects import build_deviation_table, measure_effects, read_deviations
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

PAPER = Path(snakemake.scriptdir, "../../resources/paper")

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    scores = map(read_scores, snakemake.input.scores)
    effects = [measure_effects(*pair) for pair in zip(scores, plans, strict=True)]
    deviations = read_deviations(PAPER / "deviations.yaml")
    write_tables([build_deviation_table(effects, deviations)], list(snakemake.output))
