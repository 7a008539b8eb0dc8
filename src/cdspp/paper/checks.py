"""Checks of claims on scores, curves and times, and on the source."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cdspp.analysis import answers, source_help, verdicts
from cdspp.analysis.source_help import Rival, SampleComparison
from cdspp.analysis.summary import (
    CurveScores,
    Floats,
    Summary,
    mean_sd,
    n_present,
    value_text,
)
from cdspp.analysis.verdicts import EQUAL, HELPS, HURTS, MIN_TRIALS, TOO_FEW, ZERO
from cdspp.core.names import ALONE, AVERAGE, LABELS, MAIN, REFERENCE, SELECTED
from cdspp.core.wording import counted, in_points
from cdspp.stages.score import SampleScores
from cdspp.study.plan import METHOD, BenchmarkPlan, Row

SUPPORTED, CONTRADICTED = "supported", "contradicted"
_TOLERANCE = 0.01  # largest difference of means that counts as flat
_NAMES = {LABELS: "labels per class", "n_components": "d", "max_iter": "T"}


class NotTestable(Exception):
    """A check lacks data; the message names them."""


class Decision(NamedTuple):
    """A verdict on a claim, and a sentence with its numbers."""

    verdict: str
    numbers: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores, curves and comparisons of one benchmark, optionally by target row."""

    summary: Summary
    curves: Sequence[CurveScores]
    comparisons: pd.DataFrame
    by_row: SampleScores | None = None

    @property
    def plan(self) -> BenchmarkPlan:
        """The plan of the benchmark."""
        return self.summary.plan

    @property
    def methods(self) -> list[Row]:
        """The rows of the main setting that take part in claims."""
        return [row for row in self.plan.main_rows if row.kind == METHOD]

    def tasks(self, row: Row) -> Floats:
        """Return the accuracies of a row, by task and trial."""
        place = [other.key for other in self.summary.rows].index(row.key)
        return np.asarray(self.summary.accuracy[place])

    def average(self, row: Row) -> Floats:
        """Return the average over tasks by trial, NaN if a task has no score."""
        return np.asarray(self.tasks(row).mean(axis=0))

    def gain(self, row: Row, rival: Row) -> verdicts.PairedGain:
        """Return the gain of a row over another one, averaged over tasks."""
        gain = verdicts.paired_gain(self.average(row), self.average(rival))
        if not gain.trials:
            raise NotTestable("no trial has all tasks")
        if self.by_row is None:
            return gain
        rows, tasks = (row, rival), self.summary.tasks
        strata = source_help.row_strata(self.by_row, rows, tasks, False)
        return verdicts.two_way_gain(strata)


@dataclass(frozen=True, eq=False)
class Times:
    """Seconds of the methods of all benchmarks (`measure_times`), for one of them."""

    plan: BenchmarkPlan
    seconds: pd.DataFrame


def _row(rows: Iterable[Row], key: str, where: str = "in this study") -> Row:
    """Return the row of a method that ran unshortened, as the study specifies."""
    row = next((row for row in rows if row.key == key), None)
    if row is None:
        raise NotTestable(f"{key} does not run {where}")
    if row.shortened:
        raise NotTestable(f"the runs of {row.display_name} were shortened")
    return row


def decide(trials: int, *, holds: bool, opposite: bool) -> str:
    """Return the verdict on a claim; if neither holds, the trials do not decide."""
    if trials < MIN_TRIALS or not (holds or opposite):
        return TOO_FEW
    return SUPPORTED if holds else CONTRADICTED


def decide_gain(gain: verdicts.PairedGain) -> str:
    """Return the verdict, by its interval, on a gain claimed to be positive."""
    return decide(gain.trials, holds=gain.low > ZERO, opposite=gain.high < -ZERO)


def superior(evidence: Evidence, method: str, rival: str) -> Decision:
    """Check that one method is better than another."""
    row, rival_row = (_row(evidence.methods, key) for key in (method, rival))
    values, others = evidence.average(row), evidence.average(rival_row)
    gain, shared = evidence.gain(row, rival_row), np.isfinite(values - others)
    gains = evidence.tasks(row) - evidence.tasks(rival_row)
    better = sum(mean_sd(task)[0] > 0 for task in gains)
    return Decision(
        decide_gain(gain),
        f"{row.display_name} {_percent(values[shared])}, {rival_row.display_name} "
        f"{_percent(others[shared])}: a gain of {answers.interval_text(gain)}, better "
        f"on {better} of {counted(len(gains), 'task')}, "
        f"{counted(gain.trials, 'trial')}.",
    )


