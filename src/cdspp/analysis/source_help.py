"""Did the source help? The rule, applied to a benchmark's scores, and its wording.

The source *helps* on a task where the 95 % interval of the paired gain of the
reference method over its strongest control lies above zero, and *hurts* where that of
the gain over the target alone lies below zero. Everything else is no evidence.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdspp.analysis.resampling import Gain, paired_gain, paired_test
from cdspp.analysis.summary import Summary, mean_sd
from cdspp.core.names import AVERAGE
from cdspp.core.wording import counted, in_points

__all__ = [
    "COMPARISON_FIELDS",
    "RULE",
    "ZERO",
    "Comparison",
    "answer",
    "by_task",
    "compare",
    "comparison_record",
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
COMPARISON_FIELDS = (
    "benchmark",
    "title",
    "task",
    "reference",
    "reference_mean",
    "rival_key",
    "rival",
    "control",
    "rival_mean",
    "gain",
    "low",
    "high",
    "p",
    "losses",
    "trials",
)
# Differences of equal fractions may leave a trace of rounding.
ZERO = 1e-12


@dataclass(frozen=True)
class Comparison:
    """The reference method against one rival on one task (or on their average).

    Attributes
    ----------
    benchmark, title, task : str
        Where; `task` is "average" for the average over tasks.
    reference, rival : str
        Both methods as printed.
    reference_mean, rival_mean : float
        Their mean accuracies.
    rival_key : str
        Identifier of the rival in the layout.
    control : bool
        Whether the rival is a control; otherwise it is the baseline.
    gain : Gain
        Of the reference over the rival, on equal splits.
    p : float
        Of the sign-flip test of that gain, see `cdspp.analysis.resampling.paired_test`.
    """

    benchmark: str
    title: str
    task: str
    reference: str
    reference_mean: float
    rival_key: str
    rival: str
    control: bool
    rival_mean: float
    gain: Gain
    p: float


def compare(summary: Summary) -> list[Comparison]:
    """Compare the reference with the baseline and every control, task by task.

    Parameters
    ----------
    summary : Summary
        Scores of one benchmark.

    Returns
    -------
    list of Comparison
        By task, the average last (where there are several tasks); empty without a
        reference or without rivals.
    """
    layout = summary.layout
    reference = summary.find(layout.get("reference"))
    baseline = summary.find(layout.get("baseline"))
    rivals = [baseline] if baseline is not None else []
    rivals += [i for i, row in enumerate(summary.rows) if row.control]
    if reference is None:
        return []
    values = summary.with_average(summary.accuracy)
    names = [*summary.tasks, AVERAGE][: values.shape[1]]
    return [
        Comparison(
            benchmark=str(layout.get("benchmark", "")),
            title=str(layout.get("title", layout.get("benchmark", ""))),
            task=name,
            reference=summary.rows[reference].display_name,
            reference_mean=mean_sd(values[reference, place])[0],
            rival_key=summary.rows[rival].key,
            rival=summary.rows[rival].display_name,
            control=summary.rows[rival].control,
            rival_mean=mean_sd(values[rival, place])[0],
            gain=paired_gain(values[reference, place], values[rival, place]),
            p=paired_test(values[reference, place], values[rival, place]),
        )
        for place, name in enumerate(names)
        for rival in rivals
        if rival != reference
    ]


def comparison_record(comparison: Comparison) -> dict[str, object]:
    """Flatten a comparison into the fields of `COMPARISON_FIELDS`."""
    record: dict[str, object] = dict(vars(comparison))
    gain: Gain = comparison.gain
    record.update(gain=gain.mean, low=gain.low, high=gain.high)
    record.update(losses=gain.losses, trials=gain.trials)
    return record


def read_comparisons(path: str | os.PathLike[str]) -> list[Comparison]:
    """Read the comparisons of a ``source-help_<benchmark>.csv``."""
    with Path(path).open(encoding="utf-8", newline="") as stream:
        return [_parse(record) for record in csv.DictReader(stream)]


def by_task(comparisons: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    """Group comparisons by task, order kept."""
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault(comparison.task, []).append(comparison)
    return groups


def strongest(comparisons: Iterable[Comparison]) -> Comparison | None:
    """Return the comparison with the control that leaves the smallest gain, if any."""
    usable = [c for c in comparisons if c.control and c.gain.trials > 1]
    return min(usable, key=lambda c: c.gain.mean, default=None)


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Apply the rule to the comparisons of one task.

    Returns
    -------
    {'helps', 'hurts', 'open', 'unknown'}
        'open' is no evidence; 'unknown' means fewer than two trials to compare.
    """
    rival = strongest(comparisons)
    if rival is None:
        return "unknown"
    if rival.gain.low > ZERO:
        return "helps"
    alone = [c.gain for c in comparisons if c.rival_key == "target-only"]
    return "hurts" if any(gain.high < -ZERO for gain in alone) else "open"


def excludes_zero(gain: Gain) -> bool:
    """Whether the interval lies on one side of zero; False without an interval."""
    return gain.low > ZERO or gain.high < -ZERO


def interval_text(gain: Gain) -> str:
    """Write a gain in points with its interval, as in a sentence."""
    low, high = (in_points(value) for value in (gain.low, gain.high))
    return f"{in_points(gain.mean)} points (95 % interval {low} to {high})"


def answer(comparisons: Sequence[Comparison]) -> str:
    """Answer the question for one benchmark, in one or two sentences."""
    if not any(c.control for c in comparisons):
        return "Not asked: no control was run."
    groups = by_task(comparisons)
    average = groups.pop(AVERAGE, None) or next(iter(groups.values()))
    found = [verdict(group) for group in groups.values()]
    rival = strongest(average)
    if rival is None:
        return f"{_finding(found)}."
    opening = "On average over tasks, the" if len(groups) > 1 else "The"
    return (
        f"{_finding(found)}. {opening} gain of {rival.reference} over {rival.rival}, "
        f"the strongest control, is {interval_text(rival.gain)}."
    )


def overall_answer(groups: Mapping[str, Sequence[Comparison]]) -> str:
    """Answer the question for all benchmarks in one sentence.

    Parameters
    ----------
    groups : mapping of str to sequence of Comparison
        Comparisons by benchmark title.
    """
    parts = []
    for title, comparisons in groups.items():
        tasks = by_task(comparisons)
        tasks.pop(AVERAGE, None)
        found = [verdict(group) for group in tasks.values()]
        where = f"{_share(found, 'helps')}{title}"
        if not any(c.control for c in comparisons):
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


def _parse(record: Mapping[str, str]) -> Comparison:
    def number(key: str) -> float:
        return float(record[key] or "nan")

    return Comparison(
        benchmark=record["benchmark"],
        title=record["title"],
        task=record["task"],
        reference=record["reference"],
        reference_mean=number("reference_mean"),
        rival_key=record["rival_key"],
        rival=record["rival"],
        control=record["control"] == "true",
        rival_mean=number("rival_mean"),
        gain=Gain(
            number("gain"),
            number("low"),
            number("high"),
            int(record["losses"]),
            int(record["trials"]),
        ),
        p=number("p"),
    )
