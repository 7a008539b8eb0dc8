"""Whether the source helped, in words: from comparisons to sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

import pandas as pd

from cdspp.analysis.paired import ZERO
from cdspp.analysis.rivals import ALL_COLUMNS
from cdspp.analysis.source_help import (
    by_default,
    matrix,
    of_reference,
    on_average,
)
from cdspp.analysis.verdicts import (
    COLLAPSED,
    DEPENDS,
    EQUAL,
    HELPS,
    HURTS,
    MIN_TRIALS,
    NOT_ASKED,
    STATEMENTS,
    TOO_FEW,
    UNDECIDED,
)
from cdspp.core.names import (
    ALONE,
    AVERAGE,
    CLASS_NOISE,
    MATCHED,
    REFERENCE,
)
from cdspp.core.wording import counted, in_points, sentence

__all__ = [
    "Interval",
    "answer",
    "excludes_zero",
    "gain_without_source",
    "interval_text",
    "overall_answer",
    "reference_answer",
    "said_form",
    "tally",
    "verdict_of",
    "without_source",
]

_UNSURE = "whether it is better than noise with classes is open"
_OVER = {
    ALONE: "over no source it gains",
    MATCHED: "over no source with matched class sizes",
}
_SAID = {
    HELPS: "the source helps {}",
    HURTS: "the source hurts {}",
    EQUAL: "the source makes no difference to {} beyond the margin",
    UNDECIDED: "the trials leave open whether the source helps {}",
    DEPENDS: "whether the source helps {} depends on the measure",
    TOO_FEW: "too few trials to say whether the source helps {}",
    COLLAPSED: (
        "no statement on {}, since fits have collapsed or diverged: centre or scale "
        "features"
    ),
    NOT_ASKED: "not asked of {}",
}
_HOW = "selected on the labelled rows"
_ORDER = (*STATEMENTS, TOO_FEW, COLLAPSED)
# Of one method, and of several.
_OF_OTHERS = {
    HELPS: ("the source helps 1", "the source helps {}"),
    HURTS: ("it hurts 1", "it hurts {}"),
    EQUAL: ("1 is equal with and without it", "{} are equal with and without it"),
    UNDECIDED: ("1 is undecided", "{} are undecided"),
    DEPENDS: ("1 depends on the measure", "{} depend on the measure"),
    TOO_FEW: ("1 has too few trials", "{} have too few trials"),
    COLLAPSED: ("fits of {} have collapsed or diverged",) * 2,
}
_COUNTED = {
    HELPS: "helps on {}",
    HURTS: "hurts on {}",
    EQUAL: "equal on {}",
    UNDECIDED: "undecided on {}",
    DEPENDS: "depends on the measure on {}",
    TOO_FEW: "too few trials on {}",
    COLLAPSED: "collapsed or diverged fits on {}",
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
    """Answer the question for the methods of one benchmark, in a few sentences.

    The reference comes first. Where hyper-parameters were selected too, the verdict of
    that form is said where it differs, and the default's beside it. The others follow
    by their verdicts, which are corrected for the number of methods; last those that
    use more than labels.
    """
    others = _others_answer(comparisons)
    bridges = _bridges(comparisons)
    told = (reference_answer(comparisons), others, bridges and sentence(f"{bridges}."))
    return " ".join(filter(None, told))


def reference_answer(comparisons: pd.DataFrame) -> str:
    """Answer the question for the reference on one benchmark, see `answer`."""
    default, selected = _forms(comparisons)
    if not comparisons["state"].any():
        return "Not asked: no other source state was run."
    if not default["state"].any():
        return ""
    if selected.empty:
        return sentence(_answer(default, default))
    words = [verdict_of(on_average(form)) for form in (default, selected)]
    if words[0] == words[1]:
        same = f"With hyper-parameters {_HOW}, the word is the same."
        return f"{sentence(_answer(default, default))} {same}"
    return (
        f"With hyper-parameters {_HOW}, {_answer(selected, default)} "
        f"With the defaults, {_answer(default, default)}"
    )


def _answer(ours: pd.DataFrame, default: pd.DataFrame) -> str:
    """Return verdict and numbers of a form of the method, named as its default is."""
    average, n_tasks = on_average(ours), tally(ours).total()
    said = _SAID[verdict_of(average)].format(default["display_name"].iloc[0])
    if n_tasks < 2:
        return f"{said}{_numbers(average)}."
    tasks = ", ".join(_listed(tally(ours)))
    return (
        f"on average over {n_tasks} tasks {said}{_numbers(average)}. Task by task: "
        f"{tasks}."
    )


def overall_answer(groups: Mapping[str, pd.DataFrame]) -> str:
    """Answer the question for all benchmarks: in one sentence, or a line each.

    Parameters
    ----------
    groups : mapping of str to DataFrame
        Comparisons by benchmark title.
    """
    parts, joint = [], "; "
    for title, comparisons in groups.items():
        bridges, alone = _bridges(comparisons), _labels_alone(comparisons)
        where = f"on {title}, with labels alone," if bridges else f"on {title}"
        told = f"{where} {alone}" if alone or not bridges else ""
        told = told.rstrip() if comparisons["state"].any() else f"not asked on {title}"
        through = f"{told}. {sentence(bridges)}" if told else f"on {title} {bridges}"
        parts.append(through if bridges else told)
        joint = ".\n" if bridges else joint
    text = joint.join(map(sentence, parts) if joint == ".\n" else parts)
    return f"{sentence(text)}." if text else "Nothing was run yet."


def _labels_alone(comparisons: pd.DataFrame) -> str:
    """Say in short what is said of methods that use labels alone."""
    default, ours = of_reference(comparisons), said_form(comparisons)
    others = _others_in_short(comparisons)
    if not ours["state"].any():
        return others
    said = _SAID[verdict_of(on_average(ours))]
    said = said.format(default["display_name"].iloc[0])
    said = f"{said}{_apart(ours)}{_form(comparisons)}"
    return f"{said}, and {others}" if others else said


def _bridges(comparisons: pd.DataFrame) -> str:
    """Say by bridge what methods reach through it, and what the target alone does."""
    reached: dict[str, list[str]] = {}
    alone = [math.nan]
    for average in by_default(matrix(comparisons, corrected=True)):
        first = average.iloc[0]
        if not first["bridge"] or math.isnan(first["accuracy"]):
            continue
        word, name = str(first["verdict"]), str(first["display_name"]).rstrip("*")
        text = f"{name} {in_points(first['accuracy'])} % ({word})"
        reached.setdefault(str(first["bridge"]), []).append(text)
        alone += average[~average["state"]]["rival_accuracy"].tolist()
    if not reached:
        return ""
    best = max((value for value in alone if not math.isnan(value)), default=math.nan)
    known = "" if math.isnan(best) else f"; the target alone: {in_points(best)} %"
    told = (f"through {bridge}: {', '.join(n)}" for bridge, n in reached.items())
    return f"{'; '.join(told)}{known}"


def _others(comparisons: pd.DataFrame) -> dict[str, list[str]]:
    """Return the methods but the reference by verdict, statements first.

    Those that use a bridge are no part of them.
    """
    found: dict[str, list[str]] = {}
    labels_alone = comparisons[comparisons["bridge"] == ""]
    for average in by_default(matrix(labels_alone, corrected=True)):
        first = average.iloc[0]
        if first["role"] != REFERENCE and average["state"].any():
            name = str(first["display_name"]).rstrip("*")
            found.setdefault(str(first["verdict"]), []).append(name)
    return {word: found[word] for word in _ORDER if word in found}


def _others_in_short(comparisons: pd.DataFrame) -> str:
    """Say for how many methods but the reference there is a word, and which."""
    found = _others(comparisons)
    if not found:
        return ""
    if alone := _alone(found):
        return alone
    told = {word: len(found.get(word, ())) for word in (HELPS, HURTS, DEPENDS)}
    parts = [f"the source helps {told[HELPS] or 'none'}"]
    parts += [f"it hurts {told[HURTS]}"] if told[HURTS] else []
    parts += [_of_others(DEPENDS, told[DEPENDS])] if told[DEPENDS] else []
    return f"of {_number_of(comparisons, found)} {', '.join(parts)}"


def _others_answer(comparisons: pd.DataFrame) -> str:
    """Name the methods but the reference by verdict."""
    found = _others(comparisons)
    if not found:
        return ""
    if alone := _alone(found):
        return sentence(f"{alone}.")
    parts = [
        f"{_of_others(word, len(names))} ({', '.join(names)})"
        for word, names in found.items()
    ]
    many = f"Of {_number_of(comparisons, found)}, corrected for their number,"
    return f"{many} {'; '.join(parts)}."


def _alone(found: Mapping[str, list[str]]) -> str:
    """Return the statement on a single method, nothing for several."""
    named = [(word, name) for word, names in found.items() for name in names]
    return _SAID[named[0][0]].format(named[0][1]) if len(named) == 1 else ""


def _of_others(word: str, n_methods: int) -> str:
    return _OF_OTHERS[word][n_methods > 1].format(n_methods)


def _number_of(comparisons: pd.DataFrame, found: Mapping[str, list[str]]) -> str:
    other = "other " * bool(len(of_reference(comparisons)))
    return counted(sum(map(len, found.values())), f"{other}method")


def said_form(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the reference whose verdict is said.

    They are those with hyper-parameters selected on the labelled rows where that was
    run and says otherwise, else those with the defaults.
    """
    default, selected = _forms(comparisons)
    words = [verdict_of(on_average(form)) for form in (default, selected)]
    return default if selected.empty or words[0] == words[1] else selected