def best(evidence: Evidence, method: str, apart: Sequence[str] = ()) -> Decision:
    """Check that a method is the best of its block, except for those `apart`."""
    ours = _row(evidence.methods, method)
    values, n_trials = evidence.average(ours), evidence.plan.n_trials
    if _missing_trials(ours, values, n_trials):
        raise NotTestable(f"{ours.display_name} lacks some trials")
    complete, left_out = [], []
    for row in evidence.methods:
        if row.key in (method, *apart) or row.supervised != ours.supervised:
            continue
        average = evidence.average(row)
        if lack := _missing_trials(row, average, n_trials):
            gain = verdicts.paired_gain(values, average).gain
            lead_text = "" if math.isnan(gain) else f", {in_points(gain, sign=True)}"
            left_out.append(f"{row.display_name} ({lack}{lead_text})")
        else:
            complete.append((row, average))
    if not complete:
        raise NotTestable(f"no other complete row next to {ours.display_name}")
    leader, rival = max(complete, key=lambda other: float(np.nanmean(other[1])))
    lead = evidence.gain(ours, leader)
    return Decision(
        decide_gain(lead),
        f"{ours.display_name} {_percent(values)}; best of "
        f"{counted(len(complete), 'other')} {leader.display_name}, "
        f"{_percent(rival)}: a gain of {answers.interval_text(lead)}, "
        f"{counted(lead.trials, 'trial')}.{_list_text('Left out', left_out)}",
    )


def _missing_trials(row: Row, average: Floats, n_asked: int) -> str:
    if row.shortened:
        return "shortened"
    n_trials = n_present(average)
    return f"{n_trials} of {n_asked} trials" if n_trials < n_asked else ""


def _percent(values: Floats) -> str:
    return f"{100 * float(np.nanmean(values)):.1f} %"


def flat(
    evidence: Evidence,
    method: str,
    parameter: str,
    low: float = math.nan,
    high: float = math.inf,
) -> Decision:
    """Check that accuracy hardly changes in a range; NaN is the number of classes."""
    course = _curve_means(evidence, parameter, method)
    low = course.curve.plan.n_classes if math.isnan(low) else low
    inside = [low <= value <= high for value in course.values]
    if sum(inside) < 2:
        end = "" if math.isinf(high) else f" to {value_text(high)}"
        raise NotTestable(
            f"the curve over {course.name} has {counted(sum(inside), 'value')} "
            f"from {value_text(low)}{end}"
        )
    means = course.averages[inside].mean(axis=1)
    least, most = float(means.min()), float(means.max())
    spread, values = most - least, np.array(course.values)[inside]
    holds = spread <= _TOLERANCE + ZERO
    return Decision(
        decide(course.averages.shape[1], holds=holds, opposite=not holds),
        f"{course.what} between {in_points(least)} and {in_points(most)} % for "
        f"{course.name} = {', '.join(map(value_text, values))}: {in_points(spread)} "
        f"points apart, {course.size}.",
    )


def trend(
    evidence: Evidence,
    method: str,
    parameter: str,
    rival: str | None = None,
    rises: bool = True,
) -> Decision:
    """Check that an accuracy, or a gain, rises (or falls) with a parameter."""
    course = _curve_means(evidence, parameter, method, rival)
    if len(course.values) < 2:
        raise NotTestable(f"the curve over {course.name} has fewer than two values")
    first, last, values = course.averages[0], course.averages[-1], course.values
    change, sign = verdicts.paired_gain(last, first), 1 if rises else -1
    claimed = change if rises else verdicts.paired_gain(first, last)
    steps = sign * np.diff(course.averages.mean(axis=1))
    low, high = (f"{in_points(float(x.mean()))} {course.unit}" for x in (first, last))
    return Decision(
        decide_gain(claimed),
        f"{course.what}: {low} at {course.name} = {value_text(values[0])}, {high} at "
        f"{value_text(values[-1])}; a change of {answers.interval_text(change)}, as "
        f"claimed in {np.count_nonzero(steps > ZERO)} of "
        f"{counted(len(steps), 'step')}, {course.size}.",
    )


class _CurveMeans(NamedTuple):
    """An average over tasks along a curve, by value and trial, if all have both."""

    curve: CurveScores
    name: str  # name of the varied quantity
    what: str  # the averaged quantity
    unit: str
    size: str  # number of averaged items
    values: list[float]
    averages: Floats


def _curve_means(
    evidence: Evidence, parameter: str, method: str, rival: str | None = None
) -> _CurveMeans:
    name = _NAMES.get(parameter, parameter.replace("_", " "))
    curves = (curve for curve in evidence.curves if curve.plan.parameter == parameter)
    if (curve := next(curves, None)) is None:
        raise NotTestable(f"no curve over {name} in this study")
    row, averages = _averages(curve, method)
    what, unit = row.display_name, "%"
    if rival is not None:
        other, others = _averages(curve, rival)
        averages = averages - others
        what, unit = f"Gain of {what} over {other.display_name}", "points"
    complete = np.flatnonzero(np.isfinite(averages).any(axis=1))
    averages = averages[complete][:, np.isfinite(averages[complete]).all(axis=0)]
    if not averages.shape[1]:
        raise NotTestable(f"no trial has every value of the curve over {name}")
    values = [curve.values[place] for place in complete]
    tasks, trials = len(curve.plan.tasks), averages.shape[1]
    size = f"{counted(tasks, 'task')}, {counted(trials, 'trial')}"
    return _CurveMeans(curve, name, what, unit, size, values, averages)


