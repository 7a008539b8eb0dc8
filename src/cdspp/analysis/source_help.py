"""Did the source help? Every method against itself in every other source state.

The comparisons are made here from the scores of a benchmark; `cdspp.analysis.verdicts`
has the rule by which they are judged, and `cdspp.analysis.answers` says it in words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cdspp.analysis.paired import (
    INTERVAL_TRIALS,
    PairedGain,
    gain_of,
    paired_gain,
)
from cdspp.analysis.summary import (
    MOST_COLLAPSED,
    Floats,
    Summary,
    mean_sd,
    summarise,
)
from cdspp.analysis.verdicts import (
    COLLAPSED,
    Verdict,
    judge_pair,
    judge_tasks,
)
from cdspp.core.artifacts import read_csv
from cdspp.core.names import ALONE, AVERAGE, BASELINE, REFERENCE, TARGET_ONLY
from cdspp.core.wording import STATE_TITLES
from cdspp.study.plan import METHOD, BenchmarkPlan, Row

__all__ = [
    "COMPARISON_COLUMNS",
    "FEWEST_DOMAINS",
    "by_task",
    "compare",
    "no_comparisons",
    "of_method",
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
    "domain_low": "float64",
    "domain_high": "float64",
    "pair": "str",
    "verdict": "str",
    "p_helps": "float64",
    "p_hurts": "float64",
    "hardest": "str",
    "detectable": "float64",
}


_OF_GAIN = ("gain", "low", "high", "p_above", "p_below", "losses", "trials")


@dataclass(frozen=True, eq=False)
class _Rival:
    """What a method is compared with: the baseline, or itself in another state."""

    key: str
    name: str
    state: bool
    values: Floats
    collapsed: NDArray[np.bool_]


def compare(scores: pd.DataFrame, plan: BenchmarkPlan) -> pd.DataFrame:
    """Compare every method with the baseline and with itself in other source states.

    Parameters
    ----------
    scores : DataFrame
        The score file of a benchmark.
    plan : BenchmarkPlan
        What ran; informed methods and the baseline are left out.

    Returns
    -------
    DataFrame
        A row a method, task and rival, the average over tasks last (where there are
        several): mean accuracies, the paired gain with its 95 % t interval, one-sided p
        values, trials lost and shared; the word of the pair, and the verdict on the
        task, which is the same in all its rows. The average over tasks also has the
        interval over the means of target domains (`domain_low`, `domain_high`), where
        there are `FEWEST_DOMAINS` of them and `INTERVAL_TRIALS` trials.
    """
    summary = summarise(scores, plan, plan.rows)
    found = [
        record
        for place, row in enumerate(summary.rows)
        if row.kind == METHOD and row.key != BASELINE
        for record in _of_method(summary, place)
    ]
    return _typed(found)


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


def _of_method(summary: Summary, place: int) -> Iterator[dict[str, Any]]:
    """Yield the comparisons of a method, task by task."""
    row, plan = summary.rows[place], summary.plan
    tasks, values = summary.with_average(summary.accuracy)
    rivals = list(_rivals(summary, row, values))
    gains = [
        {
            rival.key: paired_gain(values[place, at], rival.values[at])
            for rival in rivals
        }
        for at in range(len(tasks))
    ]
    fallen = [_fallen(summary, place, rivals, at) for at in range(len(tasks))]
    verdicts = _verdicts(plan, rivals, gains, fallen)
    for at, task in enumerate(tasks):
        for rival in rivals:
            gain = gains[at][rival.key]
            known = task == AVERAGE and gain.trials >= INTERVAL_TRIALS
            domains = _domain_gain(summary, place, rival) if known else None
            low, high = (np.nan, np.nan) if domains is None else domains.interval()
            collapsed = rival.key in fallen[at]
            yield {
                "benchmark": plan.benchmark,
                "title": plan.title,
                "row": row.key,
                "display_name": row.display_name + row.marks,
                "task": task,
                "rival": rival.key,
                "rival_name": rival.name,
                "state": rival.state,
                "accuracy": mean_sd(values[place, at])[0],
                "rival_accuracy": mean_sd(rival.values[at])[0],
                **{name: getattr(gain, name) for name in _OF_GAIN},
                "domain_low": low,
                "domain_high": high,
                "pair": COLLAPSED if collapsed else judge_pair(gain, _margin(plan)),
                **_told(verdicts[at]),
            }


def _rivals(summary: Summary, row: Row, values: Floats) -> Iterator[_Rival]:
    """Yield what a method is compared with: the baseline, then its states in order."""
    places = {(r.setting, r.method): i for i, r in enumerate(summary.rows)}
    alone = summary.find(TARGET_ONLY)
    if alone is not None and summary.rows[alone].source == ALONE:
        places[ALONE, REFERENCE] = alone  # one fit, under another name
    found = {BASELINE: summary.find(BASELINE)}
    found |= {state: places.get((state, row.method)) for state in summary.plan.states}
    for key, at in found.items():
        if at is not None:
            own = key == BASELINE
            name = summary.rows[at].display_name if own else key
            yield _Rival(key, name, not own, values[at], summary.collapsed[at])


def _fallen(
    summary: Summary, place: int, rivals: Sequence[_Rival], at: int
) -> set[str]:
    """Return the rivals that nothing is said of on a task: fits have collapsed."""
    return {
        rival.key
        for rival in rivals
        if _share(summary, place, rival, at) > MOST_COLLAPSED
    }


def _share(summary: Summary, place: int, rival: _Rival, at: int) -> float:
    """Return how many of the trials that both have collapsed, on the worse side."""
    n_tasks = len(summary.tasks)
    chosen = slice(None) if at >= n_tasks else slice(at, at + 1)
    both = np.isfinite(summary.accuracy[place] - rival.values[:n_tasks])[chosen]
    sides = summary.collapsed[place][chosen], rival.collapsed[chosen]
    return max(float((side & both).sum()) for side in sides) / max(int(both.sum()), 1)


def _verdicts(
    plan: BenchmarkPlan,
    rivals: Sequence[_Rival],
    gains: Sequence[dict[str, PairedGain]],
    fallen: Sequence[set[str]],
) -> list[Verdict]:
    """Judge the tasks together, and the average over them alone."""
    states = [rival.key for rival in rivals if rival.state]
    asked = [{state: gain[state] for state in states} for gain in gains]
    silent = [bool(set(states) & names) for names in fallen]
    n_tasks, margin = len(plan.tasks), _margin(plan)
    return [
        *judge_tasks(asked[:n_tasks], margin=margin, collapsed=silent[:n_tasks]),
        *judge_tasks(asked[n_tasks:], margin=margin, collapsed=silent[n_tasks:]),
    ]


def _domain_gain(summary: Summary, place: int, rival: _Rival) -> PairedGain | None:
    """Return the mean gain over target domains; None where they are too few."""
    means: dict[str, list[float]] = {}
    for at, task in enumerate(summary.tasks):
        gain = paired_gain(summary.accuracy[place, at], rival.values[at])
        means.setdefault(task.partition("_")[2], []).append(gain.gain)
    found = gain_of([float(np.mean(each)) for each in means.values()])
    return found if found.trials >= FEWEST_DOMAINS else None


def _margin(plan: BenchmarkPlan) -> float:
    return plan.margin / 100


def _told(verdict: Verdict) -> dict[str, Any]:
    values = dict(vars(verdict))
    return {"verdict": values.pop("word"), **values}
