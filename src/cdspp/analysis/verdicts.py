"""Did the source help? The rule, from paired gains to a verdict, and nothing else.

A method is run with the real source and with others in its place: its *source states*.
The gains of the real one over each, on paired trials, are judged by Student's t with
standard errors over trials and target rows (`cdspp.analysis.paired`):

* *helps*: better than every state, by the largest one-sided p value (5 %, Holm). A
  method that uses a bridge must beat the baseline and target-only as well.
* *hurts*: worse than both states without a source, likewise.
* *equal*: the 90 % intervals of the gains over both lie within the margin (two
  one-sided tests at 5 %), widened by what three test rows may hide.
* *undecided*: anything else, with the gain that a power of 80 % would have shown.

Holm's correction covers the tasks of a benchmark, and in a matrix the methods. Where
accuracy and balanced accuracy have different words, the verdict *depends on the
measure*. Too few trials have none, and neither have collapsed or diverged fits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from cdspp.analysis.paired import ZERO, PairedGain
from cdspp.core.names import WITHOUT_SOURCE

__all__ = [
    "ALPHA",
    "COLLAPSED",
    "DEPENDS",
    "EQUAL",
    "HELPS",
    "HURTS",
    "MIN_TRIALS",
    "NOT_ASKED",
    "RULE",
    "STATEMENTS",
    "TOO_FEW",
    "UNDECIDED",
    "Verdict",
    "agreed",
    "holm",
    "judge_pair",
    "judge_tasks",
]

Gains: TypeAlias = Mapping[str, PairedGain]  # of the real source, over each state

HELPS, HURTS, EQUAL, UNDECIDED = "helps", "hurts", "equal", "undecided"
DEPENDS = "depends on the measure"
STATEMENTS = (HELPS, HURTS, EQUAL, UNDECIDED, DEPENDS)
TOO_FEW, COLLAPSED, NOT_ASKED = "too few trials", "collapsed", "not asked"
MIN_TRIALS = 5
ALPHA = 0.05
POWER = 0.8  # with which a detectable gain would be called *helps*
RULE = (
    "The source helps where the method does better with it than in every other source "
    "state: the largest one-sided p value of Student's t is below 5 % after Holm's "
    "correction over the tasks of the benchmark. It hurts where the method does worse "
    "than without a source, whether the labelled target rows serve as they are or "
    "repeated to the source's class sizes. The two are equal where the 90 % intervals "
    "of the gain over both lie within the margin; otherwise the trials leave it "
    "undecided. Standard errors are for other labelled samples and other rows of this "
    "kind. Each word is asked of accuracy and of balanced accuracy; where the two "
    "differ, it depends on the measure. Through a bridge, shared columns or paired "
    "rows, it helps where the method also does better than the baseline and than the "
    "target alone, on all columns of the target."
)


@dataclass(frozen=True)
class Verdict:
    """The word on a task or an average, and the numbers behind it; p values are Holm's.

    The gain over the state `hardest` is least sure; `detectable` is the gain over every
    state that would be called *helps* with `POWER`.
    """

    word: str
    p_helps: float = math.nan
    p_hurts: float = math.nan
    hardest: str = ""
    detectable: float = math.nan


def judge_tasks(
    tasks: Sequence[Gains], *, margin: float, collapsed: Sequence[bool] = ()
) -> list[Verdict]:
    """Judge the tasks of a benchmark together; the margin is a fraction."""
    unusable = collapsed or [False] * len(tasks)
    reasons = [_silence(*pair) for pair in zip(tasks, unusable, strict=True)]
    asked = [task for task, word in zip(tasks, reasons, strict=True) if not word]
    helps = holm([max(gain.p_above for gain in task.values()) for task in asked])
    below = [[gain.p_below for gain in _without(task)] for task in asked]
    hurts = holm([max(values, default=1.0) for values in below])
    judged = zip(asked, helps, hurts, strict=True)
    found = (_verdict(*each, margin, len(asked)) for each in judged)
    return [Verdict(word) if word else next(found) for word in reasons]


def agreed(word: str, balanced: str) -> str:
    """Return the verdict from the words of both measures."""
    return word if word == balanced else DEPENDS


def judge_pair(gain: PairedGain, margin: float) -> str:
    """Judge one gain alone: `HELPS` is better than this state, `HURTS` worse."""
    if gain.trials < MIN_TRIALS:
        return TOO_FEW
    if gain.p_above < ALPHA:
        return HELPS
    if gain.p_below < ALPHA:
        return HURTS
    return EQUAL if _within(gain, margin) else UNDECIDED


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down procedure."""
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in corrected]


def _silence(task: Gains, collapsed: bool) -> str:
    """Return why nothing is said of a task; empty where something is."""
    if not task:
        return NOT_ASKED
    if min(gain.trials for gain in task.values()) < MIN_TRIALS:
        return TOO_FEW
    return COLLAPSED if collapsed else ""


def _without(task: Gains) -> list[PairedGain]:
    return [task[state] for state in WITHOUT_SOURCE if state in task]


def _verdict(
    task: Gains, p_helps: float, p_hurts: float, margin: float, n_tasks: int
) -> Verdict:
    hardest = max(task, key=lambda state: (task[state].p_above, -task[state].gain))
    detectable = max(
        (gain.quantile(1 - ALPHA / n_tasks) + gain.quantile(POWER)) * gain.error
        for gain in task.values()
    )
    without = _without(task)
    if p_helps < ALPHA:
        word = HELPS
    elif p_hurts < ALPHA:
        word = HURTS
    elif without and all(_within(gain, margin) for gain in without):
        word = EQUAL
    else:
        word = UNDECIDED
    return Verdict(word, p_helps, p_hurts, hardest, detectable)


def _within(gain: PairedGain, margin: float) -> bool:
    """Whether two one-sided tests at 5 % keep the gain within the margin.

    Rows that differ may be so rare that the test has none: of n rows without one, three
    in n may still be such rows (the rule of three), with a variance of 3 / n^2.
    """
    unseen = replace(gain, error=math.hypot(gain.error, 3**0.5 * gain.row))
    low, high = unseen.interval(1 - 2 * ALPHA)
    return -margin - ZERO < low and high < margin + ZERO
