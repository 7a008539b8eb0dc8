"""Checks of claims on curves: accuracy against labels, or against an option."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cdspp.analysis import answers, verdicts
from cdspp.analysis.summary import CurveScores, Floats, value_text
from cdspp.analysis.verdicts import ZERO, PairedGain
from cdspp.core.names import LABELS
from cdspp.core.wording import counted, in_points
from cdspp.methods import method_class
from cdspp.paper.evidence import (
    TOLERANCE,
    Decision,
    Evidence,
    NotTestable,
    as_list,
    decide,
    decide_gains,
    find_row,
    signed_difference,
)
from cdspp.study.plan import METHOD, Row

CLASSES = "classes"  # a bound: the number of classes
OTHERS = "others"  # a comparator: the average of the other methods along a curve
_NAMES = {LABELS: "labels per class", "n_components": "d", "max_iter": "T"}
Bound = float | str


@dataclass(frozen=True, eq=False)
class _Course:
    """Averages over tasks along a curve, by value and trial, where all have both."""

    curve: CurveScores
    what: str  # the averaged quantity
    unit: str
    values: Floats
    averages: Floats

    @property
    def name(self) -> str:
        """Name of the varied quantity."""
        return _name_of(self.curve.plan.parameter)

    @property
    def trials(self) -> int:
        """Number of trials with every value."""
        return int(self.averages.shape[1])

    @property
    def size(self) -> str:
        """Number of averaged items."""
        return _size_text(self.curve, self.trials)

    def between(self, low: Bound, high: Bound) -> "_Course":
        """Return the part of the course between two values, of at least two."""
        low, high = (_number(self.curve, bound) for bound in (low, high))
        inside = (self.values >= low) & (self.values <= high)
        if inside.sum() < 2:
            found = counted(int(inside.sum()), "value")
            where = _range_text(low, high)
            raise NotTestable(f"the curve over {self.name} has {found}{where}")
        return replace(self, values=self.values[inside], averages=self.averages[inside])


def _name_of(parameter: str) -> str:
    return _NAMES.get(parameter, parameter.replace("_", " "))


def _size_text(curve: CurveScores, trials: int) -> str:
    return f"{counted(len(curve.plan.tasks), 'task')}, {counted(trials, 'trial')}"


def _number(curve: CurveScores, bound: Bound) -> float:
    return float(curve.plan.n_classes if bound == CLASSES else bound)


def _range_text(low: float, high: float) -> str:
    texts = [f" from {value_text(low)}"] * math.isfinite(low)
    texts += [f" to {value_text(high)}"] * math.isfinite(high)
    return "".join(texts)


def _find_curve(evidence: Evidence, parameter: str) -> CurveScores:
    curves = (curve for curve in evidence.curves if curve.plan.parameter == parameter)
    if (curve := next(curves, None)) is None:
        raise NotTestable(f"no curve over {_name_of(parameter)} in this study")
    return curve


def _find(curve: CurveScores, method: str) -> Row:
    return find_row(curve.plan.rows, method, "along that curve")


def _methods(curve: CurveScores, *apart: str) -> list[Row]:
    """Return the unshortened methods along a curve, except for those `apart`.

    A method without its source, such as target-only, is a control.
    """
    rows = (row for row in curve.plan.rows if row.kind == METHOD and not row.shortened)
    rows = (row for row in rows if not method_class(row.method).without_source_of)
    return [row for row in rows if row.key not in apart]


def _averages(curve: CurveScores, row: Row) -> Floats:
    """Return the average over tasks, by value and trial."""
    averages = curve.accuracy[curve.plan.rows.index(row)].mean(axis=0)
    return np.asarray(averages, dtype=np.float64)


def _other_methods(curve: CurveScores, method: Row) -> list[Row]:
    """Return the other methods of a method's block along a curve."""
    others = [
        row
        for row in _methods(curve, method.key)
        if row.supervised == method.supervised
    ]
    if not others:
        raise NotTestable(f"no other method than {method.display_name} has that curve")
    return others


