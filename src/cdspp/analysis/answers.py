"""Whether the source helped, in words: from comparisons to sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

import pandas as pd

from cdspp.analysis.paired import ZERO
from cdspp.analysis.source_help import by_task, of_method, on_average
from cdspp.analysis.verdicts import (
    COLLAPSED,
    EQUAL,
    HELPS,
    HURTS,
    MIN_TRIALS,
    NOT_ASKED,
    STATEMENTS,
    TOO_FEW,
    UNDECIDED,
)
from cdspp.core.names import ALONE, AVERAGE, BASELINE, CLASS_NOISE
from cdspp.core.wording import counted, in_points, sentence

__all__ = [
    "Interval",
    "answer",
    "excludes_zero",
    "interval_text",
    "overall_answer",
    "tally",
    "verdict_of",
    "without_source",
]

_UNSURE = "whether it is better than noise with classes is open"
_SAID = {
    HELPS: "the source helps",
    HURTS: "the source hurts",
    EQUAL: "the source makes no difference",
    UNDECIDED: "the trials leave it undecided",
    TOO_FEW: "too few trials to tell",
    COLLAPSED: "no statement, since fits have collapsed: centre or scale the features",
    NOT_ASKED: "not asked",
}
_COUNTED = {
    HELPS: "helps on {}",
    HURTS: "hurts on {}",
    EQUAL: "equal on {}",
    UNDECIDED: "undecided on {}",
    TOO_FEW: "too few trials on {}",
    COLLAPSED: "collapsed fits on {}",
}


class Interval(Protocol):
    """A gain with its interval: a `PairedGain`, or a row of comparisons."""

    @property
    def gain(self) -> float:
        """Mean difference."""

    @property
    def low(self) -> float:
        """Lower end of its interval."""

    @property
    def high(self) -> float:
        """Upper end of its interval."""


def excludes_zero(gain: Interval) -> bool:
    """Whether the interval lies on one side of zero; False without an interval."""
    return bool(gain.low > ZERO or gain.high < -ZERO)


def interval_text(gain: Interval) -> str:
    """Write a gain in points, as in a sentence, with its interval if it has one."""
    if math.isnan(gain.low):
        return f"{in_points(gain.gain)} points"
    low, high = (in_points(value) for value in (gain.low, gain.high))
    return f"{in_points(gain.gain)} points (95 % interval {low} to {high})"


def verdict_of(comparisons: pd.DataFrame) -> str:
    """Return the verdict on the task, or the average, that comparisons are of."""
    return NOT_ASKED if comparisons.empty else str(comparisons["verdict"].iloc[0])


def tally(comparisons: pd.DataFrame) -> Counter[str]:
    """Count the verdicts of one method over tasks, the average left out."""
    tasks = comparisons[comparisons["task"] != AVERAGE].drop_duplicates("task")
    return Counter(tasks["verdict"])


def answer(comparisons: pd.DataFrame) -> str:
    """Answer the question for the reference on one benchmark, in a few sentences."""
    ours = of_method(comparisons)
    if not ours["state"].any():
        return "Not asked: no other source state was run."
    average = on_average(ours)
    several = len(by_task(ours)) > 1
    opening = f"{_over_tasks(tally(ours))} On average over tasks " if several else ""
    text = f"{opening}{_SAID[verdict_of(average)]}"
    return f"{sentence(text)}{_numbers(average)}."


def overall_answer(groups: Mapping[str, pd.DataFrame]) -> str:
    """Answer the question for all benchmarks in one sentence.

    Parameters
    ----------
    groups : mapping of str to DataFrame
        Comparisons by benchmark title.
    """
    parts = []
    for title, comparisons in groups.items():
        ours = of_method(comparisons)
        if not ours["state"].any():
            parts.append(f"not asked on {title}")
        else:
            parts.append(
                f"{title}: {_SAID[verdict_of(on_average(ours))]}{_apart(ours)}"
            )
    text = "; ".join(parts)
    return f"{sentence(text)}." if text else "Nothing was run yet."


def without_source(comparisons: pd.DataFrame) -> list[str]:
    """Say how much of each method's gain over the baseline needs no source.

    Returns
    -------
    list of str
        A part a method, such as ``CDSPP +12.7 of +12.9``: the gain over the baseline
        without a source, of the gain with it, in points, averaged over tasks. Methods
        with fewer than `MIN_TRIALS` trials of either are left out.
    """
    parts = []
    for _, group in comparisons.groupby("row", sort=False):
        average = on_average(group)
        known = average[average["trials"] >= MIN_TRIALS].set_index("rival")["gain"]
        if {BASELINE, ALONE} <= set(known.index):
            gains = (known[BASELINE] - known[ALONE], known[BASELINE])
            alone, whole = (in_points(gain, sign=True) for gain in gains)
            parts.append(f"{average['display_name'].iloc[0]} {alone} of {whole}")
    return parts


def _apart(comparisons: pd.DataFrame) -> str:
    """Say on how many tasks the source helps or hurts, unlike on average."""
    average, counts = verdict_of(on_average(comparisons)), tally(comparisons)
    told = [w for w in (HELPS, HURTS) if counts[w] and w != average]
    of = counted(counts.total(), "task")
    listed = " and ".join(_COUNTED[word].format(counts[word]) for word in told)
    return f", although it {listed} of {of}" if told else ""


def _over_tasks(counts: Mapping[str, int]) -> str:
    n_tasks = sum(counts.values())
    if len(counts) == 1:
        [word] = counts
        return f"The verdict is {_COUNTED[word].format(f'all {n_tasks} tasks')}."
    listed = ", ".join(_listed(counts))
    return f"Of {counted(n_tasks, 'task')}, the verdict is {listed}."


def _listed(counts: Mapping[str, int]) -> list[str]:
    """Return what is said of how many tasks, statements first."""
    order = [*STATEMENTS, TOO_FEW, COLLAPSED]
    return [
        _COUNTED[word].format(counts[word]) for word in order if counts.get(word, 0)
    ]


def _numbers(average: pd.DataFrame) -> str:
    """Return the gain over no source, and over the state that is hardest to beat."""
    rows = {comparison.rival: comparison for comparison in average.itertuples()}
    alone, hardest = rows.get(ALONE), rows.get(average["hardest"].iloc[0])
    if verdict_of(average) not in STATEMENTS:
        return ""
    parts: list[str] = []
    if alone is not None:
        parts.append(f"over no source it gains {interval_text(alone)}")
    if hardest is not None and hardest is not alone:
        parts.append(f"over {hardest.rival} {interval_text(hardest)}")
    text = f": {', '.join(parts)}" if parts else ""
    return text + _missed(average) + _as_noise(rows)


def _missed(average: pd.DataFrame) -> str:
    """Say what the trials could have shown, where they show nothing."""
    if verdict_of(average) != UNDECIDED:
        return ""
    least = in_points(average["detectable"].iloc[0])
    return f"; a gain below {least} points would be missed"


def _as_noise(rows: Mapping[Any, Any]) -> str:
    """Say where the source is better than none, but not than noise with classes."""
    alone, noise = rows.get(ALONE), rows.get(CLASS_NOISE)
    if alone is None or noise is None or alone.pair != HELPS or noise.pair == HELPS:
        return ""
    level = noise.pair in (EQUAL, HURTS)
    other = "noise with classes does as well" if level else _UNSURE
    return f". It is better than no source, but {other}"
