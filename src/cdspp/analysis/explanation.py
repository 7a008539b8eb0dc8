r"""Tests of a source on held-out rows: gains over every control.

Each labelled row is held out several times, its differences between two methods are
averaged, and Student's t tests the means of the rows, because repeats are not new data.
A method *wins* if it is better with the source than in every other source state **and**
than every method without a source: the largest one-sided p value counts, after Holm's
correction over the methods with a source.

The best of several estimates is biased upwards. The gain of a winner is therefore
shrunk: with a standard error `e`, it is the posterior mean under gains of N(0, s²),

.. math:: \hat g \; s^2 / (s^2 + e^2), \qquad s = 7 \text{ points},

which averages near the truth on planted problems (`python -m benchmarks verdicts`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from cdspp.analysis import verdicts
from cdspp.analysis.answers import interval_text
from cdspp.analysis.hold_outs import Fit
from cdspp.analysis.summary import MOST_COLLAPSED, Floats, mean_sd
from cdspp.analysis.verdicts import PairedGain, Verdict
from cdspp.core.names import ALONE, REAL
from cdspp.core.wording import counted, in_points
from cdspp.methods import method_class
from cdspp.methods.base import Int

USE, NO_SOURCE_BETTER, CANNOT_TELL = "use", "train on the target alone", "cannot tell"
BEST_NO_SOURCE = "best without a source"  # the comparator next to the source states
PRIOR_SD = 0.07  # of true gains, so that shrunken gains average near the truth
_GAIN_COLUMNS = ("gain", "low", "high", "p_above", "p_below")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The tests of every method against its controls, and what they show.

    Attributes
    ----------
    gains : DataFrame
        By method and state: the gain of the real source, with its 95 % interval. The
        state `BEST_NO_SOURCE` is the method without a source, named by `rival`, over
        which the gain is least certain.
    verdicts : DataFrame
        By method: accuracy with the source and without, the verdict over its own states
        after Holm's correction over methods, whether it `wins` over every method
        without a source as well (with `p_use`), whether it is `out`, and the minimum
        `detectable` gain at 80 % power.
    decision : str
        `USE`, `NO_SOURCE_BETTER` or `CANNOT_TELL`.
    method : str
        The method that the tests favour, with the source if the decision is `USE`;
        empty if all fits without a source have collapsed.
    gain : PairedGain or None
        Shrunken gain of `method` over the best method without a source, if the decision
        is `USE`.
    finding : str
        The result in words.
    tested, p_value : str, float
        The candidate chosen beforehand, and the largest p value of its gains over all
        methods without a source, by both measures.
    """

    gains: pd.DataFrame
    verdicts: pd.DataFrame
    decision: str
    method: str
    gain: PairedGain | None
    finding: str
    tested: str = ""
    p_value: float = math.nan

    @property
    def settled(self) -> bool:
        """True if the candidate chosen beforehand beats all without a source."""
        return self.p_value < verdicts.ALPHA


class GainByMeasure(NamedTuple):
    """A gain by both measures; they are equal if all classes have as many rows."""

    plain: PairedGain
    balanced: PairedGain