def _course(curve: CurveScores, method: str, rival: str | None = None) -> _Course:
    """Return the course of a method, or of its gain over another, or over `OTHERS`."""
    row = _find(curve, method)
    averages, what, unit = _averages(curve, row), row.display_name, "%"
    if rival == OTHERS:
        others = [_averages(curve, other) for other in _other_methods(curve, row)]
        averages = averages - np.mean(others, axis=0)
        what = f"Gain of {what} over the average of {counted(len(others), 'other')}"
        unit = "points"
    elif rival is not None:
        other = _find(curve, rival)
        averages = averages - _averages(curve, other)
        what, unit = f"Gain of {what} over {other.display_name}", "points"
    return _complete(curve, what, unit, averages)


def _complete(curve: CurveScores, what: str, unit: str, averages: Floats) -> _Course:
    """Return the course of averages by value and trial that are complete."""
    present = np.isfinite(averages).any(axis=1)
    averages = averages[present][:, np.isfinite(averages[present]).all(axis=0)]
    if not averages.shape[1]:
        name = _name_of(curve.plan.parameter)
        raise NotTestable(f"no trial has every value of the curve over {name}")
    return _Course(curve, what, unit, np.array(curve.values)[present], averages)


def flat(
    evidence: Evidence,
    method: str,
    parameter: str,
    low: Bound = -math.inf,
    high: Bound = math.inf,
) -> Decision:
    """Check that accuracy hardly changes in a range."""
    course = _course(_find_curve(evidence, parameter), method).between(low, high)
    means = course.averages.mean(axis=1)
    least, most = float(means.min()), float(means.max())
    holds = most - least <= TOLERANCE + ZERO
    return Decision(
        decide(course.trials, holds=holds, opposite=not holds),
        f"{course.what} between {in_points(least)} and {in_points(most)} % for "
        f"{course.name} = {', '.join(map(value_text, course.values))}: "
        f"{in_points(most - least)} points apart, {course.size}.",
    )


def trend(
    evidence: Evidence,
    parameter: str,
    method: str | None = None,
    rival: str | None = None,
    rises: bool = True,
    low: Bound = -math.inf,
    high: Bound = math.inf,
    least: float = 0.0,
) -> Decision:
    """Check that an accuracy, or a gain, changes along a range of a curve.

    Without a method, the accuracy of all methods is claimed to change.
    """
    curve = _find_curve(evidence, parameter)
    methods = [row.key for row in _methods(curve)] if method is None else [method]
    courses = [_course(curve, key, rival).between(low, high) for key in methods]
    if not courses:
        raise NotTestable(f"no method has the curve over {_name_of(parameter)}")
    verdict = decide_gains([_change(course, rises) for course in courses], least)
    if len(courses) == 1:
        return Decision(verdict, _trend_text(courses[0], rises))
    changes = [verdicts.paired_gain(c.averages[-1], c.averages[0]) for c in courses]
    each = (
        f"{course.what} {signed_difference(change.gain)}"
        for course, change in zip(courses, changes, strict=True)
    )
    first = courses[0]
    ends = [value_text(value) for value in first.values[[0, -1]]]
    return Decision(
        verdict,
        f"Change from {first.name} = {' to '.join(ends)}: {', '.join(each)} points; "
        f"{first.size}.",
    )


def _change(course: _Course, rises: bool) -> PairedGain:
    """Return the change along a course in the claimed direction."""
    ends = course.averages[-1], course.averages[0]
    return verdicts.paired_gain(*(ends if rises else ends[::-1]))


def _trend_text(course: _Course, rises: bool) -> str:
    first, last = course.averages[0], course.averages[-1]
    change, sign = verdicts.paired_gain(last, first), 1 if rises else -1
    steps = sign * np.diff(course.averages.mean(axis=1))
    start, end = (f"{in_points(float(x.mean()))} {course.unit}" for x in (first, last))
    return (
        f"{course.what}: {start} at {course.name} = {value_text(course.values[0])}, "
        f"{end} at {value_text(course.values[-1])}; a change of "
        f"{answers.interval_text(change)}, as claimed in "
        f"{np.count_nonzero(steps > ZERO)} of {counted(len(steps), 'step')}, "
        f"{course.size}."
    )


