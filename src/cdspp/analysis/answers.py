"""Sentences on whether the source helped, from comparisons."""

import math
from collections import Counter
from typing import Any

import pandas as pd

from cdspp.analysis import source_help, transfer, verdicts
from cdspp.analysis.transfer import Transfer
from cdspp.core.names import AVERAGE, NO_SOURCE, SIZE_MATCHED, WITHOUT_SOURCE
from cdspp.core.wording import in_points, sentence

_OVER = {
    NO_SOURCE: "over no source it gains",
    SIZE_MATCHED: "over no source with matched class sizes",
}


def interval_text(gain: verdicts.PairedGain) -> str:
    """Return a gain, or a row of comparisons, in points with its interval."""
    if math.isnan(gain.low):
        return f"{in_points(gain.gain)} points"
    low, high = (in_points(value) for value in (gain.low, gain.high))
    return f"{in_points(gain.gain)} points (95 % interval {low} to {high})"


def gain_over(comparison: Any) -> str:
    """Return the gain of a row of comparisons in points, and over what it is."""
    return f"{in_points(comparison.gain, sign=True)} over {comparison.comparator_name}"


def verdict_of(comparisons: pd.DataFrame) -> Transfer:
    """Return the verdict on the average over tasks, or on the only one."""
    average = source_help.on_average(comparisons)
    if average.empty:
        return Transfer.INCONCLUSIVE
    return Transfer.of(average["verdict"].iloc[0])


def explanation(comparisons: pd.DataFrame) -> str:
    """Return why a verdict on one task or average is inconclusive, with its numbers.

    It is the margin of no effect, and empty for other verdicts.
    """
    first = comparisons.iloc[0]
    reason = str(first["reason"])
    strongest = comparisons[comparisons["comparator"] == first["strongest"]]
    if reason == transfer.NOT_DECIDED:
        others = strongest[~strongest["state"]]  # the baseline or target-only
        numbers = [*map(gain_over, others.itertuples())]
        numbers.append(verdicts.detectable_text(first["detectable"]))
        return f"{reason} ({'; '.join(numbers)})"
    if reason == transfer.DISAGREE:
        both = first["accuracy_verdict"], first["balanced_verdict"]
        return f"{reason} ({both[0]}, {both[1]})"
    if reason == transfer.NOT_SPECIFIC and len(strongest):
        return f"{reason} ({gain_over(next(strongest.itertuples()))})"
    return reason


def tally(comparisons: pd.DataFrame) -> Counter[str]:
    """Count the verdicts of one method over tasks, without the average."""
    tasks = comparisons[comparisons["task"] != AVERAGE].drop_duplicates("task")
    return Counter(tasks["verdict"])


def tally_texts(counts: Counter[str], form: str = "{0} {1}") -> list[str]:
    """Return the counted verdicts, in the order of their scale."""
    words = (each.word for each in Transfer if counts[each.word])
    return [form.format(counts[word], word) for word in words]


def reference_answer(comparisons: pd.DataFrame) -> str:
    """Return the answer for the reference by default, and the effect of selection."""
    default = source_help.of_reference(comparisons)
    selected = source_help.of_reference(comparisons, selected=True)
    if not comparisons["state"].any():
        return f"{sentence(Transfer.INCONCLUSIVE.word)}: {transfer.NOT_RUN}."
    if not default["state"].any():
        return ""
    answered = sentence(_answer(default, default))
    if selected.empty:
        return answered
    same = verdict_of(default) == verdict_of(selected)
    other = "the verdict is the same." if same else _answer(selected, default)
    return f"{answered} With hyper-parameters selected on the labelled rows, {other}"


def _answer(comparisons: pd.DataFrame, default: pd.DataFrame) -> str:
    average, counts = source_help.on_average(comparisons), tally(comparisons)
    text = verdict_of(average).on(default["display_name"].iloc[0])
    if why := explanation(average):
        text += f", {why}"
    text += f"{_numbers(average)}."
    if average["reason"].iloc[0] == transfer.DEGENERATE:
        text += " Centre or scale the features."
    if counts.total() < 2:
        return text
    tasks = ", ".join(tally_texts(counts, "{1} on {0}"))
    return f"on average over {counts.total()} tasks {text} Task by task: {tasks}."


def without_source(comparisons: pd.DataFrame) -> list[str]:
    """Return by method the part of its gain over the baseline that needs no source."""
    parts = []
    for group in source_help.by_default(comparisons):
        average = source_help.on_average(group)
        gains = gain_without_source(average[average["trials"] >= verdicts.MIN_TRIALS])
        if gains is not None:
            without, total = (in_points(gain, sign=True) for gain in gains)
            parts.append(f"{average['display_name'].iloc[0]} {without} of {total}")
    return parts


def gain_without_source(comparisons: pd.DataFrame) -> tuple[float, float] | None:
    """Return the gain over the baseline without a source and with it, if known.

    It is unknown if fits are degenerate.
    """
    others = ~comparisons["state"] & (
        comparisons["comparator"] != source_help.ALL_COLUMNS
    )
    over_baseline = comparisons[others]["gain"].tolist()
    over_none = comparisons[comparisons["comparator"] == NO_SOURCE]["gain"].tolist()
    degenerate = (comparisons["reason"] == transfer.DEGENERATE).any()
    if degenerate or not over_baseline or not over_none:
        return None
    return over_baseline[0] - over_none[0], over_baseline[0]


def _numbers(average: pd.DataFrame) -> str:
    """Return the gains over no source, and over the strongest comparator."""
    first, rows = average.iloc[0], {row.comparator: row for row in average.itertuples()}
    if math.isnan(first["p_helps"]):
        return ""
    strongest = str(first["strongest"])
    if first["reason"] == transfer.DISAGREE:
        comparator = rows.get(NO_SOURCE) or rows[strongest]
        name = comparator.comparator_name
        gains = (comparator.gain, comparator.balanced_gain)
        plain, balanced = (in_points(gain, sign=True) for gain in gains)
        text = f": {plain} points over {name} by accuracy"
        return f"{text}, {balanced} by balanced accuracy"
    parts = [
        f"{_OVER.get(state, f'over {rows[state].comparator_name}')} "
        f"{interval_text(rows[state])}"
        for state in dict.fromkeys((*WITHOUT_SOURCE, strongest))
        if state in rows
    ]
    return f": {', '.join(parts)}" if parts else ""
