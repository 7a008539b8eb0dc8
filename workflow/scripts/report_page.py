"""Write the report page."""

from cdspp.core.jobs import job, log_ready

with job(snakemake.log[0], snakemake.input):
    from cdspp.report.page.page import write_report
    from cdspp.study.model import RunDescription
    from cdspp.study.plan import BenchmarkPlan

    log_ready()
    records = set(snakemake.input.records)
    tables = [*snakemake.input.tables, *snakemake.input.timings]
    write_report(
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        tables=tables,
        figures=snakemake.input.figures,
        records=snakemake.input.records,
        files=[file for file in snakemake.input if file not in records],
        study=RunDescription(**snakemake.params.study),
        output=snakemake.output[0],
    )
