"""Write the table of selected hyper-parameters."""

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records
from cdspp.analysis.selection import compare_selections
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import read_scores
from cdspp.core.jobs import job
from cdspp.report.tables.selection import build_selection_table
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    plans = [BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans]
    outcomes = read_fit_records(snakemake.input.records).outcomes
    files = zip(snakemake.input.scores, plans, snakemake.input.comparisons, strict=True)
    found = [
        compare_selections(read_scores(scores), plan, read_comparisons(told), outcomes)
        for scores, plan, told in files
    ]
    table = build_selection_table(pd.concat(found, ignore_index=True), plans)
    write_tables([table], list(snakemake.output))