BothGains: TypeAlias = Mapping[str, Mapping[str, GainByMeasure]]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of held-out rows; `classes` are those of all labelled rows.

    `right` is by repeat and row: 1, 0, or NaN if a row is not held out or the method
    failed. `collapsed` is the share of fits that collapsed, diverged or failed.
    """

    classes: Int
    right: Mapping[Fit, Floats]
    collapsed: Mapping[Fit, float]
    bridge: Mapping[str, str]

    @cached_property
    def no_source(self) -> dict[str, Floats]:
        """Correctness by row of methods without source or bridge that mostly ran."""
        correctness = {}
        for fit, right in self.right.items():
            cls = method_class(fit.method)
            without_source = fit.state == (ALONE if cls.uses_source else REAL)
            # Without a source, a bridge joins the target to itself.
            usable = without_source and not (cls.bridges or self.unusable(fit))
            if usable and self.by_row(right)[0].size >= verdicts.MIN_TRIALS:
                correctness[fit.method] = right
        return correctness

    @cached_property
    def best_no_source(self) -> str:
        """The most accurate method without a source; empty if all are unusable."""
        means = {name: self.accuracy(right) for name, right in self.no_source.items()}
        return max(means, key=means.__getitem__, default="")

    def over_no_source(self, method: str) -> dict[str, GainByMeasure]:
        """Return the gains of a method with the source over others without one."""
        own_right = self.right[Fit(method)]
        others = {
            name: right for name, right in self.no_source.items() if name != method
        }
        return {name: self.gains(own_right, other) for name, other in others.items()}

    def unusable(self, fit: Fit) -> bool:
        """Return whether too many fits are degenerate or failed."""
        return self.collapsed[fit] > MOST_COLLAPSED

    def states(self, method: str) -> list[Fit]:
        """Return the fits of a method, the real source first."""
        return [fit for fit in self.right if fit.method == method]

    def gains(self, right: Floats, other: Floats) -> GainByMeasure:
        """Return the gain over another, by accuracy and by balanced accuracy."""
        by_row, classes = self.by_row(right - other)
        sizes = np.bincount(classes)
        weights = len(classes) / (np.count_nonzero(sizes) * sizes[classes])
        least = 1 / len(self.classes)
        plain = verdicts.gain_of(by_row, resolution=least)
        balanced = verdicts.gain_of(weights * by_row, resolution=least)
        return GainByMeasure(plain, balanced)

    def accuracy(self, right: Floats) -> float:
        """Return the mean over rows; NaN if a method failed throughout."""
        by_row, _ = self.by_row(right)
        return float(by_row.mean()) if by_row.size else math.nan

    def by_row(self, values: Floats) -> tuple[Floats, Int]:
        """Return means over the repeats that hold a row out, and the rows' classes."""
        tested = np.isfinite(values).any(axis=0)
        return np.nanmean(values[:, tested], axis=0), self.classes[tested]

    def accuracies(self) -> Iterator[dict[str, object]]:
        """Yield by fit the mean over rows, its interval, and the share of collapses."""
        for fit, right in self.right.items():
            repeats = right[np.isfinite(right).any(axis=1)]
            accuracy = self.gains(right, np.zeros_like(right)).plain
            yield {
                "method": fit.method,
                "display_name": method_class(fit.method).display_name,
                "state": fit.state,
                "mean": accuracy.gain,
                "sd": mean_sd(np.nanmean(repeats, axis=1))[1],
                "low": max(accuracy.low, 0.0),
                "high": min(accuracy.high, 1.0),
                "repeats": len(repeats),
                "collapsed": self.collapsed[fit],
            }


def explain(
    held_out: HeldOut, candidates: Sequence[str], margin: float, wanted: float
) -> Explanation:
    """Test held-out rows; gains within the margin, a fraction, count as equal.

    The first available of `candidates` is tested separately.
    """
    own, over_no_source, right = {}, {}, held_out.right
    methods = dict.fromkeys(fit.method for fit in right)
    for name in [name for name in methods if method_class(name).uses_source]:
        real, *fits = held_out.states(name)
        own[name] = {fit.state: held_out.gains(right[real], right[fit]) for fit in fits}
        over_no_source[name] = held_out.over_no_source(name)
    table = _verdicts(held_out, own, over_no_source, margin)
    gains = pd.DataFrame(_gains(own, over_no_source, margin))
    winners = table[table["wins"]]
    decision, method, gain = CANNOT_TELL, held_out.best_no_source, None
    if not winners.empty:
        decision = USE
        method = str(winners.loc[winners["accuracy"].idxmax(), "method"])
        best = held_out.no_source[held_out.best_no_source]
        gain = shrunken_gain(held_out.gains(right[Fit(method)], best).plain)
    elif table["out"].all():
        decision = NO_SOURCE_BETTER
    usable = (k for k in candidates if k in own and not held_out.unusable(Fit(k)))
    tested = next(usable, "")
    rivals = over_no_source.get(tested, {}).values()
    p_value = max((g.p_above for both in rivals for g in both), default=math.nan)
    if len(held_out.classes) < verdicts.MIN_TRIALS:
        p_value = math.nan
    tests = Explanation(gains, table, decision, method, gain, "", tested, p_value)
    finding = _decision_text(held_out, tests, wanted)
    excluded = table[table["verdict"] == verdicts.COLLAPSED]["display_name"]
    if len(excluded):
        names = ", ".join(excluded)
        finding += f" Excluded, because fits failed, collapsed or diverged: {names}."
    return replace(tests, finding=finding)


def shrunken_gain(gain: PairedGain) -> PairedGain:
    """Return the shrunken estimate of a gain chosen as the best of several.

    Examples
    --------
    >>> from cdspp.analysis.verdicts import PairedGain
    >>> round(shrunken_gain(PairedGain(0.1, 0.07, 0, 15, df=14)).gain, 3)
    0.05
    """
    share = PRIOR_SD**2 / (PRIOR_SD**2 + gain.error**2)
    return replace(gain, gain=share * gain.gain, error=share**0.5 * gain.error)


