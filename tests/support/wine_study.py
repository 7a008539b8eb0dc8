"""A study of two tables with wines of scikit-learn: columns differ, classes do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.datasets import load_wine


def write_tables(lab: Path, field: Path) -> None:
    wines = load_wine(as_frame=True)
    kind = wines.target.map(dict(enumerate(["red", "rose", "white"])))
    for first, path in enumerate((lab, field)):
        columns = wines.data.columns[7 * first : 7 * first + 6]
        rows = wines.data[columns].assign(kind=kind).iloc[first::4]
        rows.to_csv(path, index=False)


def wine_study(lab: str = "lab.csv", field: str = "field.csv") -> dict[str, Any]:
    """Return what a study file of these tables has in place of the toy study's."""
    view = {"id": "cells", "extractor": "table", "scale": "standardise"}
    wines = {"id": "wines", "dataset": "wines", "tasks": ["lab_field"]}
    wines |= {"source_view": "cells", "target_view": "cells"}
    tables = {"id": "wines", "columns": {"label": "kind"}}
    return {
        "trials": 2,
        "datasets": [tables | {"tables": {"lab": lab, "field": field}}],
        "views": [view],
        "benchmarks": [wines | {"labels": {"source": 4, "target": 2}}],
        "methods": [{"id": "svm-t"}, {"id": "cdspp"}],
        "source_states": {"states": []},
        "curves": [],
        "deviations": [],
    }