def _forms(comparisons: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the comparisons of the reference, by default and with selected options."""
    default, selected = (
        of_reference(comparisons, selected=chosen) for chosen in (False, True)
    )
    return default, selected


def _form(comparisons: pd.DataFrame) -> str:
    """Say where the word is that of selected hyper-parameters, and the default's."""
    default, said = of_reference(comparisons), said_form(comparisons)
    if said["row"].equals(default["row"]):
        return ""
    word = verdict_of(on_average(default))
    return f" (hyper-parameters {_HOW}; by default: {word})"


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
    for group in by_default(comparisons):
        average = on_average(group)
        found = gain_without_source(average[average["trials"] >= MIN_TRIALS])
        if found is not None:
            alone, whole = (in_points(gain, sign=True) for gain in found)
            parts.append(f"{average['display_name'].iloc[0]} {alone} of {whole}")
    return parts


def gain_without_source(comparisons: pd.DataFrame) -> tuple[float, float] | None:
    """Return what a method gains over the baseline without a source, and with it.

    None where it was not run without a source, or there is no baseline.
    """
    others = ~comparisons["state"] & (comparisons["rival"] != ALL_COLUMNS)
    over_baseline = comparisons[others]["gain"].tolist()
    over_none = comparisons[comparisons["rival"] == ALONE]["gain"].tolist()
    if not over_baseline or not over_none:
        return None
    return over_baseline[0] - over_none[0], over_baseline[0]


def _apart(comparisons: pd.DataFrame) -> str:
    """Say how tasks differ from their average."""
    average, counts = verdict_of(on_average(comparisons)), tally(comparisons)
    of, others = counted(counts.total(), "task"), counts.total() - counts[average]
    told = [w for w in (HELPS, HURTS) if counts[w] and w != average]
    if told:
        listed = " and ".join(_COUNTED[word].format(counts[word]) for word in told)
        return f", although it {listed} of {of}"
    gains = comparisons[comparisons["task"] != AVERAGE]
    gains = gains[gains["rival"] == ALONE]["gain"]
    if average != EQUAL or not others or gains.empty:
        return ""
    low, high = (in_points(x, sign=True) for x in (gains.min(), gains.max()))
    settled = f"{others} of which settle nothing by themselves"
    return f" on average over {of}, {settled} ({low} to {high} points over no source)"


def _listed(counts: Mapping[str, int]) -> list[str]:
    """Return what is said of how many tasks, statements first."""
    return [
        _COUNTED[word].format(counts[word]) for word in _ORDER if counts.get(word, 0)
    ]


def _numbers(average: pd.DataFrame) -> str:
    """Return the gains over no source, and over the state that is hardest to beat."""
    word = verdict_of(average)
    if word not in STATEMENTS:
        return ""
    rows = {comparison.rival: comparison for comparison in average.itertuples()}
    if word == DEPENDS:
        return _by_measure(average, rows)
    hardest = str(average["hardest"].iloc[0])
    parts = [
        f"{_OVER.get(state, f'over {rows[state].rival_name}')} "
        f"{interval_text(rows[state])}"
        for state in dict.fromkeys((ALONE, MATCHED, hardest))
        if state in rows
    ]
    text = f": {', '.join(parts)}" if parts else ""
    return text + _missed(average) + _disagreement(rows) + _as_noise(rows)


def _by_measure(average: pd.DataFrame, rows: Mapping[Any, Any]) -> str:
    """Return both words with the gain over the state that decides the first."""
    first = average.iloc[0]
    rival = rows.get(ALONE) or rows[str(first["hardest"])]
    over = "no source" if rival.rival == ALONE else rival.rival
    return (
        f": {first['accuracy_verdict']} by accuracy "
        f"({in_points(rival.gain, sign=True)} points over {over}), "
        f"{first['balanced_verdict']} by balanced accuracy "
        f"({in_points(rival.balanced_gain, sign=True)} points)"
    )


def _missed(average: pd.DataFrame) -> str:
    """Say what the trials could have shown, where they show nothing."""
    if verdict_of(average) != UNDECIDED:
        return ""
    least = float(average["detectable"].iloc[0])
    if least > 1 - float(average[average["state"]]["rival_accuracy"].max()):
        return "; there is no room for a gain that these trials would find"
    found = "would be found in 4 of 5 such studies"
    return f"; a gain of {in_points(least)} points {found}"


def _disagreement(rows: Mapping[Any, Any]) -> str:
    """Say where the two states without a source lead to different words."""
    pairs = {rows[state].pair for state in (ALONE, MATCHED) if state in rows}
    if len(pairs) < 2 or not pairs & {HELPS, HURTS}:
        return ""
    return (
        ". The two forms of no source disagree: only matched class sizes leave the "
        "regularisation and the class shares as they are with the source"
    )


def _as_noise(rows: Mapping[Any, Any]) -> str:
    """Say where the source is better than none, but not than noise with classes."""
    alone, noise = rows.get(ALONE), rows.get(CLASS_NOISE)
    if alone is None or noise is None or alone.pair != HELPS or noise.pair == HELPS:
        return ""
    level = noise.pair in (EQUAL, HURTS)
    other = "noise with classes does as well" if level else _UNSURE
    return f". It is better than no source, but {other}"
