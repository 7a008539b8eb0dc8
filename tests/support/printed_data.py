"""Accuracies of ours for benchmarks that the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from support.report_data import make_plan
from support.score_data import as_frame

from cdspp.analysis.summary import Summary, summarise


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