def _averages(curve: CurveScores, method: str) -> tuple[Row, Floats]:
    row = _row(curve.plan.rows, method, "along that curve")
    return row, curve.accuracy[curve.plan.rows.index(row)].mean(axis=0)


def cheapest(evidence: Times, method: str, rivals: Sequence[str]) -> Decision:
    """Check that a method takes less processor time than each of its rivals."""
    plan, seconds = evidence.plan, evidence.seconds.dropna(subset="seconds")
    times = seconds[seconds["benchmark"] == plan.benchmark].set_index("row")
    if method not in times.index or times.loc[method, "shortened"]:
        raise NotTestable(f"{method} was not timed on all tasks")
    own_time = times.loc[method]
    keys = {row.key for row in plan.main_rows if row.kind == METHOD} & {*times.index}
    timed = times.loc[[key for key in rivals if key in keys]]
    short = timed["shortened"].astype(bool)
    unshortened = timed[~short].sort_values("seconds", kind="stable")
    if unshortened.empty:
        raise NotTestable(f"no rival of {own_time.display_name} was timed on all tasks")
    cheaper = unshortened[unshortened["seconds"] <= own_time.seconds]
    shown = unshortened.iloc[[0, -1]].drop_duplicates() if cheaper.empty else cheaper
    deciding = unshortened.head(1) if cheaper.empty else cheaper
    trials = int(min(own_time.trials, deciding["trials"].max()))
    opening = "cheapest and most expensive" if cheaper.empty else "cheaper"
    return Decision(
        decide(trials, holds=cheaper.empty, opposite=not cheaper.empty),
        f"{own_time.display_name} {own_time.seconds:.3g} s; {opening} of "
        f"{counted(len(unshortened), 'rival')}: "
        f"{', '.join(_multiples(shown, own_time))}; {counted(trials, 'trial')}."
        f"{_list_text('Left out, shortened', _multiples(timed[short], own_time))}",
    )


def _multiples(times: pd.DataFrame, unit: Any) -> list[str]:
    return [
        f"{time.display_name} ({time.seconds / unit.seconds:.3g} ×)"
        for time in times.itertuples()
    ]


def _list_text(opening: str, parts: list[str]) -> str:
    return f" {opening}: {', '.join(parts)}." if parts else ""


def elsewhere(evidence: Evidence, where: str) -> Decision:
    """Refer to another place, because no number of a study tests the claim."""
    raise NotTestable(where)


def transfer(evidence: Evidence, method: str) -> Decision:
    """Check that the source helps a method, averaged over tasks."""
    rows = evidence.comparisons["row"].isin([method, f"{method}, {SELECTED}"])
    comparisons = evidence.comparisons.assign(role=np.where(rows, REFERENCE, ""))
    of_method = source_help.of_reference(comparisons)
    if not of_method["state"].any():
        raise NotTestable("no other source state was run")
    average = source_help.on_average(of_method)
    states = list(average[average["state"]].itertuples())
    text = answers.reference_answer(comparisons)
    verdict = answers.verdict_of(average)
    trials = min(state.trials for state in states)
    if not trials or verdict == verdicts.COLLAPSED:
        raise NotTestable(text.rstrip("."))
    if verdict == TOO_FEW:
        text += f" Gains over {_gains(states, 'rival_name')}."
    return Decision(
        decide(trials, holds=verdict == HELPS, opposite=verdict in (HURTS, EQUAL)),
        f"{text} {_trials(states)}.",
    )


def no_better(evidence: Evidence, state: str) -> Decision:
    """Check that no method does better with the real source than in one state."""
    every = _pairs(evidence.comparisons, state, least=1)
    if not every:
        raise NotTestable(f"no method has a trial in the state {state}")
    pairs = [pair for pair in every if pair.trials >= MIN_TRIALS]
    ahead = _gaining(pairs)
    level = [pair for pair in pairs if pair.pair in (EQUAL, HURTS)]
    text = f"gains with the real source over {state}: {_gains(every, 'display_name')}"
    if pairs and state != ALONE:
        text = _state_text(evidence.comparisons, pairs, state)
    elif pairs:
        gains = answers.without_source(evidence.comparisons)
        if not gains:
            raise NotTestable("the baseline does not run in this study")
        text = "part of the gain over SVM_t that needs no source: "
        text += ", ".join(gains)
    trials = min((pair.trials for pair in pairs), default=0)
    holds = not ahead and 2 * len(level) > len(pairs)
    return Decision(
        decide(trials, holds=holds, opposite=bool(ahead)),
        f"On {_trials(pairs or every)}, {text}.",
    )


