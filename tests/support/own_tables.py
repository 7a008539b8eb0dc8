"""Tables as files, for tests of commands on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from support.toy_problem import toy_problem

NAMES = np.array(["ant", "bee", "cat", "dog"])
PROBLEM = toy_problem(spread=0.3)


def write_table(path: Path, columns: dict[str, Any]) -> str:
    """Write columns as CSV, and return the path."""
    lines = zip(*columns.values(), strict=True)
    rows = [",".join(columns), *(",".join(map(str, line)) for line in lines)]
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def write_problem(folder: Path) -> Path:
    """Write source.csv, target.csv with ids, and new.csv; return the folder."""
    labels = np.where(PROBLEM.unlabelled, "", NAMES[PROBLEM.truth])
    ids = [f"t{k}" for k in range(len(labels))]
    for name, X, more in (
        ("source", PROBLEM.source.X, {"label": NAMES[PROBLEM.source.y]}),
        ("target", PROBLEM.X, {"label": labels, "id": ids}),
        ("new", PROBLEM.X[::2], {}),
    ):
        table = pd.DataFrame(X).add_prefix("f").assign(**more)
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder
