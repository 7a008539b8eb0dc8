"""Write the table of what a benchmark holds."""

from cdspp.core.jobs import job
from cdspp.report.tables.contents import write_contents
from cdspp.study.plan import BenchmarkPlan

with job(snakemake.log[0]):
    write_contents(
        plan=BenchmarkPlan.from_dict(snakemake.params.plan),
        labels=snakemake.input.labels,
        features=snakemake.input.features,
        splits=snakemake.input.splits,
        outputs=list(snakemake.output),
    )