def better_in_state(evidence: Evidence, state: str, rival: str) -> Decision:
    """Check that most methods do better in a state than in another, or than one."""
    summary, gains, collapsed = evidence.summary, {}, []
    places = {(row.setting, row.method): i for i, row in enumerate(summary.rows)}
    for place, row in enumerate(summary.rows):
        places.setdefault((ALONE, row.stands_for), place)
    task = AVERAGE if len(summary.tasks) > 1 else summary.tasks[0]
    for row in evidence.methods:
        index = places.get((state, row.method))
        rival_place = places.get((rival, row.method), places.get((MAIN, rival)))
        if index is None or rival_place is None:
            continue
        pair = SampleComparison(summary.rows[index], index, summary, evidence.by_row)
        other = Rival(rival, rival, True, rival_place)
        gain = pair.gain(other, task, "")
        if pair.collapsed(other, task):
            collapsed.append(row.display_name)
        elif gain.trials:
            gains[row.display_name] = gain
    if not gains:
        raise NotTestable(f"nothing ran in the state {state} to compare with {rival}")
    full = {k: gain for k, gain in gains.items() if gain.trials >= MIN_TRIALS} or gains
    values = list(full.values())
    decisions = [verdicts.decide_pair(g, evidence.plan.margin / 100) for g in values]
    ahead, level = _gaining(values), decisions.count(EQUAL) + decisions.count(HURTS)
    holds, opposite = 2 * len(ahead) > len(values), 2 * level > len(values)
    each = (f"{name} {in_points(g.gain, sign=True)}" for name, g in full.items())
    return Decision(
        decide(values[0].trials, holds=holds, opposite=opposite and not ahead),
        f"On {_trials(values)}, gains in the state {state} over {rival}: "
        f"{', '.join(each)}; significantly better: {len(ahead)} of {len(values)}"
        f"{'; collapsed: ' if collapsed else ''}{', '.join(collapsed)}.",
    )


def _pairs(comparisons: pd.DataFrame, rival: str, least: int = MIN_TRIALS) -> list[Any]:
    """Return every method against itself in one state, averaged over tasks."""
    return [
        pair
        for group in source_help.by_default(comparisons)
        for pair in source_help.on_average(group).itertuples()
        if pair.rival == rival and pair.trials >= least
        if pair.pair != verdicts.COLLAPSED
    ]


def _gaining(pairs: Sequence[Any]) -> list[Any]:
    """Return the pairs with a gain above zero after Holm's correction."""
    holm = verdicts.holm([pair.p_above for pair in pairs])
    return [pair for pair, p in zip(pairs, holm, strict=True) if p < verdicts.ALPHA]


def _state_text(comparisons: pd.DataFrame, pairs: Sequence[Any], state: str) -> str:
    ahead, over_none = _gaining(pairs), _pairs(comparisons, ALONE)
    names = f" ({_gains(ahead, 'display_name')})" if ahead else ""
    pair_verdicts = [pair.pair for pair in pairs]
    text = (
        f"of {counted(len(pairs), 'method')}, better with the real source: "
        f"{len(ahead)}{names}; equal: {pair_verdicts.count(EQUAL)}; "
        f"better with {state.replace('-', ' ')}: {pair_verdicts.count(HURTS)}"
    )
    if not over_none:
        return text
    better = f"{len(_gaining(over_none))} of {len(over_none)}"
    return f"{text}. Better with the real source than without any: {better}"


def _gains(pairs: Sequence[Any], name: str) -> str:
    texts = ((getattr(pair, name), in_points(pair.gain, sign=True)) for pair in pairs)
    return ", ".join(map(" ".join, texts))


def _trials(pairs: Sequence[Any]) -> str:
    least, most = (f(pair.trials for pair in pairs) for f in (min, max))
    return counted(most, "trial") if least == most else f"{least} to {most} trials"


class Check(NamedTuple):
    """The function that tests a claim on scores and curves, or on times."""

    apply: Callable[..., Decision]
    of_time: bool = False


# Names are those of the list of claims. The fields of their rules are below.
CHECKS = {
    "superior": Check(superior),
    "best": Check(best),
    "flat": Check(flat),
    "trend": Check(trend),
    "transfer": Check(transfer),
    "as-good": Check(no_better),
    "better-in-state": Check(better_in_state),
    "cheapest": Check(cheapest, of_time=True),
    "elsewhere": Check(elsewhere),
}
RULE_FIELDS = {"min_trials": str(MIN_TRIALS), "tolerance": in_points(_TOLERANCE)}
