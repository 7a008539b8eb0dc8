"""From two messy files to labels, new rows and more labels, by the commands.

The rows are the biopsies that come with scikit-learn. A laboratory measured 20 things
in 200 of them and knows each diagnosis; a clinic measured 11 things in the others and
knows eight diagnoses of each kind. Both measured the radius, in different units. Dates,
sites and comments are invented, and one number in fifty is missing. The script writes
the files into a folder, runs the commands, and fills in the labels that they ask for:

    python docs/examples/two_tables.py biopsies
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

WIDTHS = 88, 100  # of a line of a command, and of its output
N_LABELLED = 8  # biopsies of each kind that have a label
BOTH = "--source lab.csv --target clinic.csv"
HOW = (
    "--id case --source-label diagnosis --target-label dx --categories one-hot "
    "--dates number --drop comment --impute --shared radius=radius*0.001"
)
KEPT = "--output predictions.csv --model model.npz"
NEW = "cdspp predict --model model.npz --target new.csv --impute --output more.csv"


def write_tables(folder: Path) -> pd.Series:
    """Write lab.csv, clinic.csv and new.csv; return the diagnoses of the last two."""
    cancer = load_breast_cancer(as_frame=True)
    diagnosis = cancer.target.map(dict(enumerate(cancer.target_names)))
    rows = cancer.data.rename(columns=lambda name: name.removeprefix("mean "))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))

    def part(places: np.ndarray, start: str) -> tuple[pd.DataFrame, pd.DatetimeIndex]:
        table = rows.loc[places].mask(rng.random((len(places), rows.shape[1])) < 0.02)
        days = pd.to_timedelta(rng.integers(0, 90, len(places)), "D")
        return table.rename_axis("case"), pd.Timestamp(start) + days

    lab, days = part(order[:200], "2024-03-01")
    lab = lab[[name for name in lab if not name.endswith("error")]]
    lab = lab.assign(received=days.strftime("%d.%m.%Y"))
    lab = lab.assign(site=rng.choice(["north", "south"], len(lab)), diagnosis=diagnosis)
    lab.to_csv(folder / "lab.csv", sep=";", decimal=",")

    clinic, days = part(order[200:], "2025-09-01")
    clinic = clinic[["radius", *(n for n in clinic if n.endswith("error"))]]
    smokes = rng.choice([True, False], len(clinic))
    boxes = [f"box {number}" for number in rng.permutation(len(clinic))]
    clinic = clinic.assign(seen=days, smoker=smokes, comment=boxes)
    clinic["radius"] *= 1000  # another unit
    clinic.tail(100).to_csv(folder / "new.csv")
    known = clinic.head(-100).index
    known = diagnosis[known].groupby(diagnosis[known]).head(N_LABELLED)
    clinic.head(-100).assign(dx=known).to_csv(folder / "clinic.csv")
    return diagnosis[clinic.index]


def shell(folder: Path, line: str, step: str = "", *, fails: bool = False) -> None:
    """Run a command in the folder, and show it with its output below a heading."""
    if step:
        print(f"# {step}")
    lines = textwrap.wrap(f"$ {line}", WIDTHS[0], break_on_hyphens=False)
    print(" \\\n    ".join(lines))
    words = [sys.executable, "-m", *shlex.split(line)]
    done = subprocess.run(words, cwd=folder, text=True, capture_output=True)
    if done.returncode and not fails:
        sys.exit(done.stderr)
    for text in (done.stdout or done.stderr).splitlines():
        cut = textwrap.wrap(
            text, WIDTHS[1], subsequent_indent="    ", break_on_hyphens=False
        )
        print("\n".join(cut))
    print()


def predict(folder: Path, diagnosis: pd.Series, more: str = "") -> None:
    """Label the new rows, and count the right labels."""
    shell(folder, f"{NEW}{more}")
    found = pd.read_csv(folder / "more.csv", index_col="id")["predicted"]
    right = sum(found == diagnosis[found.index])
    print(f"# {right} of {len(found)} new rows have the right label\n")


def main(folder: Path) -> None:
    """Run the example in a folder; files of an earlier run are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("predictions.csv", "model.npz", "more.csv", "rows.csv", "rows-2.csv"):
        (folder / name).unlink(missing_ok=True)
    diagnosis = write_tables(folder)
    compare, fit = f"cdspp compare {BOTH} {HOW}", f"cdspp fit {BOTH} {HOW}"
    shell(folder, f"cdspp compare {BOTH}", "Look at the files", fails=True)
    shell(folder, compare, "Compare")
    shell(folder, f"{fit} {KEPT}", "Fit, and label new rows")
    predict(folder, diagnosis)
    shell(folder, f"{compare} --rows-to-label rows.csv", "Rows to label")
    rows = pd.read_csv(folder / "rows.csv", dtype=str)
    print(rows.drop(columns="made_of").head(4).to_csv(index=False))
    rows["label"] = diagnosis[rows["id"].astype(int)].tolist()  # by hand
    rows.to_csv(folder / "rows.csv", index=False)
    shell(folder, f"{compare} --labelled rows.csv", "Labels for these rows")
    shell(folder, f"{fit} --labelled rows.csv {KEPT} --force", "Fit again")
    predict(folder, diagnosis, " --force")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "biopsies"))
