r"""From held-out rows to a decision whether to use the source.

Each labelled row is held out several times, its differences between two rivals are
averaged, and Student's t judges the means of the rows: more repeats are no new data. To
*use* the source, a method has to be better with it than in every other source state
**and** than every method without a source: the largest one-sided p value counts, after
Holm's correction over the methods with a source.

The best of several gains is too large by chance. The gain that is said is therefore
shrunk: with a standard error `e`, it is the posterior mean under gains of N(0, s²),

.. math:: \hat g \; s^2 / (s^2 + e^2), \qquad s = 7 \text{ points},

which averages near the truth on planted problems (`python -m benchmarks verdicts`).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from cdspp.analysis.summary import MOST_COLLAPSED, Floats
from cdspp.analysis.verdicts import (
    ALPHA,
    COLLAPSED,
    EQUAL,
    HELPS,
    HURTS,
    MIN_TRIALS,
    PairedGain,
    Verdict,
    agreed,
    gain_of,
    holm,
    judge_tasks,
)
from cdspp.core.names import ALONE, REAL
from cdspp.core.wording import aligned, in_points
from cdspp.methods import method_class
from cdspp.methods.base import Int

__all__ = [
    "ALONE_BETTER",
    "BEST_ALONE",
    "CANNOT_TELL",
    "USE",
    "Comparison",
    "Fit",
    "HoldOut",
    "Judged",
    "judge",
]

USE, ALONE_BETTER, CANNOT_TELL = "use", "train on the target alone", "cannot tell"
BEST_ALONE = "best without a source"  # the rival beside the source states
PRIOR_SD = 0.07  # of true gains: with it the gains that are said average near the truth


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The answer of `compare` and its numbers; printed, it fills one screen.

    Attributes
    ----------
    accuracies : DataFrame
        By method, source state and most labelled rows per class in the fit: mean
        accuracy on held-out rows with its 95 % interval, its deviation over `repeats`,
        and the share of fits that have `collapsed`, diverged or failed.
    gains : DataFrame
        By method and state: the gain of the real source, with its 95 % interval. The
        state `BEST_ALONE` is the method without a source, named by `rival`, over which
        the gain is least sure.
    verdicts : DataFrame
        By method: accuracy with the source and alone, the verdict over its own states
        after Holm's correction over methods, whether it `wins` over every method
        without a source as well (with `p_use`), whether it is `out`, and the
        `detectable` gain, which would be found with a power of 80 %.
    decision : str
        `USE`, `ALONE_BETTER` or `CANNOT_TELL`.
    method : str
        The method to use, with the source if the decision is `USE`; empty if all fits
        without a source have collapsed.
    gain : PairedGain or None
        Shrunken gain of `method` over the best method without a source, if the decision
        is `USE`.
    finding : str
        The answer in words.
    next_step : str
        What to type next: lines of Python, or a command.
    note : str
        Remarks on rows and fits; often empty.
    """

    accuracies: pd.DataFrame
    gains: pd.DataFrame
    verdicts: pd.DataFrame
    decision: str
    method: str
    gain: PairedGain | None
    finding: str
    next_step: str = ""
    note: str = ""

    @property
    def sentence(self) -> str:
        """The finding, and what to type next."""
        if "\n" not in self.next_step:
            return f"{self.finding} Next: `{self.next_step}`"
        return f"{self.finding} Next:\n{textwrap.indent(self.next_step, '    ')}"

    def __repr__(self) -> str:
        """Show decision, sentence and a small table."""
        grid = [["", "accuracy", "alone", "verdict"]]
        for row in self.verdicts.itertuples():
            means = [in_points(row.accuracy), in_points(row.alone)]
            grid.append([row.display_name, *means, row.verdict])
        own = set(self.verdicts["method"])
        for row in self.accuracies.drop_duplicates("method").itertuples():
            if row.method not in own:
                grid.append([row.display_name, "", in_points(row.mean), "no source"])
        lines = [f"Comparison: {self.decision}", *aligned(grid)[:16], self.sentence]
        return "\n".join([*lines, *filter(None, [self.note])])


class Both(NamedTuple):
    """A gain by both measures; equal where all classes have as many rows."""

    plain: PairedGain
    balanced: PairedGain


Gains: TypeAlias = Mapping[str, Mapping[str, Both]]


class Fit(NamedTuple):
    """What is fitted in each repeat, on so many labelled rows per class at most."""

    method: str
    state: str
    labels: int


