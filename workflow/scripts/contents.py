"""Write the table of what a benchmark holds."""

from cdspp.core.jobs import job
from cdspp.report.tables.contents import build_contents_table, count_contents
from cdspp.report.tables.table import write_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0], snakemake.input):
    plan = BenchmarkPlan.from_dict(snakemake.params.plan)
    contents = count_contents(
        plan,
        snakemake.input.labels,
        snakemake.input.features,
        snakemake.input.splits,
    )
    write_tables([build_contents_table(contents, plan)], list(snakemake.output))
