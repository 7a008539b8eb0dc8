"""The resources that a study requests from a cluster.

Each job requests the memory and the minutes that it will need.

The cost model forecasts the resources of a fit before it runs, so that nobody has to
guess. The script shows the profile that submits the jobs, which also names partition
and account, and the largest request of a job with each method in the study of the
paper; quick methods share a job. With the plug-in `snakemake-executor-plugin-slurm`
installed, `snakemake --workflow-profile workflow/profiles/slurm --configfile mine.yaml`
submits all jobs of a study. A failed job is repeated once with twice the resources.

Picture: Largest request of one job with a method: minutes, and megabytes of memory.
"""

import matplotlib.pyplot as plt
import pandas as pd
import yaml

from cdspp.cli.study import read_study
from cdspp.methods import method_class
from cdspp.study.files import workflow_folder
from cdspp.study.fit_jobs import fit_request, fit_rules

profile = workflow_folder() / "workflow/profiles/slurm/config.yaml"
for option, value in yaml.safe_load(profile.read_text()).items():
    if option in ("executor", "jobs", "cores", "retries", "default-resources"):
        print(f"{option}: {value}")

study = read_study(["resources/studies/paper.yaml"])
rows = []
for group in fit_rules(study):
    for task in group.tasks:
        asked = fit_request(study, group, task, group.blocks[0])
        for method in group.methods:
            name = method_class(method).display_name
            rows.append((name, asked.minutes, asked.megabytes))
table = pd.DataFrame(rows, columns=["method", "minutes", "MB"])
table = table.groupby("method").max().sort_values("minutes")
print(table.to_string())

axes = table.plot.barh(
    subplots=True, layout=(1, 2), sharey=True, legend=False, logx=True, figsize=(7, 4.6)
)
axes[0, 0].set_ylabel("")
plt.tight_layout()
plt.savefig("cluster.png", dpi=120)
