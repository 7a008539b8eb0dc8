"""Kinds of checks on curves: flat within a range, rising or falling along all of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cdspp.analysis.answers import interval_text
from cdspp.analysis.curves import CurveScores, value_text
from cdspp.analysis.paired import ZERO
from cdspp.analysis.summary import Floats
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.names import LABELS
from cdspp.core.wording import counted, in_points
from cdspp.paper.claims.evidence import (
    Evidence,
    Judgement,
    NotTestable,
    find_row,
    judge,
    judge_gain,
    tested_gain,
)
from cdspp.study.plan import Row

__all__ = ["Flat", "Trend"]

_TOLERANCE = 0.01  # largest difference of means that counts as flat
_NAMES = {LABELS: "labels per class", "n_components": "d", "max_iter": "T"}


@dataclass(frozen=True, eq=False)
class _Course:
    """An average over tasks along a curve, at the values that all tasks have.

    `averages` are by value and trial, of the `trials` that every value has; `size` says
    on how many tasks and trials they rest.
    """

    what: str
    unit: str
    values: tuple[float, ...]
    averages: Floats
    trials: int
    size: str


@dataclass(frozen=True)
class Flat:
    """The accuracy hardly changes within a range of a parameter.

    As the lower end of the range, NaN stands for the number of classes.
    """

    method: str
    parameter: str
    low: float = math.nan
    high: float = math.inf
    rule: ClassVar[str] = (
        "Supported where the means within the range, over trials and tasks, differ by "
        f"at most {in_points(_TOLERANCE)} points, contrary where by more (at least "
        f"{MIN_TRIALS} trials)."
    )

    def __call__(self, evidence: Evidence) -> Judgement:
        """Take the difference between the highest and the lowest mean."""
        curve = _curve(evidence, self.parameter)
        course = _course(curve, self.method)
        low = curve.plan.n_classes if math.isnan(self.low) else self.low
        inside = [low <= value <= self.high for value in course.values]
        name = _name(self.parameter)
        if sum(inside) < 2:
            end = "" if math.isinf(self.high) else f" to {value_text(self.high)}"
            raise NotTestable(
                f"the curve over {name} has {counted(sum(inside), 'value')} from "
                f"{value_text(low)}{end}"
            )
        means = course.averages[inside].mean(axis=1)
        spread = float(means.max() - means.min())
        values, flat = np.array(course.values)[inside], spread <= _TOLERANCE + ZERO
        return Judgement(
            judge(course.trials, holds=flat, opposite=not flat),
            f"{course.what} between {in_points(float(means.min()))} and "
            f"{in_points(float(means.max()))} % for {name} = "
            f"{', '.join(map(value_text, values))}: {in_points(spread)} points apart, "
            f"{course.size}.",
        )


@dataclass(frozen=True)
class Trend:
    """An accuracy, or a gain over a rival, rises (or falls) with a parameter."""

    method: str
    parameter: str
    rival: str | None = None
    rises: bool = True
    rule: ClassVar[str] = (
        "Supported where the 95 % t interval over trials of the paired "
        "difference between the two ends of the curve, averaged over tasks, lies above "
        f"zero, contrary where it lies below (at least {MIN_TRIALS} trials)."
    )

    def __call__(self, evidence: Evidence) -> Judgement:
        """Compare the two ends of the curve."""
        curve, name = _curve(evidence, self.parameter), _name(self.parameter)
        course = _course(curve, self.method, self.rival)
        if len(course.values) < 2:
            raise NotTestable(f"the curve over {name} has fewer than two values")
        first, last = course.averages[0], course.averages[-1]
        claimed = tested_gain(last, first) if self.rises else tested_gain(first, last)
        sign = 1 if self.rises else -1
        steps = sign * np.diff(course.averages.mean(axis=1))
        ends = [
            f"{in_points(float(end.mean()))} {course.unit}" for end in (first, last)
        ]
        return Judgement(
            judge_gain(claimed),
            f"{course.what}: {ends[0]} at {name} = {value_text(course.values[0])}, "
            f"{ends[1]} at {value_text(course.values[-1])}; "
            f"a change of {interval_text(tested_gain(last, first))}, as claimed "
            f"in {np.count_nonzero(steps > ZERO)} of {counted(len(steps), 'step')}, "
            f"{course.size}.",
        )


def _curve(evidence: Evidence, parameter: str) -> CurveScores:
    for curve in evidence.curves:
        if curve.parameter == parameter:
            return curve
    raise NotTestable(f"no curve over {_name(parameter)} in this study")


def _course(curve: CurveScores, method: str, rival: str | None = None) -> _Course:
    row, averages = _averages(curve, method)
    what, unit = row.display_name, "%"
    if rival is not None:
        other, others = _averages(curve, rival)
        averages = averages - others
        what, unit = f"Gain of {what} over {other.display_name}", "points"
    known = np.flatnonzero(np.isfinite(averages).any(axis=1))
    averages = averages[known]
    averages = averages[:, np.isfinite(averages).all(axis=0)]
    if not (trials := int(averages.shape[1])):
        raise NotTestable(
            f"no trial has every value of the curve over {_name(curve.parameter)}"
        )
    values = tuple(curve.values[place] for place in known)
    size = f"{counted(len(curve.tasks), 'task')}, {counted(trials, 'trial')}"
    return _Course(what, unit, values, averages, trials, size)


def _averages(curve: CurveScores, method: str) -> tuple[Row, Floats]:
    """Return a row and its average over tasks, by value and trial."""
    row = find_row(curve.rows, method, "along that curve")
    return row, curve.accuracy[curve.rows.index(row)].mean(axis=0)


def _name(parameter: str) -> str:
    return _NAMES.get(parameter, parameter.replace("_", " "))
