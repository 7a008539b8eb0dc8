"""Make tables and figures of a benchmark, or over all, that are out of date."""

from cdspp.core.jobs import job, log_ready

with job(snakemake.log[0], snakemake.input) as digests:
    from cdspp.report.making import ItemFiles, make_items
    from cdspp.study.files import workflow_folder
    from cdspp.study.plan import BenchmarkPlan

    log_ready()
    make_items(
        groups=snakemake.params.groups,
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        files=ItemFiles(
            inputs={**snakemake.input},
            digests=digests,
            outputs=snakemake.output.shown,
            record=snakemake.output.record,
        ),
        resources=workflow_folder() / "resources",
    )
