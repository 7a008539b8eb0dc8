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

from cdspp.analysis.paired import (
    INTERVAL_TRIALS,
    PairedGain,
    gain_of,
    paired_gain,
)
from cdspp.analysis.rivals import (
    ACCURACY,
    ALL_COLUMNS,
    BALANCED,
    MEASURES,
    Contest,
    Rival,
    contests,
)
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
from cdspp.study.plan import BRIDGED, CHOOSING, METHOD, BenchmarkPlan, Row

__all__ = [
    "COMPARISON_COLUMNS",
    "FEWEST_DOMAINS",
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
FEWEST_DOMAINS = 4
COMPARISON_COLUMNS = {
    "benchmark": "str",
    "title": "str",
    "row": "str",
    "display_name": "str",
    "role": "str",
    "bridge": "str",
    "task": "str",
    "rival": "str",
    "rival_name": "str",
    "state": "bool",
    "accuracy": "float64",
    "rival_accuracy": "float64",
    "gain": "float64",
    "low": "float64",
    "high": "float64",
    "p_above": "float64",
    "p_below": "float64",
    "losses": "int64",
    "trials": "int64",
    "least": "float64",
    "one_decides": "bool",
    "domain_low": "float64",
    "domain_high": "float64",
    "pair": "str",
    "balanced_accuracy": "float64",
    "rival_balanced_accuracy": "float64",
    "balanced_gain": "float64",
    "balanced_low": "float64",
    "balanced_high": "float64",
    "balanced_p_above": "float64",
    "balanced_p_below": "float64",
    "balanced_pair": "str",
    "macro_f1": "float64",
    "rival_macro_f1": "float64",
    "verdict": "str",
    "accuracy_verdict": "str",
    "balanced_verdict": "str",
    "p_helps": "float64",
    "p_hurts": "float64",
    "hardest": "str",
    "detectable": "float64",
    "balanced_p_helps": "float64",
    "balanced_p_hurts": "float64",
}


_OF_GAIN = (
    *("gain", "low", "high", "p_above", "p_below"),
    *("losses", "trials", "least", "one_decides"),
)
_OF_BALANCED = ("gain", "low", "high", "p_above", "p_below")
_OF_VERDICT = ("p_helps", "p_hurts", "hardest", "detectable")


def compare_with_rivals(
    scores: pd.DataFrame, plan: BenchmarkPlan, by_row: RowScores | None = None
) -> pd.DataFrame:
    """Compare every method with the baseline and with itself in other source states.

    Parameters
    ----------
    scores : DataFrame
        The score file of a benchmark.
    plan : BenchmarkPlan
        What ran; informed methods and the baseline are left out.
    by_row : RowScores, optional
        Which test rows each fit predicts rightly. Without it standard errors are over
        trials alone, and hold for other labelled samples of the same rows.

    Returns
    -------
    DataFrame
        A row a method, task and rival, the average over tasks last (where there are
        several): mean accuracies, the paired gain with its 95 % interval, one-sided p
        values, trials lost and shared, the least gain of a trial and whether one trial
        decides the test; the word of the pair; the same of balanced accuracy; and the
        verdict on the task, which is the same in all its rows. The average over tasks
        also has the interval over the means of target domains (`domain_low`,
        `domain_high`), where there are `FEWEST_DOMAINS` of them and `INTERVAL_TRIALS`
        trials.
    """
    summary = summarise(scores, plan, plan.rows)
    shown = [row for row in plan.rows if _is_asked(row)]
    found = contests(summary, shown, by_row)
    return _typed([record for contest in found for record in _records(contest)])


def _is_asked(row: Row) -> bool:
    """Whether a row is compared: it has a source, and is not informed or a control."""
    asked = row.kind in (METHOD, BRIDGED, CHOOSING)
    return asked and method_class(row.method).uses_source


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
    others = {
        key: name
        for key, name in found.items()
        if key not in STATE_TITLES and key != ALL_COLUMNS
    }
    return others | {k: name for k, name in STATE_TITLES.items() if k in found}


def on_average(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the average over tasks, or of the only task."""
    tasks = by_task(comparisons)
    return tasks.get(AVERAGE, comparisons) if len(tasks) != 1 else comparisons


def matrix(comparisons: pd.DataFrame, *, corrected: bool) -> pd.DataFrame:
    """Return the averages over tasks of all methods of a benchmark.

    Parameters
    ----------
    comparisons : DataFrame
        What `compare_with_rivals` returned.
    corrected : bool
        Whether words are corrected for the number of methods: *undecided* where one
        does not outlast Holm's correction. Those with a bridge are counted apart, so
        that they change no word on the others.
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
    summary, plan = contest.summary, contest.summary.plan
    tasks, _ = summary.with_average(summary.accuracy)
    gains = [contest.gains(at) for at in range(len(tasks))]
    collapsed = [contest.collapsed(at) for at in range(len(tasks))]
    judged = {measure: _judged(contest, gains, measure) for measure in MEASURES}
    for at, rival in product(range(len(tasks)), contest.rivals):
        pairs = {
            measure: COLLAPSED
            if rival.key in collapsed[at]
            else judge_pair(gains[at][measure][rival.key], _margin(plan))
            for measure in MEASURES
        }
        gain, balanced = (gains[at][measure][rival.key] for measure in MEASURES)
        verdict, other = (judged[measure][at] for measure in MEASURES)
        yield {
            "benchmark": plan.benchmark,
            "title": plan.title,
            "row": contest.row.key,
            "display_name": contest.row.display_name + contest.row.marks,
            "role": contest.row.role,
            "bridge": contest.row.bridge,
            "task": tasks[at],
            "rival": rival.key,
            "rival_name": rival.name,
            "state": rival.state,
            **_means(contest, rival, at),
            **{name: getattr(gain, name) for name in _OF_GAIN},
            **_over_domains(contest, rival, gain, tasks[at]),
            "pair": pairs[ACCURACY],
            **{f"balanced_{name}": getattr(balanced, name) for name in _OF_BALANCED},
            "balanced_pair": pairs[BALANCED],
            "verdict": agreed(verdict.word, other.word),
            "accuracy_verdict": verdict.word,
            "balanced_verdict": other.word,
            **{name: getattr(verdict, name) for name in _OF_VERDICT},
            **{f"balanced_{name}": getattr(other, name) for name in _OF_VERDICT[:2]},
        }


def _judged(
    contest: Contest,
    gains: Sequence[Mapping[str, Mapping[str, PairedGain]]],
    measure: str,
) -> list[Verdict]:
    """Judge the tasks together, and the average over them alone."""
    plan, bridged = contest.summary.plan, bool(contest.row.bridge)
    states = [rival.key for rival in contest.rivals if rival.state or bridged]
    asked = [{state: gain[measure][state] for state in states} for gain in gains]
    silent = [bool(set(states) & contest.collapsed(at)) for at in range(len(asked))]
    n_tasks, margin = len(plan.tasks), _margin(plan)
    return [
        *judge_tasks(asked[:n_tasks], margin=margin, collapsed=silent[:n_tasks]),
        *judge_tasks(asked[n_tasks:], margin=margin, collapsed=silent[n_tasks:]),
    ]


def _means(contest: Contest, rival: Rival, at: int) -> dict[str, float]:
    """Return the means over trials of both sides, by all measures."""
    summary, found = contest.summary, {}
    for name, values in {
        "accuracy": summary.accuracy,
        "balanced_accuracy": summary.class_accuracy,
        "macro_f1": summary.macro_f1,
    }.items():
        of_tasks = summary.with_average(values)[1][:, at]
        found[name] = mean_sd(of_tasks[contest.place])[0]
        found[f"rival_{name}"] = mean_sd(of_tasks[rival.place])[0]
    return found


def _over_domains(
    contest: Contest, rival: Rival, gain: PairedGain, task: str
) -> dict[str, float]:
    """Return the interval over target domains of an average; NaN elsewhere."""
    known = task == AVERAGE and gain.trials >= INTERVAL_TRIALS
    domains = _domain_gain(contest, rival) if known else None
    low, high = (np.nan, np.nan) if domains is None else domains.interval()
    return {"domain_low": low, "domain_high": high}


def _domain_gain(contest: Contest, rival: Rival) -> PairedGain | None:
    """Return the mean gain over target domains; None where they are too few."""
    summary = contest.summary
    means: dict[str, list[float]] = {}
    for at, task in enumerate(summary.tasks):
        ours, theirs = summary.accuracy[[contest.place, rival.place], at]
        gain = paired_gain(ours, theirs)
        means.setdefault(task.partition("_")[2], []).append(gain.gain)
    found = gain_of([float(np.mean(each)) for each in means.values()])
    return found if found.trials >= FEWEST_DOMAINS else None


def _margin(plan: BenchmarkPlan) -> float:
    return plan.margin / 100
