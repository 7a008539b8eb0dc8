"""Score files whose every accuracy is written down in the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from support.report_data import METHODS, make_layout

from cdspp.core.artifacts import SCORE_COLUMNS, write_rows

__all__ = ["NAN", "as_columns", "gain_layout", "write_cells"]

NAN = float("nan")
# By setting and method, by task: an accuracy a trial; NaN for a failed one.
Cells = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]


def gain_layout(
    *tasks: str,
    benchmark: str = "toy",
    methods: Sequence[str] = ("svm-t", "cdspp"),
    placebos: bool = False,
    trials: int = 3,
) -> dict[str, Any]:
    """Build a layout; the settings of changed sources are "placebo" and "hiss"."""
    layout = make_layout(
        benchmark=benchmark,
        title=benchmark.capitalize(),
        tasks=tasks,
        methods=methods,
        controls=("target-only", "placebo"),
        trials=trials,
    )
    sources = {"placebo": "permuted-labels", "hiss": "noise"}
    layout["placebos"] = [
        {
            "key": f"cdspp, {setting}",
            "printed": f"{METHODS['cdspp'][0]}, {setting}",
            "setting": setting,
            "method": "cdspp",
            "source": source,
        }
        for setting, source in sources.items()
        if placebos
    ]
    return layout


def as_columns(cells: Cells) -> dict[str, np.ndarray]:
    """Arrange accuracies as the columns of a score file, one iteration each."""
    rows = [
        (setting, task, method, trial, 1, "failed" if np.isnan(value) else "ok", 99)
        + (value, value)
        for (setting, method), by_task in cells.items()
        for task, values in by_task.items()
        for trial, value in enumerate(values, start=1)
    ]
    columns = zip(*rows, strict=True)
    return {n: np.array(c) for n, c in zip(SCORE_COLUMNS, columns, strict=True)}


def write_cells(path: Path, cells: Cells) -> Path:
    """Write accuracies as a score file."""
    write_rows(path, SCORE_COLUMNS, as_columns(cells))
    return path
