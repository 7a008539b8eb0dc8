"""Write the report page."""

from cdspp.core.jobs import job
from cdspp.report.page.page import write_report

with job(snakemake.log[0]):
    write_report(
        layouts=snakemake.params.layouts,
        scores=snakemake.input.scores,
        tables=snakemake.input.tables,
        figures=snakemake.input.figures,
        fit_records=snakemake.input.records,
        features=snakemake.input.features,
        study=snakemake.params.study,
        output=snakemake.output[0],
    )
