"""What each method gains over doing without the source, per benchmark.

The rivals are the SVM on the labelled target samples, the target-only learner, which
sees the unlabelled ones too, and the same method on a source that holds no knowledge:
a placebo (permuted labels) or noise. A task counts by its mean paired gain. Tasks of
one target domain share their test samples and have the same SVM, so intervals draw
whole target domains: many tasks are not as many samples.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cdspp.analysis.resampling import PairedGain, block_interval, paired_gain
from cdspp.analysis.source_help import ZERO
from cdspp.analysis.summary import (
    Floats,
    Summary,
    mean_sd,
    read_scores,
    summarise,
)
from cdspp.core.names import BASELINE, TARGET_ONLY, within_domain
from cdspp.study.plan import BenchmarkPlan, Row

__all__ = [
    "ALL_BENCHMARKS",
    "ALL_TASKS",
    "BETWEEN",
    "GAIN_COLUMNS",
    "RIVALS",
    "WITHIN",
    "gather_gains",
]

PathLike = str | os.PathLike[str]

ALL_BENCHMARKS = "all-benchmarks"
ALL_TASKS, BETWEEN, WITHIN = "all", "between domains", "within a domain"
RIVALS = (BASELINE, TARGET_ONLY, "placebo", "noise")
# The sources without knowledge, by what a setting does to the source.
_EMPTY_SOURCES = {"permuted-labels": "placebo", "noise": "noise"}
GAIN_COLUMNS = {
    "benchmark": "str",
    "title": "str",
    "tasks": "str",
    "row": "str",
    "display_name": "str",
    "rival": "str",
    "gain": "float64",
    "low": "float64",
    "high": "float64",
    "blocks": "int64",
    "hurt": "float64",
    "hurt_sure": "float64",
    "n_tasks": "int64",
    "trials": "int64",
    "accuracy": "float64",
}


@dataclass(frozen=True, eq=False)
class _Duel:
    """One method against one rival on one benchmark: a gain and an accuracy a task."""

    dataset: str
    row: Row
    rival: str
    tasks: tuple[str, ...]
    gains: tuple[PairedGain, ...]
    accuracy: Floats


def gather_gains(
    scores: Sequence[PathLike], plans: Sequence[BenchmarkPlan]
) -> pd.DataFrame:
    """Compare the methods of each benchmark, then of all benchmarks together.

    Parameters
    ----------
    scores : sequence of path
        Score files, in the order of `plans`.
    plans : sequence of BenchmarkPlan
        The benchmarks.

    Returns
    -------
    DataFrame
        By method, rival and kind of tasks (all, between domains, within a domain):
        mean `gain` over tasks with its 95 % interval over target domains (`low`,
        `high`, number of `blocks`); the shares of tasks with a negative gain (`hurt`)
        and with an interval over trials below zero (`hurt_sure`, NaN where no task has
        two trials); `n_tasks` counted, fewest shared `trials`, and the method's own
        `accuracy`. The baseline, which has no source, is left out, and so is a rival
        that shares no trial with the method. The last group, `ALL_BENCHMARKS`, pools
        the tasks of several benchmarks for methods that met the rival on each.
    """
    found, pooled = [], []
    for path, plan in zip(scores, plans, strict=True):
        duels = _duels(read_scores(path), plan)
        found += _sums(duels, plan.benchmark, plan.title)
        pooled += duels
    if len(plans) > 1:
        found += _sums(pooled, ALL_BENCHMARKS, "All benchmarks", of=len(plans))
    return pd.DataFrame(found, columns=list(GAIN_COLUMNS))


def _duels(scores: pd.DataFrame, plan: BenchmarkPlan) -> list[_Duel]:
    """Pair every method with its rivals, where they share a trial."""
    summary = summarise(scores, plan, plan.rows)
    duels = []
    for place, row in enumerate(summary.rows):
        if row.kind != "method" or row.key == BASELINE:
            continue
        values = summary.accuracy[place]
        for rival, other in _rivals(summary, row):
            pairs = zip(values, summary.accuracy[other], strict=True)
            gains = tuple(paired_gain(*pair) for pair in pairs)
            if any(gain.trials for gain in gains):
                # Two benchmarks of a data set share the samples of their targets.
                tasks = summary.tasks
                duels.append(_Duel(plan.dataset, row, rival, tasks, gains, values))
    return duels


def _rivals(summary: Summary, row: Row) -> Iterator[tuple[str, int]]:
    """Yield the rivals of a method with their places, in the order of `RIVALS`."""
    places: dict[str, int] = {}
    for place, other in enumerate(summary.rows):
        if other.key in (BASELINE, TARGET_ONLY):
            places[other.key] = place
        elif other.method == row.method and other.source in _EMPTY_SOURCES:
            places.setdefault(_EMPTY_SOURCES[other.source], place)
    for rival in RIVALS:
        if rival in places:
            yield rival, places[rival]


def _sums(
    duels: Sequence[_Duel], benchmark: str, title: str, *, of: int = 1
) -> list[dict[str, object]]:
    """Sum up the duels; those of a method and rival belong together, `of` of them."""
    kinds = {within_domain(task) for duel in duels for task in duel.tasks}
    scopes = (ALL_TASKS, BETWEEN, WITHIN) if len(kinds) > 1 else (ALL_TASKS,)
    groups: dict[tuple[str, str], list[_Duel]] = {}
    for duel in duels:
        groups.setdefault((duel.row.key, duel.rival), []).append(duel)
    return [
        found
        for group in groups.values()
        if len(group) == of
        for scope in scopes
        if (found := _sum(group, benchmark, title, scope)) is not None
    ]


def _sum(
    duels: Sequence[_Duel], benchmark: str, title: str, scope: str
) -> dict[str, object] | None:
    """Sum up the duels of one method with one rival over one kind of tasks."""
    blocks = _by_target(duels, scope)
    gains = [gain for block in blocks for gain in block]
    if not gains:
        return None
    low, high = block_interval([[gain.gain for gain in block] for block in blocks])
    told = any(gain.trials > 1 for gain in gains)
    row = duels[0].row
    shortened = any(duel.row.shortened for duel in duels)
    return {
        "benchmark": benchmark,
        "title": title,
        "tasks": scope,
        "row": row.key,
        "display_name": row.display_name + replace(row, shortened=shortened).marks,
        "rival": duels[0].rival,
        "gain": float(np.mean([gain.gain for gain in gains])),
        "low": low,
        "high": high,
        "blocks": len(blocks),
        "hurt": float(np.mean([gain.gain < -ZERO for gain in gains])),
        "hurt_sure": float(np.mean([g.high < -ZERO for g in gains]))
        if told
        else math.nan,
        "n_tasks": len(gains),
        "trials": min(gain.trials for gain in gains),
        "accuracy": _accuracy(duels, scope),
    }


def _by_target(duels: Sequence[_Duel], scope: str) -> list[list[PairedGain]]:
    """Return the gains of the tasks that have one, together by target domain."""
    blocks: dict[tuple[str, str], list[PairedGain]] = {}
    for duel in duels:
        for task, gain in zip(duel.tasks, duel.gains, strict=True):
            if _counts(task, scope) and gain.trials:
                target = task.partition("_")[2]
                blocks.setdefault((duel.dataset, target), []).append(gain)
    return list(blocks.values())


def _counts(task: str, scope: str) -> bool:
    return scope == ALL_TASKS or (scope == WITHIN) == within_domain(task)


def _accuracy(duels: Iterable[_Duel], scope: str) -> float:
    """Average over tasks as the table of accuracies does: within each trial."""
    parts = [
        duel.accuracy[[_counts(task, scope) for task in duel.tasks]] for duel in duels
    ]
    parts = [part for part in parts if len(part)]
    means = [mean_sd(part.mean(axis=0))[0] for part in parts]
    return float(np.average(means, weights=[len(part) for part in parts]))
