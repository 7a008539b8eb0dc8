"""Accuracies and seconds written by hand for tests, and curves of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from support.report_data import make_plan, score_rows, scores_frame

from cdspp.analysis.fit_records import RESULT_COLUMNS
from cdspp.analysis.summary import Summary, summarise
from cdspp.study.plan import BenchmarkPlan

NAN = float("nan")
TASKS = ("amazon_caltech", "amazon_dslr")  # of curves
# By setting and method, then by task: one number per trial, NaN if it failed.
Cells = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
# The trials that collapsed, likewise.
TrialSets = Mapping[tuple[str, str], Mapping[str, Sequence[int]]]


def as_frame(cells: Cells, collapsed: TrialSets | None = None) -> pd.DataFrame:
    """Arrange accuracies as the rows of a score file, one iteration each."""
    rows = []
    for setting, task, method, trial, status, value in _rows(cells):
        low = trial in (collapsed or {}).get((setting, method), {}).get(task, ())
        rows.append((setting, task, method, trial, 1, status, low, 99, *[value] * 3))
    return scores_frame(rows)


def as_results(cells: Cells) -> pd.DataFrame:
    """Arrange seconds like the records of fits; a failed trial took 99."""
    names = ("setting", "task", "method", "trial", "status", "cpu_seconds")
    frame = pd.DataFrame(_rows(cells), columns=names).fillna({"cpu_seconds": 99.0})
    return frame.assign(benchmark="digits").reindex(columns=list(RESULT_COLUMNS))


def _rows(cells: Cells) -> Iterator[tuple[Any, ...]]:
    for (setting, method), by_task in cells.items():
        for task, values in by_task.items():
            for trial, value in enumerate(values, start=1):
                status = "failed" if np.isnan(value) else "ok"
                yield setting, task, method, trial, status, value


def summary_of(
    printed: str | None,
    accuracies: Mapping[str, Mapping[str, Sequence[float]]],
    **options: Any,
) -> Summary:
    """Summarise accuracies by method and task as those of a printed benchmark."""
    values = [pair for each in accuracies.values() for pair in each.items()]
    trials = max(len(numbers) for _, numbers in values)
    usual = {"tasks": [*dict(values)], "trials": trials, "states": ()}
    options = {**usual, "methods": ("svm-t", "cdspp"), **options}
    frame = as_frame({("main", name): each for name, each in accuracies.items()})
    return summarise(frame, make_plan(paper={"printed": printed}, **options))


def cell_of(cells: pd.DataFrame, *wanted: str) -> Any:
    columns = cells[["benchmark", "method", "task"]]
    (cell,) = cells[(columns == list(wanted)).all(axis=1)].itertuples()
    return cell


def curve_entry(identifier: str = "labels", **changes: Any) -> dict[str, Any]:
    entry = {"id": identifier, "parameter": "labels", "values": [1, 3, 9]}
    return entry | {"methods": ["svm-t", "cdspp"], "trials": 3} | changes


def curve_plan(*curves: dict[str, Any], **options: Any) -> BenchmarkPlan:
    """Build a plan with some curves over the methods that they name."""
    named = dict.fromkeys(m for curve in curves for m in curve["methods"])
    usual = {"methods": tuple(named) or ("svm-t", "cdspp"), "tasks": TASKS}
    return make_plan(curves=curves, **{**usual, **options})


def curve_scores(
    plan: BenchmarkPlan, *, collapsed: tuple[Any, ...] = ("", 0)
) -> pd.DataFrame:
    """Add scores of every value to those of the main run: (value + trial) percent.

    CDSPP is ten points better. A method that `collapsed` at values is marked there, at
    1 percent. There are also rows of dropped values and of a fourth trial, which must
    not count.
    """
    name, *places = collapsed
    rows = [
        (entry.setting, task, row.method, trial, 1, "ok", low, 420, *[value] * 3)
        for curve in plan.curves
        for entry in curve.values
        if entry.setting != "main"
        for task in curve.tasks
        for row in curve.rows
        for trial in (1, 2, 3, 4)
        for low in [row.method == name and entry.value in places]
        for better in [0.1 * (row.method == "cdspp")]
        for value in [0.01 if low else (entry.value + trial) / 100 + better]
    ]
    return pd.concat([score_rows(plan), scores_frame(rows)], ignore_index=True)