def peak(
    evidence: Evidence, method: str, parameter: str, low: float, high: float
) -> Decision:
    """Check that the best value of a curve is in a range."""
    course = _course(_find_curve(evidence, parameter), method)
    inside = (course.values >= low) & (course.values <= high)
    if inside.all() or not inside.any():
        where = "outside" if inside.all() else "inside"
        fault = f"no value {where} the range{_range_text(low, high)}"
        raise NotTestable(f"the curve over {course.name} has {fault}")
    means = course.averages.mean(axis=1)
    parts = inside, ~inside
    ours, other = (int(np.where(part, means, -1).argmax()) for part in parts)
    gain = verdicts.paired_gain(course.averages[ours], course.averages[other])
    return Decision(
        decide_gains([gain]),
        f"{course.what}: best {_at(course, means, ours)}, and outside the range "
        f"{_at(course, means, other)}: a gain of {answers.interval_text(gain)}, "
        f"{course.size}.",
    )


def _at(course: _Course, means: Floats, place: int) -> str:
    value = value_text(course.values[place])
    return f"{in_points(float(means[place]))} % at {course.name} = {value}"


def along(
    evidence: Evidence,
    method: str | Sequence[str],
    parameter: str,
    rival: str | None = None,
    low: Bound = -math.inf,
    high: Bound = math.inf,
) -> Decision:
    """Check that methods beat a comparator, or all, at each value of a range."""
    curve = _find_curve(evidence, parameter)
    low, high = (_number(curve, bound) for bound in (low, high))
    gains, texts = [], []
    for key in as_list(method):
        row = _find(curve, key)
        others = [_find(curve, rival)] if rival else _other_methods(curve, row)
        for place, value in enumerate(curve.values):
            inside = low <= value <= high
            # A value that a task lacks has no average.
            if inside and (found := _least_lead(curve, row, others, place)):
                other, gain = found
                gains.append(gain)
                lead = f"{signed_difference(gain.gain)} over {other.display_name}"
                texts.append(f"{value_text(value)}: {row.display_name} {lead}")
    if not gains:
        where = _range_text(low, high)
        fault = f"has no value{where} with all tasks"
        raise NotTestable(f"the curve over {_name_of(parameter)} {fault}")
    trials = min(gain.trials for gain in gains)
    return Decision(
        decide_gains(gains),
        f"At {_name_of(parameter)} = {'; '.join(texts)} points; "
        f"{_size_text(curve, trials)}.",
    )


def _least_lead(
    curve: CurveScores, row: Row, others: Sequence[Row], place: int
) -> tuple[Row, PairedGain] | None:
    """Return the comparator with the highest mean at a value, and the gain over it.

    None if no trial has the value on all tasks.
    """
    ours = _averages(curve, row)[place]
    gains = {
        other.key: verdicts.paired_gain(ours, _averages(curve, other)[place])
        for other in others
    }
    complete = [other for other in others if gains[other.key].trials]
    if not complete:
        return None
    rival = min(complete, key=lambda other: gains[other.key].gain)
    return rival, gains[rival.key]


def spread(evidence: Evidence, parameter: str, rises: bool = True) -> Decision:
    """Check that methods differ more (or less) at the end of a curve."""
    curve = _find_curve(evidence, parameter)
    rows = [row for row in _methods(curve) if not row.supervised]
    if len(rows) < 3:
        raise NotTestable(f"fewer than three methods have the curve over {parameter}")
    sds = np.std([_averages(curve, row) for row in rows], axis=0, ddof=1)
    what = f"Standard deviation over {counted(len(rows), 'method')}"
    course = _complete(curve, what, "points", sds).between(-math.inf, math.inf)
    return Decision(decide_gains([_change(course, rises)]), _trend_text(course, rises))
