"""Score files whose every accuracy is written down in the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from support.report_data import make_plan, scores_frame

from cdspp.core.artifacts import SCORE_COLUMNS, write_rows
from cdspp.study.plan import BenchmarkPlan

__all__ = ["NAN", "as_frame", "gain_plan", "write_cells"]

NAN = float("nan")
# By setting and method, by task: an accuracy a trial; NaN for a failed one.
Cells = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
HISS = {"id": "hiss", "source": "noise", "methods": ["cdspp"]}


def gain_plan(
    *tasks: str, benchmark: str = "toy", trials: int = 3, **options: Any
) -> BenchmarkPlan:
    """Build a plan; the settings of changed sources are "placebo" and "hiss"."""
    return make_plan(
        benchmark=benchmark,
        title=benchmark.capitalize(),
        tasks=tasks,
        trials=trials,
        controls=("target-only", "placebo"),
        settings=[HISS],
        **{"methods": ("svm-t", "cdspp"), **options},
    )


def as_frame(cells: Cells) -> pd.DataFrame:
    """Arrange accuracies as the rows of a score file, one iteration each."""
    return scores_frame(
        [
            (setting, task, method, trial, 1, _status(value), 99, value, value)
            for (setting, method), by_task in cells.items()
            for task, values in by_task.items()
            for trial, value in enumerate(values, start=1)
        ]
    )


def _status(value: float) -> str:
    return "failed" if np.isnan(value) else "ok"


def write_cells(path: Path, cells: Cells) -> Path:
    """Write accuracies as a score file."""
    write_rows(path, SCORE_COLUMNS, as_frame(cells))
    return path
