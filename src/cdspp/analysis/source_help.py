"""Did the source help? Every method against itself in every other source state.

The comparisons are made here from the scores of a benchmark: `cdspp.analysis.rivals`
has the gains, `cdspp.analysis.verdicts` the rule by which they are judged, and
`cdspp.analysis.answers` says it in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.paired import (
    INTERVAL_TRIALS,
    PairedGain,
    gain_of,
    paired_gain,
)
from cdspp.analysis.rivals import ACCURACY, BALANCED, MEASURES, Contest, Rival, contests
from cdspp.analysis.summary import mean_sd, summarise
from cdspp.analysis.verdicts import (
    COLLAPSED,
    Verdict,
    agreed,
    judge_pairs,
    judge_tasks,
)
from cdspp.core.artifacts import read_csv
from cdspp.core.names import AVERAGE, BASELINE, REFERENCE, SELECTED
from cdspp.core.wording import STATE_TITLES
from cdspp.methods import method_class
from cdspp.stages.row_scores import RowScores
from cdspp.study.plan import CHOOSING, METHOD, BenchmarkPlan, Row

__all__ = [
    "COMPARISON_COLUMNS",
    "FEWEST_DOMAINS",
    "SELECTED_ROW",
    "by_task",
    "compare",
    "no_comparisons",
    "of_method",
    "on_average",
    "read_comparisons",
    "rivals_of",
]

# The reference with hyper-parameters selected on the labelled rows of each trial.
SELECTED_ROW = f"{REFERENCE}, {SELECTED}"
# Fewer target domains say nothing of others.
FEWEST_DOMAINS = 4
COMPARISON_COLUMNS = {
    "benchmark": "str",
    "title": "str",
    "row": "str",
    "display_name": "str",
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
}


_OF_GAIN = (
    *("gain", "low", "high", "p_above", "p_below"),
    *("losses", "trials", "least", "one_decides"),
)
_OF_BALANCED = ("gain", "low", "high")
Judged = dict[str, list[list[Verdict]]]  # by measure, method and task


def compare(
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
        decides its sign; the word of the pair, after Holm's correction over methods on
        the average and without one on a task; the same of balanced accuracy; and the
        verdict on the task, which is the same in all its rows. The average over tasks
        also has the interval over the means of target domains (`domain_low`,
        `domain_high`), where there are `FEWEST_DOMAINS` of them and `INTERVAL_TRIALS`
        trials.
    """
    summary = summarise(scores, plan, plan.rows)
    shown = [row for row in plan.rows if _is_asked(row)]
    found = list(contests(summary, shown, by_row))
    tasks, _ = summary.with_average(summary.accuracy)
    gains = [[contest.gains(at) for at in range(len(tasks))] for contest in found]
    judged = _judged(found, gains, plan)
    pairs = _pairs(found, gains, plan)
    return _typed(
        [
            _record(contest, at, rival, gains[i][at], judged, pairs, i)
            for i, contest in enumerate(found)
            for at in range(len(tasks))
            for rival in contest.rivals
        ]
    )


def _is_asked(row: Row) -> bool:
    """Whether a row is compared: all but the baseline, informed ones and controls."""
    chooses = row.kind == CHOOSING and method_class(row.method).uses_source
    return chooses or (row.kind == METHOD and row.key != BASELINE)


def no_comparisons() -> pd.DataFrame:
    """Return comparisons of nothing."""
    return _typed([])


