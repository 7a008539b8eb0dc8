"""Did the source help? The rule, applied to a benchmark's scores, and its wording.

The source *helps* on a task where the 95 % interval of the paired gain of the
reference method over its strongest control lies above zero, and *hurts* where that of
the gain over the target alone lies below zero. Everything else is no evidence.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Protocol

import pandas as pd

from cdspp.analysis.resampling import paired_gain, paired_test
from cdspp.analysis.summary import Summary, mean_sd
from cdspp.core.artifacts import read_csv
from cdspp.core.names import AVERAGE, BASELINE, REFERENCE, TARGET_ONLY
from cdspp.core.wording import counted, in_points

__all__ = [
    "COMPARISON_COLUMNS",
    "RULE",
    "ZERO",
    "Interval",
    "answer",
    "by_task",
    "compare",
    "excludes_zero",
    "interval_text",
    "overall_answer",
    "read_comparisons",
    "strongest",
    "verdict",
]

RULE = (
    "The source is said to help on a task where the 95 % interval of the paired gain "
    "over the strongest control lies above zero, and to hurt where that of the gain "
    "over target-only lies below zero; otherwise there is no evidence."
)
# Differences of equal fractions may leave a trace of rounding.
ZERO = 1e-12
COMPARISON_COLUMNS = {
    "benchmark": "str",
    "title": "str",
    "task": "str",
    "reference": "str",
    "reference_mean": "float64",
    "rival_key": "str",
    "rival": "str",
    "control": "bool",
    "rival_mean": "float64",
    "gain": "float64",
    "low": "float64",
    "high": "float64",
    "p": "float64",
    "losses": "int64",
    "trials": "int64",
}


class Interval(Protocol):
    """A gain with its interval: a `PairedGain`, or a row of `compare`."""

    @property
    def gain(self) -> float:
        """Mean difference."""

    @property
    def low(self) -> float:
        """Lower end of its interval."""

    @property
    def high(self) -> float:
        """Upper end of its interval."""


def compare(summary: Summary) -> pd.DataFrame:
    """Compare the reference with the baseline and every control, task by task.

    Parameters
    ----------
    summary : Summary
        Scores of one benchmark.

    Returns
    -------
    DataFrame
        A row a task and rival, the average over tasks last (where there are several):
        mean accuracies, the paired gain of the reference with its 95 % interval, the
        p value of the sign-flip test (`cdspp.analysis.resampling.paired_test`), trials
        lost and shared. Empty without a reference or without rivals.
    """
    rows = summary.rows
    reference, baseline = summary.find(REFERENCE), summary.find(BASELINE)
    rivals = [] if baseline is None else [baseline]
    rivals += [i for i, row in enumerate(rows) if row.control]
    if reference is None:
        return pd.DataFrame(columns=list(COMPARISON_COLUMNS))
    tasks, values = summary.with_average(summary.accuracy)
    records = [
        {
            "benchmark": summary.plan.benchmark,
            "title": summary.plan.title,
            "task": task,
            "reference": rows[reference].display_name,
            "reference_mean": mean_sd(values[reference, place])[0],
            "rival_key": rows[rival].key,
            "rival": rows[rival].display_name,
            "control": rows[rival].control,
            "rival_mean": mean_sd(values[rival, place])[0],
            "p": paired_test(values[reference, place], values[rival, place]),
            **vars(paired_gain(values[reference, place], values[rival, place])),
        }
        for place, task in enumerate(tasks)
        for rival in rivals
    ]
    return pd.DataFrame(records, columns=list(COMPARISON_COLUMNS))


def read_comparisons(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the comparisons of a ``source-help_<benchmark>.csv``."""
    return read_csv(path, COMPARISON_COLUMNS)


def by_task(comparisons: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group comparisons by task, order kept."""
    return dict(iter(comparisons.groupby("task", sort=False)))


def strongest(comparisons: pd.DataFrame) -> pd.Series | None:
    """Return the comparison with the control that leaves the smallest gain, if any."""
    usable = comparisons[comparisons["control"] & (comparisons["trials"] > 1)]
    return None if usable.empty else usable.loc[usable["gain"].idxmin()]


def verdict(comparisons: pd.DataFrame) -> str:
    """Apply the rule to the comparisons of one task.

    Returns
    -------
    {'helps', 'hurts', 'open', 'unknown'}
        'open' is no evidence; 'unknown' means fewer than two trials to compare.
    """
    rival = strongest(comparisons)
    if rival is None:
        return "unknown"
    if rival.low > ZERO:
        return "helps"
    alone = comparisons[comparisons["rival_key"] == TARGET_ONLY]
    return "hurts" if (alone["high"] < -ZERO).any() else "open"


def excludes_zero(gain: Interval) -> bool:
    """Whether the interval lies on one side of zero; False without an interval."""
    return bool(gain.low > ZERO or gain.high < -ZERO)


def interval_text(gain: Interval) -> str:
    """Write a gain in points with its interval, as in a sentence."""
    low, high = (in_points(value) for value in (gain.low, gain.high))
    return f"{in_points(gain.gain)} points (95 % interval {low} to {high})"


def answer(comparisons: pd.DataFrame) -> str:
    """Answer the question for one benchmark, in one or two sentences."""
    if not comparisons["control"].any():
        return "Not asked: no control was run."
    groups = by_task(comparisons)
    average = groups.pop(AVERAGE, comparisons)
    found = [verdict(group) for group in groups.values()]
    rival = strongest(average)
    if rival is None:
        return f"{_finding(found)}."
    opening = "On average over tasks, the" if len(groups) > 1 else "The"
    return (
        f"{_finding(found)}. {opening} gain of {rival.reference} over {rival.rival}, "
        f"the strongest control, is {interval_text(rival)}."
    )


def overall_answer(groups: Mapping[str, pd.DataFrame]) -> str:
    """Answer the question for all benchmarks in one sentence.

    Parameters
    ----------
    groups : mapping of str to DataFrame
        Comparisons by benchmark title.
    """
    parts = []
    for title, comparisons in groups.items():
        tasks = by_task(comparisons)
        tasks.pop(AVERAGE, None)
        found = [verdict(group) for group in tasks.values()]
        where = f"{_share(found, 'helps')}{title}"
        if not comparisons["control"].any():
            parts.append(f"not asked on {title}")
        elif "helps" in found:
            parts.append(f"it helps on {where}")
        elif set(found) <= {"unknown"}:
            parts.append(f"too few trials on {title} so far")
        else:
            parts.append(f"no evidence that it helps on {title}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else "Nothing was run yet."


def _finding(found: Sequence[str]) -> str:
    helped, hurt = found.count("helps"), found.count("hurts")
    if set(found) <= {"unknown"}:
        return "Too few trials so far to tell"
    every = counted(len(found), "task")
    tasks = f" on {helped} of {every}" if len(found) > 1 else ""
    text = f"The source helps{tasks}" if helped else "No evidence that the source helps"
    if hurt:
        text += f"; it hurts on {hurt} of {every}"
    if missing := found.count("unknown"):
        text += f"; {missing} of {every} still without enough trials"
    return text


def _share(found: Sequence[str], kind: str) -> str:
    """Say on how many tasks, where there is more than one."""
    return f"{found.count(kind)} of {len(found)} tasks of " if len(found) > 1 else ""
