"""Write the report page."""

from cdspp.core.jobs import job
from cdspp.report.page.page import write_report
from cdspp.study.model import RunDescription
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_report(
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        tables=snakemake.input.tables,
        figures=snakemake.input.figures,
        fit_records=snakemake.input.records,
        features=snakemake.input.features,
        study=RunDescription(**snakemake.params.study),
        output=snakemake.output[0],
    )
