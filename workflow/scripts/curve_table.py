"""Write the table of a curve."""

from cdspp.core.jobs import job
from cdspp.report.tables.curves import write_curve_tables
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_curve_tables(
        scores=snakemake.input.scores,
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        outputs=list(snakemake.output),
    )
