"""Write the tables of the curves of a benchmark."""

from cdspp.analysis.curves import arrange_curves
from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.report.tables.benchmark import build_curve_tables
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    curves = arrange_curves(read_scores(snakemake.input.scores), plan)
    write_tables(build_curve_tables(curves, plan), list(snakemake.output))
