"""From a study to a table in a paper.

A finished study provides its tables in LaTeX, and its results as data frames.

The script writes a study of two tables of wines, runs it with `cdspp run` up to the
tables that it needs, prints the table as LaTeX, and loads the results to draw what a
table cannot show: the individual trials. Given the folder of a finished study, it uses
that instead.

Picture: Accuracy over the trials, by method: median, quartiles and extremes.
"""

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from cdspp import load_results

STUDY = """\
study: wines
preset: quick
datasets: [{id: wines, tables: {lab: lab.csv, field: field.csv}}]
views: [{id: cells, extractor: table, scale: standardise}]
benchmarks:
  - id: wines
    title: Wines
    dataset: wines
    source_view: cells
    target_view: cells
    tasks: [lab_field]
    labels: {source: 20, target: 2}
methods: [{id: svm-t}, {id: dama-sup}, {id: cdspp}, {id: target-only}]
source_states: {states: [none, permuted-labels]}
"""


def run_study() -> str:
    """Write both tables and the study, run it, and return its folder."""
    wines = load_wine(as_frame=True)
    label = wines.target.map(dict(enumerate(wines.target_names)))
    for name, start, columns in (("lab", 0, slice(5, 13)), ("field", 1, slice(5))):
        rows = wines.data.iloc[start::2, columns].assign(label=label)
        rows.to_csv(f"{name}.csv", index=False)
    Path("wines.yaml").write_text(STUDY)
    tables = ["overview.tex", "source-help_wines.csv"]
    wanted = [f"results/wines/tables/{name}" for name in tables]
    command = [sys.executable, "-m", "cdspp", "run", "wines.yaml", "--", *wanted]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return "results/wines"


folder = Path(sys.argv[1] if len(sys.argv) > 1 else run_study())
print((folder / "tables/overview.tex").read_text())

scores = load_results(folder).scores.query("setting == 'main'")
last = scores.groupby(["method", "trial"])["accuracy"].last().unstack("method")
plt.style.use("cdspp.report.styles.two-columns")  # as the figures of a study
axes = (100 * last).boxplot(figsize=(7, 3.2), grid=False)
axes.set_ylabel("accuracy (%)")
plt.tight_layout()
plt.savefig("paper_table.png", dpi=120)
