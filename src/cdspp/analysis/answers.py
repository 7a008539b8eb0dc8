"""Sentences on whether the source helped, from comparisons."""

import math
from collections import Counter
from typing import Any

import pandas as pd

from cdspp.analysis import source_help, verdicts
from cdspp.core.names import ALONE, AVERAGE, MATCHED
from cdspp.core.wording import in_points, sentence

_OVER = {
    ALONE: "over no source it gains",
    MATCHED: "over no source with matched class sizes",
}
_SENTENCES = {
    verdicts.HELPS: "the source helps {}",
    verdicts.HURTS: "the source hurts {}",
    verdicts.EQUAL: "the source makes no difference to {} beyond the margin",
    verdicts.UNDECIDED: "the trials leave open whether the source helps {}",
    verdicts.DEPENDS: "whether the source helps {} depends on the measure",
    verdicts.TOO_FEW: (
        f"there are too few trials (fewer than {verdicts.MIN_TRIALS}) to say whether "
        "the source helps {}"
    ),
    verdicts.COLLAPSED: (
        "no statement on {}, because fits collapsed or diverged: centre or scale "
        "features"
    ),
}
# Verdicts in the order of sentences and tables.
VERDICT_ORDER = (*verdicts.STATEMENTS, verdicts.TOO_FEW, verdicts.COLLAPSED)


def interval_text(gain: verdicts.PairedGain) -> str:
    """Return a gain, or a row of comparisons, in points with its interval."""
    if math.isnan(gain.low):
        return f"{in_points(gain.gain)} points"
    low, high = (in_points(value) for value in (gain.low, gain.high))
    return f"{in_points(gain.gain)} points (95 % interval {low} to {high})"


def verdict_of(comparisons: pd.DataFrame) -> str:
    """Return the verdict on the average over tasks, or on the only one."""
    average = source_help.on_average(comparisons)
    return verdicts.NOT_ASKED if average.empty else str(average["verdict"].iloc[0])


def tally(comparisons: pd.DataFrame) -> Counter[str]:
    """Count the verdicts of one method over tasks, without the average."""
    tasks = comparisons[comparisons["task"] != AVERAGE].drop_duplicates("task")
    return Counter(tasks["verdict"])


def reference_answer(comparisons: pd.DataFrame) -> str:
    """Return the answer for the reference by default, and the effect of selection."""
    default = source_help.of_reference(comparisons)
    selected = source_help.of_reference(comparisons, selected=True)
    if not comparisons["state"].any():
        return "Not asked: no other source state was run."
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
    text = _SENTENCES[verdict_of(average)].format(default["display_name"].iloc[0])
    text = f"{text}{_numbers(average)}."
    if counts.total() < 2:
        return text
    titles = {verdicts.COLLAPSED: "collapsed or diverged fits"}
    names = [word for word in VERDICT_ORDER if counts[word]]
    tasks = ", ".join(f"{titles.get(word, word)} on {counts[word]}" for word in names)
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

    It is unknown if fits have collapsed or diverged.
    """
    others = ~comparisons["state"] & (comparisons["rival"] != source_help.ALL_COLUMNS)
    over_baseline = comparisons[others]["gain"].tolist()
    over_none = comparisons[comparisons["rival"] == ALONE]["gain"].tolist()
    collapsed = (comparisons["verdict"] == verdicts.COLLAPSED).any()
    if collapsed or not over_baseline or not over_none:
        return None
    return over_baseline[0] - over_none[0], over_baseline[0]


def _numbers(average: pd.DataFrame) -> str:
    """Return the gains over no source, and over the strongest control."""
    verdict = verdict_of(average)
    if verdict not in verdicts.STATEMENTS:
        return ""
    rows: dict[Any, Any] = {row.rival: row for row in average.itertuples()}
    hardest = str(average["hardest"].iloc[0])
    if verdict == verdicts.DEPENDS:
        first, rival = average.iloc[0], rows.get(ALONE) or rows[hardest]
        name = "no source" if rival.rival == ALONE else rival.rival
        gains = (rival.gain, rival.balanced_gain)
        plain, balanced = (in_points(gain, sign=True) for gain in gains)
        words = f"{first['accuracy_verdict']} by accuracy ({plain} points over {name})"
        others = f"{first['balanced_verdict']} by balanced accuracy ({balanced} points)"
        return f": {words}, {others}"
    parts = [
        f"{_OVER.get(state, f'over {rows[state].rival_name}')} "
        f"{interval_text(rows[state])}"
        for state in dict.fromkeys((ALONE, MATCHED, hardest))
        if state in rows
    ]
    text = f": {', '.join(parts)}" if parts else ""
    if verdict == verdicts.UNDECIDED:
        text += f"; {verdicts.detectable_text(average['detectable'].iloc[0])}"
    return text
