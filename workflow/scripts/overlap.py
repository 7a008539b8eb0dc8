"""Write the table of samples that are on both sides of a task."""

from cdspp.analysis.splits import read_splits
from cdspp.core.jobs import job
from cdspp.report.tables.contents import build_overlap_table, count_overlap
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    overlap = count_overlap(read_splits(list(snakemake.input)), plan)
    write_tables([build_overlap_table(overlap, plan)], list(snakemake.output))
