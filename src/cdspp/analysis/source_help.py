"""Did the source help? Every method against itself in every other source state.

The comparisons are made here from the scores of a benchmark: `cdspp.analysis.rivals`
has the gains, `cdspp.analysis.verdicts` the rule by which they are judged, and
`cdspp.analysis.answers` says it in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.paired import INTERVAL_TRIALS, PairedGain, gain_of, paired_gain
from cdspp.analysis.rivals import ALL_COLUMNS, MEASURES, Contest, Rival
from cdspp.analysis.summary import mean_sd, summarise
from cdspp.analysis.verdicts import (
    ALPHA,
    COLLAPSED,
    HELPS,
    HURTS,
    STATEMENTS,
    UNDECIDED,
    Verdict,
    agreed,
    holm,
    judge_pair,
    judge_tasks,
)
from cdspp.core.names import AVERAGE, REFERENCE, SELECTED
from cdspp.core.wording import STATE_TITLES
from cdspp.methods import method_class
from cdspp.stages.artifacts import read_csv
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import BRIDGED, CHOOSING, METHOD, BenchmarkPlan

__all__ = [
    "COMPARISON_COLUMNS",
    "by_default",
    "by_task",
    "compare_with_rivals",
    "matrix",
    "no_comparisons",
    "of_method",
    "of_reference",
    "on_average",
    "read_comparisons",
    "rivals_of",
]

# Fewer target domains say nothing of others.
_FEWEST_DOMAINS = 4
COMPARISON_COLUMNS = {
    name: kind
    for kind, names in (
        ("str", "benchmark title row display_name role bridge task rival rival_name"),
        ("bool", "state"),
        ("float64", "accuracy rival_accuracy gain low high p_above p_below"),
        ("int64", "losses trials"),
        ("float64", "least"),
        ("bool", "one_decides"),
        ("float64", "domain_low domain_high"),
        ("str", "pair"),
        ("float64", "balanced_accuracy rival_balanced_accuracy balanced_gain"),
        ("float64", "balanced_low balanced_high balanced_p_above balanced_p_below"),
        ("str", "balanced_pair"),
        ("float64", "macro_f1 rival_macro_f1"),
        ("str", "verdict accuracy_verdict balanced_verdict"),
        ("float64", "p_helps p_hurts"),
        ("str", "hardest"),
        ("float64", "detectable balanced_p_helps balanced_p_hurts"),
    )
    for name in names.split()
}
# What is said of a gain and of a verdict; of balanced accuracy as well, then of
# accuracy alone.
_OF_GAIN = ("gain", "low", "high", "p_above", "p_below")
_OF_ACCURACY = ("losses", "trials", "least", "one_decides")
_OF_VERDICT = ("p_helps", "p_hurts")


def compare_with_rivals(
    scores: pd.DataFrame, plan: BenchmarkPlan, by_row: RowScores | None = None
) -> pd.DataFrame:
    """Compare every method with the baseline and with itself in other source states.

    Informed methods and controls are left out. Without scores by test row standard
    errors are over trials alone, and hold for other labelled samples of the same rows.

    The frame has a row a method, task and rival, the average over tasks last (where
    there are several): mean accuracies, the paired gain with its 95 % interval,
    one-sided p values, trials lost and shared, the least gain of a trial and whether
    one trial decides the test; the word of the pair; the same of balanced accuracy; and
    the verdict on the task, which is the same in all its rows. The average over tasks
    also has the interval over the means of target domains (`domain_low`,
    `domain_high`), where there are four of them and `INTERVAL_TRIALS` trials.
    """
    summary = summarise(scores, plan, plan.rows)
    records: list[dict[str, Any]] = []
    for place, row in enumerate(plan.rows):
        asked = row.kind in (METHOD, BRIDGED, CHOOSING)
        if asked and method_class(row.method).uses_source:
            records += _records(Contest(place, summary, by_row))
    return _typed(records)


def no_comparisons() -> pd.DataFrame:
    """Return comparisons of nothing."""
    return _typed([])


def _typed(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(records, columns=list(COMPARISON_COLUMNS))
    return frame.astype(COMPARISON_COLUMNS)


def read_comparisons(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the comparisons of a ``source-help_<benchmark>.csv``."""
    return read_csv(path, COMPARISON_COLUMNS)


