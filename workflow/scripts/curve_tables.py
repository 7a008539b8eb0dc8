"""Write the tables of the curves of a benchmark."""

from cdspp.analysis.curves import read_curves
from cdspp.core.jobs import job
from cdspp.report.tables.curves import build_curve_tables
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    curves = read_curves(snakemake.input.scores, plan)
    write_tables(build_curve_tables(curves, plan), list(snakemake.output))