def _typed(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(records, columns=list(COMPARISON_COLUMNS))
    return frame.astype(COMPARISON_COLUMNS)


def read_comparisons(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the comparisons of a ``source-help_<benchmark>.csv``."""
    return read_csv(path, COMPARISON_COLUMNS)


def of_method(comparisons: pd.DataFrame, row: str = REFERENCE) -> pd.DataFrame:
    """Return the comparisons of one method."""
    return comparisons[comparisons["row"] == row]


def by_task(comparisons: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group comparisons by task, order kept."""
    return dict(iter(comparisons.groupby("task", sort=False)))


def rivals_of(groups: Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the rivals that occur with their titles: the baseline, states in order.

    The order is that of `STATE_TITLES`, whatever some methods run in.
    """
    found: dict[str, str] = {}
    for group in groups:
        pairs = group.drop_duplicates("rival")
        found |= dict(zip(pairs["rival"], pairs["rival_name"], strict=True))
    others = {key: name for key, name in found.items() if key not in STATE_TITLES}
    return others | {k: name for k, name in STATE_TITLES.items() if k in found}


def on_average(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the average over tasks, or of the only task."""
    tasks = by_task(comparisons)
    return tasks.get(AVERAGE, comparisons) if len(tasks) != 1 else comparisons


def _judged(
    found: Sequence[Contest],
    gains: Sequence[Sequence[Mapping[str, Mapping[str, PairedGain]]]],
    plan: BenchmarkPlan,
) -> Judged:
    """Judge the tasks of each method together, and all methods on the average.

    A benchmark of one task has no other average.
    """
    n_tasks = len(plan.tasks)
    last = n_tasks if n_tasks > 1 else 0
    judged: Judged = {}
    for measure in MEASURES:
        asked = [
            [
                {r.key: gain[measure][r.key] for r in contest.rivals if r.state}
                for gain in of_tasks
            ]
            for contest, of_tasks in zip(found, gains, strict=True)
        ]
        silent = [
            [bool(set(task) & contest.collapsed(at)) for at, task in enumerate(tasks)]
            for contest, tasks in zip(found, asked, strict=True)
        ]
        judged[measure] = [
            judge_tasks(tasks[:n_tasks], margin=_margin(plan), collapsed=out[:n_tasks])
            for tasks, out in zip(asked, silent, strict=True)
        ]
        averages = _together(
            [tasks[last] for tasks in asked], [out[last] for out in silent], plan
        )
        for words, average in zip(judged[measure], averages, strict=True):
            words[last:] = [average]
    return judged


def _together(
    asked: Sequence[Mapping[str, PairedGain]],
    silent: Sequence[bool],
    plan: BenchmarkPlan,
) -> list[Verdict]:
    """Judge the averages of the methods, corrected for their number if asked for."""
    margin = _margin(plan)
    if plan.holm_over_methods:
        return judge_tasks(asked, margin=margin, collapsed=silent)
    return [
        judge_tasks([task], margin=margin, collapsed=[out])[0]
        for task, out in zip(asked, silent, strict=True)
    ]


def _pairs(
    found: Sequence[Contest],
    gains: Sequence[Sequence[Mapping[str, Mapping[str, PairedGain]]]],
    plan: BenchmarkPlan,
) -> dict[tuple[str, int, int, str], str]:
    """Return the word of each pair by measure, method, task and rival."""
    n_tasks, margin = len(plan.tasks), _margin(plan)
    last = n_tasks if n_tasks > 1 else 0
    words: dict[tuple[str, int, int, str], str] = {}
    families: dict[tuple[str, Any], list[tuple[int, int, str]]] = {}
    for i, contest in enumerate(found):
        for at in range(len(gains[i])):
            fallen = contest.collapsed(at)
            together = plan.holm_over_methods and at == last
            for rival in contest.rivals:
                for measure in MEASURES:
                    if rival.key in fallen:
                        words[measure, i, at, rival.key] = COLLAPSED
                        continue
                    family = rival.key if together else (i, at, rival.key)
                    families.setdefault((measure, family), []).append(
                        (i, at, rival.key)
                    )
    for (measure, _), members in families.items():
        values = [gains[i][at][measure][key] for i, at, key in members]
        for member, word in zip(members, judge_pairs(values, margin), strict=True):
            words[measure, *member] = word
    return words


def _record(
    contest: Contest,
    at: int,
    rival: Rival,
    gains: Mapping[str, Mapping[str, PairedGain]],
    judged: Judged,
    pairs: Mapping[tuple[str, int, int, str], str],
    number: int,
) -> dict[str, Any]:
    """Return what is said of a method and a rival on a task."""
    summary, row, plan = contest.summary, contest.row, contest.summary.plan
    tasks, _ = summary.with_average(summary.accuracy)
    gain, balanced = (gains[measure][rival.key] for measure in MEASURES)
    verdict, other = (judged[measure][number][at] for measure in MEASURES)
    told = asdict(verdict)
    word = told.pop("word")
    return {
        "benchmark": plan.benchmark,
        "title": plan.title,
        "row": row.key,
        "display_name": row.display_name + row.marks,
        "task": tasks[at],
        "rival": rival.key,
        "rival_name": rival.name,
        "state": rival.state,
        **_means(contest, rival, at),
        **{name: getattr(gain, name) for name in _OF_GAIN},
        **_over_domains(contest, rival, gain, tasks[at]),
        "pair": pairs[ACCURACY, number, at, rival.key],
        **{f"balanced_{name}": getattr(balanced, name) for name in _OF_BALANCED},
        "balanced_pair": pairs[BALANCED, number, at, rival.key],
        "verdict": agreed(word, other.word),
        "accuracy_verdict": word,
        "balanced_verdict": other.word,
        **told,
    }


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
