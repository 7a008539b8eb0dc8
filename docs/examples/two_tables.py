"""Two tables of wines: may one label the other, and which labels does it give.

The wines are those that come with scikit-learn. One laboratory measured seven things in
half of them and knows each cultivar; another measured six other things in the other
half and knows the cultivar of four wines each. Writes CSV files into a folder, then
compares, fits and predicts by the commands of the shell:

    python docs/examples/two_tables.py wines
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_wine

N_LABELLED = 4  # wines of each cultivar whose label the second laboratory knows


def write_tables(folder: Path) -> pd.Series:
    """Write source.csv, target.csv, new.csv; return the cultivars of the last two."""
    wines = load_wine(as_frame=True)
    cultivar = wines.target.map(dict(enumerate(wines.target_names)))
    first, second = wines.data.iloc[:, :7], wines.data.iloc[:, 7:]
    ours, theirs = wines.data.index[::2], wines.data.index[1::2]
    first.loc[ours].assign(label=cultivar).to_csv(folder / "source.csv", index=False)

    known = cultivar.loc[theirs].groupby(cultivar).head(N_LABELLED)
    table = second.loc[theirs].assign(label=known).rename_axis("id")
    is_new = (table.index % 6 == 5) & table["label"].isna()
    table[~is_new].to_csv(folder / "target.csv")
    table[is_new].drop(columns="label").to_csv(folder / "new.csv")
    return cultivar.loc[theirs]


def shell(folder: Path, line: str) -> None:
    """Run a command in the folder, and show it with what it prints."""
    print(f"$ {line}")
    words = [sys.executable, "-m", *line.split()]
    done = subprocess.run(
        words, cwd=folder, check=True, text=True, stdout=subprocess.PIPE
    )
    print(done.stdout)


def accuracy(folder: Path, name: str, cultivar: pd.Series) -> float:
    """Return the share of right labels in a file of predictions."""
    found = pd.read_csv(folder / name, index_col="id")["predicted"]
    return float((found == cultivar.loc[found.index]).mean())


def main(folder: Path) -> None:
    """Run the example in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cultivar = write_tables(folder)
    for name in ("predictions.csv", "wines.npz", "more.csv"):  # of an earlier run
        (folder / name).unlink(missing_ok=True)
    both = "--source source.csv --target target.csv"
    shell(folder, f"cdspp compare {both}")
    fit = f"cdspp fit {both} --scale standardise"
    shell(folder, f"{fit} --output predictions.csv --model wines.npz")
    shell(folder, "cdspp predict --model wines.npz --target new.csv --output more.csv")
    for name in ("predictions.csv", "more.csv"):
        print(f"{name}: {100 * accuracy(folder, name, cultivar):.1f} % right")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "wines"))
