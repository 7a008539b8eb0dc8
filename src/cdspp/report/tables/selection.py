"""The table of selected hyper-parameters, beside defaults and the best in hindsight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from cdspp.analysis.selection import without_grid
from cdspp.analysis.verdicts import HELPS, HURTS
from cdspp.core.names import REAL
from cdspp.core.wording import DASH, STATE_TITLES, in_points
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.stages.selection import FOLDS
from cdspp.study.plan import BenchmarkPlan

__all__ = ["build_selection_table"]

_CAPTION = (
    "Accuracy in percent, averaged over tasks, on the trials that all forms have. "
    f"Selected: inside each trial and source state, by {FOLDS}-fold cross-validation "
    "on the labelled target rows; beside it how often each value was. Best in "
    "hindsight: the value with the highest test accuracy, which nobody can know "
    "beforehand; no verdict reads it."
)


def build_selection_table(found: pd.DataFrame, plans: Sequence[BenchmarkPlan]) -> Table:
    """Build the table ``selection``: methods that select, by source state.

    Parameters
    ----------
    found : DataFrame
        What `cdspp.analysis.selection.compare_selections` returned, of all benchmarks.
    plans : sequence of BenchmarkPlan
        The benchmarks.
    """
    kept = dict.fromkeys(name for plan in plans for name in without_grid(plan))
    others = f" With their defaults alone: {', '.join(kept)}." if kept else ""
    return Table(
        name="selection",
        title="Hyper-parameters: default, selected, best in hindsight",
        caption=_CAPTION + others,
        columns=(
            *("Method", "Source", "Default", "Selected", "Best in hindsight"),
            *("Values selected", "Verdict by default", "Verdict as selected"),
        ),
        lines=tuple(
            Line(tuple(_cells(entry)), str(entry.title)) for entry in found.itertuples()
        ),
        data=found,
        text_columns=2,
        headings=True,
        empty="No method has a grid of values to select of.",
    )


def _cells(entry: Any) -> list[Cell]:
    real = entry.state == REAL
    words = (entry.verdict, entry.selected_verdict) if real else ("", "")
    return [
        Cell(entry.display_name, name=True),
        Cell("real" if real else STATE_TITLES[entry.state]),
        _accuracy(entry.default),
        _accuracy(entry.selected),
        _accuracy(entry.hindsight, entry.hindsight_value),
        Cell(entry.chosen or DASH),
        *(Cell(word or DASH, bold=word in (HELPS, HURTS)) for word in words),
    ]


def _accuracy(value: float, note: str = "") -> Cell:
    if math.isnan(value):
        return Cell(DASH)
    return Cell(in_points(value), note=f"at {note}" if note else "", value=value)
