"""Write the table of what the printed numbers rest on."""

from pathlib import Path

from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.paper.effects import build_choices_table, measure_choices, read_choices
from cdspp.paper.printed import read_printed
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

PAPER = Path(snakemake.scriptdir, "../../resources/paper")

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    scores = [read_scores(path) for path in snakemake.input.scores]
    paper = read_printed(PAPER)
    choices = read_choices(PAPER / "choices.yaml")
    effects = measure_choices(scores, plans, paper)
    write_tables([build_choices_table(effects, choices)], list(snakemake.output))
