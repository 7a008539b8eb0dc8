"""Accuracy against one value: labelled target samples, or an option of the methods.

Where the value is that of the main run, its scores are the main run's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cdspp.analysis.summary import MOST_COLLAPSED, Floats, last_scores, with_average
from cdspp.core.names import LABELS, MAIN
from cdspp.methods.bridge import PAIRS
from cdspp.study.plan import STATE, BenchmarkPlan, CurvePlan
from cdspp.study.settings import in_state

_TITLES = {
    LABELS: "labelled target samples per class",
    PAIRS: "paired rows without a label",
    "alpha": "weight of the regulariser, alpha",
    "n_components": "dimension of the subspace, d",
    "max_iter": "number of iterations, T",
}


@dataclass(frozen=True, eq=False)
class CurveScores:
    """Last accuracies by row, task, value and trial; NaN if missing or failed."""

    plan: CurvePlan
    accuracy: Floats
    collapsed: NDArray[np.bool_]

    @property
    def values(self) -> tuple[float, ...]:
        """The values, ascending."""
        return tuple(float(entry.value) for entry in self.plan.values)

    @property
    def in_states(self) -> bool:
        """True where methods run along it in other source states, too."""
        return any(row.kind == STATE for row in self.plan.rows)

    @property
    def main(self) -> float | None:
        """The value of the main run, where it is one of the values."""
        main = [float(e.value) for e in self.plan.values if e.setting == MAIN]
        return main[0] if main else None

    def with_average(self) -> tuple[tuple[str, ...], Floats]:
        """Return tasks and accuracy, the average appended where there are several."""
        return with_average(self.plan.tasks, self.accuracy)

    def unusable(self) -> NDArray[np.bool_]:
        """Return by row, task or average, and value if too many fits are degenerate."""
        fell, ran = self.collapsed.sum(axis=3), np.isfinite(self.accuracy).sum(axis=3)
        if len(self.plan.tasks) > 1:
            sums = (counts.sum(axis=1, keepdims=True) for counts in (fell, ran))
            fell, ran = map(np.hstack, zip((fell, ran), sums, strict=True))
        return np.asarray(fell > MOST_COLLAPSED * ran)


def arrange_curves(scores: pd.DataFrame, plan: BenchmarkPlan) -> list[CurveScores]:
    """Arrange a score file by the curves of a plan."""
    return [
        CurveScores(
            curve,
            _arrange(scores, curve, "accuracy"),
            _arrange(scores, curve, "collapsed") == 1.0,  # NaN is not
        )
        for curve in plan.curves
    ]


def _arrange(scores: pd.DataFrame, curve: CurvePlan, column: str) -> Floats:
    by_value = []
    for step in curve.values:
        rows = [replace(r, setting=in_state(step.setting, r.state)) for r in curve.rows]
        size = curve.n_trials
        found = last_scores(scores, rows, curve.tasks, size, column=column)
        found[:, [task not in step.tasks for task in curve.tasks]] = np.nan
        by_value.append(found)
    arranged = np.stack(by_value, axis=2)
    for row, of_row in zip(curve.rows, arranged, strict=True):
        of_row[..., row.n_trials :] = np.nan
    return arranged


def parameter_title(parameter: str) -> str:
    """Return the title of the value that varies along a curve."""
    return _TITLES.get(parameter, parameter.replace("_", " "))


def value_text(value: float) -> str:
    """Write a value as short as it goes."""
    return f"{value:g}"