def _verdicts(
    held_out: HeldOut, by_state: BothGains, over_no_source: BothGains, margin: float
) -> pd.DataFrame:
    """Return verdicts of all methods together: Holm's correction covers all of them."""
    unusable = [any(map(held_out.unusable, held_out.states(name))) for name in by_state]
    every = {name: {**by_state[name], **over_no_source[name]} for name in by_state}
    decisions = [_by_measure(gains, margin, unusable) for gains in (by_state, every)]
    p_worse = []  # than any one method without a source
    for name in by_state:
        gains = over_no_source[name].values()
        worst = [max(g.p_below for g in both) for both in gains]
        p_values = [len(worst) * p for p in worst if not math.isnan(p)]
        p_worse.append(min([1.0, *p_values]))
    records = []
    rows = zip(by_state, unusable, *decisions, verdicts.holm(p_worse), strict=True)
    for name, degenerate, over_own, use, p_lost in rows:
        verdict = verdicts.joint_verdict(*(each.name for each in over_own))
        if degenerate:
            verdict = verdicts.COLLAPSED
        lost_to_one = verdict != verdicts.COLLAPSED and p_lost < verdicts.ALPHA
        records.append(
            {
                "method": name,
                "display_name": method_class(name).display_name,
                "accuracy": held_out.accuracy(held_out.right[Fit(name)]),
                "alone": held_out.accuracy(held_out.right[Fit(name, ALONE)]),
                "verdict": verdict,
                "p_helps": max(each.p_helps for each in over_own),
                "p_hurts": max(each.p_hurts for each in over_own),
                "hardest": over_own[0].hardest,
                "wins": all(each.name == verdicts.HELPS for each in use),
                "p_use": max(each.p_helps for each in use),
                "out": verdict in (verdicts.HURTS, verdicts.EQUAL) or lost_to_one,
                "detectable": max(each.detectable for each in use),
            }
        )
    return pd.DataFrame(records)


def _by_measure(
    gains: BothGains, margin: float, unusable: Sequence[bool]
) -> list[tuple[Verdict, ...]]:
    decisions = []
    for i in (0, 1):
        part = [{key: both[i] for key, both in each.items()} for each in gains.values()]
        decisions.append(verdicts.decide_all(part, margin=margin, collapsed=unusable))
    return list(zip(*decisions, strict=True))


def _gains(
    over_states: BothGains, over_no_source: BothGains, margin: float
) -> Iterator[dict[str, object]]:
    for method, states in over_states.items():
        entries = [(state, method, both.plain) for state, both in states.items()]
        rivals = {name: both.plain for name, both in over_no_source[method].items()}
        if rivals:
            hardest = max(rivals, key=lambda name: rivals[name].p_above)
            entries.append((BEST_NO_SOURCE, hardest, rivals[hardest]))
        for state, rival, gain in entries:
            yield {
                "method": method,
                "display_name": method_class(method).display_name,
                "state": state,
                "rival": rival,
                **{name: getattr(gain, name) for name in _GAIN_COLUMNS},
                "pair": verdicts.decide_pair(gain, margin),
            }


def _decision_text(held_out: HeldOut, tests: Explanation, wanted: float) -> str:
    if not tests.method:
        if len(held_out.classes) < verdicts.MIN_TRIALS:
            return f"Cannot tell: label at least {verdicts.MIN_TRIALS} rows."
        return "Cannot tell: all fits without a source failed, collapsed or diverged."
    name = method_class(tests.method).display_name
    if tests.gain is not None:
        best = method_class(held_out.best_no_source).display_name
        bridges = method_class(tests.method).bridges
        parts = [phrase for kind, phrase in held_out.bridge.items() if kind in bridges]
        through = f", through the {' and the '.join(parts)}," if parts else ""
        return (
            f"The source helps{through} with {name}: it gains "
            f"{interval_text(tests.gain)} over {best}, the best without a source, and "
            "it is better than in every other source state. (The gain is shrunk, "
            "because the best of several estimates is biased upwards.)"
        )
    names = tests.verdicts["display_name"]
    phrases = [f"{word} of {counted(len(names), 'method')}" for word in ("each", "any")]
    every, any_method = phrases if len(names) > 1 else [names.iloc[0]] * 2
    if tests.decision == NO_SOURCE_BETTER:
        return (
            f"The source hurts {every}, makes no difference to it, or leaves it behind "
            f"another method without a source, for instance {name}."
        )
    text = f"These rows do not show that the source helps {any_method}"
    return f"{text}{_power(held_out, tests, wanted)}."


def _power(held_out: HeldOut, tests: Explanation, wanted: float) -> str:
    least = float(tests.verdicts["detectable"].min())
    if math.isnan(least):
        return ""
    n_labelled = len(held_out.classes)
    limit = 1 - held_out.accuracy(held_out.no_source[held_out.best_no_source])
    best = method_class(held_out.best_no_source).display_name
    rows = f"{n_labelled} labelled rows"
    if limit * n_labelled < 1 - 1e-9:  # less than one row, but for rounding
        share = f"{in_points(1 - limit)} % of {rows}"
        return f"; {best} is right on {share}, which leaves no room for a gain"
    text = f"; {rows} detect a gain of {in_points(least)} points in 80 % of cases"
    goal = min(limit, wanted)
    needed = math.ceil(n_labelled * (least / goal) ** 2)
    if needed > n_labelled:
        text += f", and one of {in_points(goal)} takes about {needed}"
    return text
