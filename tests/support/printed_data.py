"""Scores of ours for benchmarks that the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from support.gain_data import as_frame
from support.report_data import make_plan

from cdspp.analysis.summary import Summary, summarise

__all__ = ["Accuracies", "cell_of", "summary_of"]

Accuracies = Mapping[tuple[str, str], Sequence[float]]


def summary_of(
    name: str | None, tasks: Sequence[str], accuracies: Accuracies, **options: Any
) -> Summary:
    """Summarise accuracies by (task, method) as those of a printed benchmark."""
    cells: dict[tuple[str, str], dict[str, Sequence[float]]] = {}
    for (task, method), values in accuracies.items():
        cells.setdefault(("main", method), {})[task] = values
    plan = make_plan(
        benchmark="ours",
        tasks=tasks,
        methods=("svm-t", "cdspp"),
        controls=(),
        printed=name,
        **options,
    )
    return summarise(as_frame(cells), plan)


def cell_of(cells: pd.DataFrame, *wanted: str) -> Any:
    """Return the row of a benchmark, method and task."""
    columns = cells[["benchmark", "method", "task"]]
    (found,) = cells[(columns == list(wanted)).all(axis=1)].itertuples()
    return found
