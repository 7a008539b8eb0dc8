"""Write the printed numbers beside the reproduced ones."""

from pathlib import Path

from cdspp.analysis.summary import read_summaries
from cdspp.core.jobs import job
from cdspp.paper.printed import (
    build_printed_counts,
    build_printed_table,
    compare_printed,
    read_printed,
)
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    paper = read_printed(Path(snakemake.scriptdir, "../../resources/paper"))
    cells = compare_printed(paper, read_summaries(snakemake.input.scores, plans))
    tables = [build_printed_counts(cells), build_printed_table(cells)]
    write_tables(tables, list(snakemake.output))