@dataclass(frozen=True, eq=False)
class HoldOut:
    """Predictions of held-out rows; `classes` are those of all labelled rows.

    `least` and `labels` are the fewest and most of a class in a fit. `right` is by
    repeat and row: 1, 0, or NaN where a row is not held out or the method failed.
    """

    classes: Int
    least: int
    labels: int
    methods: Sequence[str]
    right: Mapping[Fit, Floats]
    collapsed: Mapping[Fit, float]
    bridge: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def asked(self) -> list[str]:
        """The methods that use a source."""
        return [name for name in self.methods if method_class(name).uses_source]

    @cached_property
    def alone(self) -> dict[str, Floats]:
        """Rows of methods without a source that mostly run, and none with a bridge."""
        found = {}
        for name in self.methods:
            fit = Fit(name, ALONE if name in self.asked else REAL, self.labels)
            # Without a source a bridge joins the target to itself.
            usable = not (method_class(name).bridges or self.unusable(fit))
            if usable and self.by_row(self.right[fit])[0].size >= MIN_TRIALS:
                found[name] = self.right[fit]
        return found

    def over(self, method: str, rivals: Mapping[str, Floats]) -> dict[str, Both]:
        """Return the gains of a method with source and all labels over others."""
        ours = self.right[Fit(method, REAL, self.labels)]
        return {name: self.gains(ours, rival) for name, rival in rivals.items()}

    def unusable(self, fit: Fit) -> bool:
        """Whether too many fits have collapsed or failed for a statement."""
        return self.collapsed[fit] > MOST_COLLAPSED

    def states(self, method: str) -> list[Fit]:
        """Return the fits of a method with all labels, the real source first."""
        return [f for f in self.right if (f.method, f.labels) == (method, self.labels)]

    def gains(self, right: Floats, rival: Floats) -> Both:
        """Return the gain over a rival, by accuracy and by balanced accuracy."""
        by_row, classes = self.by_row(right - rival)
        sizes = np.bincount(classes)
        weights = len(classes) / (np.count_nonzero(sizes) * sizes[classes])
        least = 1 / len(self.classes)
        plain = gain_of(by_row, resolution=least)
        return Both(plain, gain_of(weights * by_row, resolution=least))

    def accuracy(self, right: Floats) -> float:
        """Return the mean over rows; NaN where a method has failed throughout."""
        by_row, _ = self.by_row(right)
        return float(by_row.mean()) if by_row.size else math.nan

    def by_row(self, values: Floats) -> tuple[Floats, Int]:
        """Return means over the repeats that hold a row out, and the rows' classes."""
        ran = np.isfinite(values).any(axis=0)
        return np.nanmean(values[:, ran], axis=0), self.classes[ran]


class Judged(NamedTuple):
    """A decision and its gains; `best_alone` is empty where all have collapsed."""

    over_states: Gains
    over_alone: Gains
    verdicts: pd.DataFrame
    decision: str
    method: str
    best_alone: str
    gain: PairedGain | None


def judge(found: HoldOut, margin: float) -> Judged:
    """Judge held-out rows; gains within the margin, a share, count as equal."""
    own, rivals = {}, {}
    for name in found.asked:
        states = {fit.state: found.right[fit] for fit in found.states(name)[1:]}
        others = {key: right for key, right in found.alone.items() if key != name}
        own[name], rivals[name] = found.over(name, states), found.over(name, others)
    verdicts = _verdicts(found, own, rivals, margin)
    means = {name: found.accuracy(right) for name, right in found.alone.items()}
    best = max(means, key=means.__getitem__, default="")
    winners = verdicts[verdicts["wins"]]
    if winners.empty:
        decision = ALONE_BETTER if verdicts["out"].all() else CANNOT_TELL
        return Judged(own, rivals, verdicts, decision, best, best, None)
    method = str(winners.loc[winners["accuracy"].idxmax(), "method"])
    gain = shrunk(found.over(method, {best: found.alone[best]})[best].plain)
    return Judged(own, rivals, verdicts, USE, method, best, gain)


def shrunk(gain: PairedGain) -> PairedGain:
    """Return a gain that was chosen as the best of several, as it is on average.

    Examples
    --------
    >>> from cdspp.analysis.verdicts import PairedGain
    >>> round(shrunk(PairedGain(0.1, 0.07, 0, 15, df=14)).gain, 3)
    0.05
    """
    share = PRIOR_SD**2 / (PRIOR_SD**2 + gain.error**2)
    return replace(gain, gain=share * gain.gain, error=share**0.5 * gain.error)


def _verdicts(found: HoldOut, own: Gains, rivals: Gains, margin: float) -> pd.DataFrame:
    """Judge the methods together: Holm's correction covers all that were tried."""
    unusable = [any(map(found.unusable, found.states(name))) for name in own]
    every = {name: {**own[name], **rivals[name]} for name in own}
    judged = [_by_measure(gains, margin, unusable) for gains in (own, every)]
    lost = holm([_p_lost(rivals[name]) for name in own])
    records = []
    for name, fell, words, use, p_lost in zip(
        own, unusable, *judged, lost, strict=True
    ):
        word = COLLAPSED if fell else agreed(*(each.word for each in words))
        with_source, alone = (
            found.accuracy(found.right[Fit(name, state, found.labels)])
            for state in (REAL, ALONE)
        )
        lost_to_one = word != COLLAPSED and p_lost < ALPHA
        records.append(
            {
                "method": name,
                "display_name": method_class(name).display_name,
                "accuracy": with_source,
                "alone": alone,
                "verdict": word,
                "p_helps": max(each.p_helps for each in words),
                "p_hurts": max(each.p_hurts for each in words),
                "hardest": words[0].hardest,
                "wins": all(each.word == HELPS for each in use),
                "p_use": max(each.p_helps for each in use),
                "out": word in (HURTS, EQUAL) or lost_to_one,
                "detectable": max(each.detectable for each in use),
            }
        )
    return pd.DataFrame(records)


def _by_measure(
    gains: Gains, margin: float, unusable: Sequence[bool]
) -> list[tuple[Verdict, ...]]:
    measures = (
        [{key: both[at] for key, both in own.items()} for own in gains.values()]
        for at in (0, 1)
    )
    judged = (judge_tasks(each, margin=margin, collapsed=unusable) for each in measures)
    return list(zip(*judged, strict=True))


def _p_lost(rivals: Mapping[str, Both]) -> float:
    """Return the p value of being worse than some rival, whichever it is."""
    worst = [max(g.p_below for g in both) for both in rivals.values()]
    return min([1.0, *(len(worst) * p for p in worst if not math.isnan(p))])
