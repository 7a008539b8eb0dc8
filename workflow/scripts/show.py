"""Write the tables or figures of one maker."""

from contextlib import nullcontext
from pathlib import Path

from cdspp.core.discovery import load_function
from cdspp.core.jobs import job
from cdspp.study.plan import BenchmarkPlan

write = load_function(snakemake.params.maker)
resources = Path(snakemake.scriptdir, "../../resources")
style = nullcontext()
if snakemake.params.style:  # of figures; tables need no matplotlib
    in_style = load_function("cdspp.report.figures.style:in_style")
    style = in_style(snakemake.params.style[0])

with job(snakemake.log[0], snakemake.input), style:
    write(
        plans=[BenchmarkPlan.from_dict(plan) for plan in snakemake.params.plans],
        outputs=list(snakemake.output),
        **{name: list(paths) for name, paths in snakemake.input.items()},
        **{name: resources / name for name in snakemake.params.resources},
    )