def of_method(comparisons: pd.DataFrame, row: str) -> pd.DataFrame:
    """Return the comparisons of one row."""
    return comparisons[comparisons["row"] == row]


def of_reference(comparisons: pd.DataFrame, *, selected: bool = False) -> pd.DataFrame:
    """Return the comparisons of the reference, by default or with selected options."""
    ours = comparisons["role"] == REFERENCE
    return comparisons[ours & (_selects(comparisons) == selected)]


def by_default(comparisons: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the comparisons of each method with its own options, selected ones out."""
    for _, found in comparisons[~_selects(comparisons)].groupby("row", sort=False):
        yield found


def _selects(comparisons: pd.DataFrame) -> pd.Series:
    """Return which rows select their options on the labelled rows of each trial."""
    return comparisons["row"].str.endswith(f", {SELECTED}").astype(bool)


def by_task(comparisons: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group comparisons by task, order kept."""
    return dict(iter(comparisons.groupby("task", sort=False)))


def rivals_of(groups: Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the rivals that occur with their titles: the baseline, states in order.

    What bridged methods alone are held against is left out. The order is that of
    `STATE_TITLES`, whatever some methods run in.
    """
    found: dict[str, str] = {}
    for group in groups:
        pairs = group.drop_duplicates("rival")
        found |= dict(zip(pairs["rival"], pairs["rival_name"], strict=True))
    found.pop(ALL_COLUMNS, None)
    others = {key: name for key, name in found.items() if key not in STATE_TITLES}
    return others | {key: name for key, name in STATE_TITLES.items() if key in found}


def on_average(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the average over tasks, or of the only task."""
    tasks = by_task(comparisons)
    return tasks.get(AVERAGE, comparisons) if len(tasks) != 1 else comparisons


def matrix(comparisons: pd.DataFrame, *, corrected: bool) -> pd.DataFrame:
    """Return the averages over tasks of all methods of a benchmark.

    Words may be corrected for the number of methods: *undecided* where one does not
    outlast Holm's correction. Methods with a bridge are counted apart, so that they
    change no word on the others.
    """
    parts = [on_average(part) for _, part in comparisons.groupby("row", sort=False)]
    found = pd.concat(parts, ignore_index=True) if parts else no_comparisons()
    if not corrected or found.empty:
        return found
    bridged = found["bridge"] != ""
    families = (found[bridged == flag] for flag in (False, True))
    return pd.concat([_over_methods(family) for family in families]).sort_index()


def _over_methods(averages: pd.DataFrame) -> pd.DataFrame:
    found = averages.copy()
    for prefix in ("", "balanced_"):
        pairs = f"{prefix}p_above", f"{prefix}p_below"
        for _, family in averages.groupby("rival", sort=False):
            _correct(found, family, f"{prefix}pair", pairs)
        word, p_values = f"{prefix or 'accuracy_'}verdict", ("p_helps", "p_hurts")
        first = averages[averages["state"]].drop_duplicates("row")
        _correct(found, first, word, tuple(f"{prefix}{name}" for name in p_values))
        words = dict(zip(first["row"], found.loc[first.index, word], strict=True))
        rows = zip(found["row"], averages[word], strict=True)
        found[word] = [words.get(row, known) for row, known in rows]
    both = zip(found["accuracy_verdict"], found["balanced_verdict"], strict=True)
    return found.assign(verdict=[agreed(*words) for words in both])


def _correct(
    found: pd.DataFrame, family: pd.DataFrame, word: str, p_values: Iterable[str]
) -> None:
    """Take words from a family of comparisons that Holm's correction does not leave."""
    asked = family[family[word].isin(STATEMENTS)]
    for said, name in zip((HELPS, HURTS), p_values, strict=True):
        lost = np.array(holm(asked[name].tolist())) >= ALPHA
        found.loc[asked.index[lost & (asked[word] == said)], word] = UNDECIDED


def _records(contest: Contest) -> Iterator[dict[str, Any]]:
    """Yield what is said of a method and each rival, task by task."""
    summary, row = contest.summary, contest.row
    plan, margin = summary.plan, summary.plan.margin / 100
    tasks, _ = summary.with_average(summary.accuracy)
    places = range(len(tasks))
    collapsed = [contest.collapsed(at) for at in places]
    gains = [[contest.gains(at, measure) for at in places] for measure in MEASURES]
    judged = [_judged(contest, each, collapsed) for each in gains]
    for at, rival in product(places, contest.rivals):
        gain, balanced = both = [each[at][rival.key] for each in gains]
        verdict, other = (each[at] for each in judged)
        fallen = rival.key in collapsed[at]
        pairs = [COLLAPSED if fallen else judge_pair(each, margin) for each in both]
        yield {
            "benchmark": plan.benchmark,
            "title": plan.title,
            "row": row.key,
            "display_name": row.display_name + row.marks,
            "role": row.role,
            "bridge": row.bridge,
            "task": tasks[at],
            "rival": rival.key,
            "rival_name": rival.name,
            "state": rival.state,
            **_means(contest, rival, at),
            **_told(gain, (*_OF_GAIN, *_OF_ACCURACY)),
            **_over_domains(contest, rival, gain, tasks[at]),
            "pair": pairs[0],
            **_told(balanced, _OF_GAIN, "balanced_"),
            "balanced_pair": pairs[1],
            "verdict": agreed(verdict.word, other.word),
            "accuracy_verdict": verdict.word,
            "balanced_verdict": other.word,
            **_told(verdict, (*_OF_VERDICT, "hardest", "detectable")),
            **_told(other, _OF_VERDICT, "balanced_"),
        }


def _told(of: object, names: Sequence[str], prefix: str = "") -> dict[str, Any]:
    return {prefix + name: getattr(of, name) for name in names}


def _judged(
    contest: Contest,
    gains: Sequence[Mapping[str, PairedGain]],
    collapsed: Sequence[set[str]],
) -> list[Verdict]:
    """Judge the tasks together, and the average over them alone."""
    plan, bridged = contest.summary.plan, bool(contest.row.bridge)
    states = [rival.key for rival in contest.rivals if rival.state or bridged]
    asked = [{state: gain[state] for state in states} for gain in gains]
    silent = [not fallen.isdisjoint(states) for fallen in collapsed]
    n_tasks, margin = len(plan.tasks), plan.margin / 100
    return [
        *judge_tasks(asked[:n_tasks], margin=margin, collapsed=silent[:n_tasks]),
        *judge_tasks(asked[n_tasks:], margin=margin, collapsed=silent[n_tasks:]),
    ]


def _means(contest: Contest, rival: Rival, at: int) -> dict[str, float]:
    """Return the means over trials of both sides, by all measures."""
    summary, found = contest.summary, {}
    measures = summary.accuracy, summary.class_accuracy, summary.macro_f1
    names = ("accuracy", "balanced_accuracy", "macro_f1")
    for name, values in zip(names, measures, strict=True):
        of_tasks = summary.with_average(values)[1][:, at]
        found[name] = mean_sd(of_tasks[contest.place])[0]
        found[f"rival_{name}"] = mean_sd(of_tasks[rival.place])[0]
    return found


def _over_domains(
    contest: Contest, rival: Rival, gain: PairedGain, task: str
) -> dict[str, float]:
    """Return the interval of an average over the means of target domains.

    It is NaN elsewhere, and with too few domains or trials.
    """
    summary, low, high = contest.summary, np.nan, np.nan
    if task == AVERAGE and gain.trials >= INTERVAL_TRIALS:
        means: dict[str, list[float]] = {}
        for at, name in enumerate(summary.tasks):
            ours, theirs = summary.accuracy[[contest.place, rival.place], at]
            of_task = paired_gain(ours, theirs).gain
            means.setdefault(name.partition("_")[2], []).append(of_task)
        found = gain_of([float(np.mean(each)) for each in means.values()])
        if found.trials >= _FEWEST_DOMAINS:
            low, high = found.interval()
    return {"domain_low": low, "domain_high": high}
