"""Write the table of computation times."""

from pathlib import Path

from cdspp.analysis.fit_records import measure_times, read_fit_records
from cdspp.core.jobs import job
from cdspp.paper.printed import paper_times
from cdspp.report.tables.table import write_tables
from cdspp.report.tables.times import build_times_table
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    folder = Path(snakemake.scriptdir, "../../resources/paper")
    paper = paper_times(folder, plans)
    outcomes = read_fit_records(snakemake.input.records).outcomes
    times = measure_times(outcomes, plans, paper)
    write_tables([build_times_table(times)], list(snakemake.output))
