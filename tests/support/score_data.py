"""Accuracies and seconds that are written down in the test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from support.report_data import make_plan, scores_frame

from cdspp.analysis.fit_records import OUTCOME_COLUMNS
from cdspp.analysis.summary import Summary, summarise

NAN = float("nan")
# By setting and method, by task: a number a trial; NaN for a failed one.
Cells = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
# The trials that collapsed, likewise.
Fallen = Mapping[tuple[str, str], Mapping[str, Sequence[int]]]


def as_frame(cells: Cells, collapsed: Fallen | None = None) -> pd.DataFrame:
    """Arrange accuracies as the rows of a score file, one iteration each."""
    fallen = collapsed or {}
    rows = [
        (setting, task, method, trial, 1, status, low, 99, *[value] * 3)
        for setting, task, method, trial, status, value in _rows(cells)
        for low in [trial in fallen.get((setting, method), {}).get(task, ())]
    ]
    return scores_frame(rows)


def as_outcomes(cells: Cells) -> pd.DataFrame:
    """Arrange seconds as the records of fits give them; a failed trial took 99."""
    names = ("setting", "task", "method", "trial", "status", "cpu_seconds")
    frame = pd.DataFrame(_rows(cells), columns=names).fillna({"cpu_seconds": 99.0})
    return frame.assign(benchmark="digits").reindex(columns=list(OUTCOME_COLUMNS))


def _rows(cells: Cells) -> Iterator[tuple[Any, ...]]:
    """Yield setting, task, method, trial, status and value."""
    for (setting, method), by_task in cells.items():
        for task, values in by_task.items():
            for trial, value in enumerate(values, start=1):
                status = "failed" if np.isnan(value) else "ok"
                yield setting, task, method, trial, status, value


def summary_of(
    name: str | None,
    accuracies: Mapping[str, Mapping[str, Sequence[float]]],
    **options: Any,
) -> Summary:
    """Summarise accuracies by method and task as those of a printed benchmark."""
    usual = {
        "tasks": list(
            dict.fromkeys(task for given in accuracies.values() for task in given)
        ),
        "trials": max(len(v) for given in accuracies.values() for v in given.values()),
        "methods": ("svm-t", "cdspp"),
        "states": (),
    }
    cells = {("main", method): given for method, given in accuracies.items()}
    return summarise(
        as_frame(cells), make_plan(paper={"printed": name}, **{**usual, **options})
    )


def cell_of(cells: pd.DataFrame, *wanted: str) -> Any:
    """Return the row of a benchmark, method and task."""
    columns = cells[["benchmark", "method", "task"]]
    (found,) = cells[(columns == list(wanted)).all(axis=1)].itertuples()
    return found
