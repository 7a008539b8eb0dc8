"""Write the tables or figures of one maker."""

from cdspp.core.jobs import job, log_ready

# Records of fits have the paths of the fits, with another suffix.
inputs = {k: v for k, v in snakemake.input.items() if k != "beside"}

with job(snakemake.log[0], snakemake.input):
    from cdspp.core.discovery import load_function
    from cdspp.study.files import workflow_folder
    from cdspp.study.plan import BenchmarkPlan

    write = load_function(snakemake.params.maker)
    resources = workflow_folder() / "resources"
    in_style = load_function(snakemake.params.in_style)
    log_ready()
    with in_style(snakemake.params.style):
        write(
            plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
            outputs=list(snakemake.output),
            **{name: list(paths) for name, paths in inputs.items()},
            **{name: resources / name for name in snakemake.params.resources},
        )
