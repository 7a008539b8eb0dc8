"""Was the source worth it? What each method gains over doing without, per benchmark.

The rivals are the SVM on the labelled target samples, the target-only learner, which
sees the unlabelled ones too, and the same method on a source that holds no knowledge:
a placebo (permuted labels) or noise. A task counts by its mean paired gain. Tasks of
one target domain share their test samples and have the same SVM, so intervals draw
whole target domains: many tasks are not as many samples.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.analysis.resampling import Gain, block_interval, paired_gain
from cdspp.analysis.source_help import ZERO
from cdspp.analysis.summary import Floats, Layout, Row, Summary, mean_sd, summarise
from cdspp.core.artifacts import SCORE_COLUMNS, read_rows
from cdspp.core.names import within_domain

__all__ = [
    "ALL_BENCHMARKS",
    "ALL_TASKS",
    "BETWEEN",
    "RIVALS",
    "WITHIN",
    "Worth",
    "build_worth",
    "gather_worth",
    "read_worth",
]

PathLike = str | os.PathLike[str]

ALL_BENCHMARKS = "all-benchmarks"
ALL_TASKS, BETWEEN, WITHIN = "all", "between domains", "within a domain"
RIVALS = ("svm-t", "target-only", "placebo", "noise")
# The sources without knowledge, by what a setting does to the source.
_EMPTY_SOURCES = {"permuted-labels": "placebo", "noise": "noise"}


@dataclass(frozen=True)
class Worth:
    """What one method gains over one rival, on one benchmark or on all.

    Attributes
    ----------
    benchmark, title : str
        Where; `ALL_BENCHMARKS` for the tasks of all benchmarks together.
    tasks : {'all', 'between domains', 'within a domain'}
        Which tasks are counted; all of them where there is one kind only.
    row, printed : str
        The method, and how it is printed, with marks.
    rival : {'svm-t', 'target-only', 'placebo', 'noise'}
        What it is compared with.
    gain, low, high : float
        Mean gain over tasks and its 95 % interval over target domains, as fractions.
    blocks : int
        Number of target domains.
    hurt, hurt_sure : float
        Share of tasks with a negative gain, and with a 95 % interval over trials below
        zero; the latter is NaN where no task has two trials.
    n_tasks, trials : int
        Tasks counted, and the smallest number of shared trials of any of them.
    accuracy : float
        Of the method: average over the tasks of this kind, whoever the rival.
    """

    benchmark: str
    title: str
    tasks: str
    row: str
    printed: str
    rival: str
    gain: float
    low: float
    high: float
    blocks: int
    hurt: float
    hurt_sure: float
    n_tasks: int
    trials: int
    accuracy: float


@dataclass(frozen=True, eq=False)
class _Duel:
    """One method against one rival on one benchmark: a gain and an accuracy a task."""

    dataset: str
    row: Row
    rival: str
    tasks: tuple[str, ...]
    gains: tuple[Gain, ...]
    accuracy: Floats


def build_worth(scores: Mapping[str, NDArray[Any]], layout: Layout) -> list[Worth]:
    """Compare every method of a benchmark with the rivals that it has.

    Parameters
    ----------
    scores : mapping of str to ndarray
        The columns of a score file.
    layout : mapping
        The benchmark, with its `placebos`: which methods ran on a changed source.

    Returns
    -------
    list of Worth
        By method, rival and kind of tasks. The baseline, which has no source, is left
        out, and so is a rival that shares no trial with the method.
    """
    return _worths(_duels(scores, layout), layout["benchmark"], _title(layout))


def read_worth(scores: PathLike, layout: Layout) -> list[Worth]:
    """Read a score file and compare its methods; see `build_worth`."""
    return build_worth(read_rows(scores, SCORE_COLUMNS), layout)


def gather_worth(scores: Sequence[PathLike], layouts: Sequence[Layout]) -> list[Worth]:
    """Compare the methods of each benchmark, then of all benchmarks together.

    Parameters
    ----------
    scores : sequence of path
        Score files, in the order of `layouts`.
    layouts : sequence of mapping
        The benchmarks.

    Returns
    -------
    list of Worth
        The last group, `ALL_BENCHMARKS`, pools the tasks of several benchmarks; it has
        the methods that met the rival on each of them.
    """
    found, pooled = [], []
    for path, layout in zip(scores, layouts, strict=True):
        duels = _duels(read_rows(path, SCORE_COLUMNS), layout)
        found += _worths(duels, layout["benchmark"], _title(layout))
        pooled += duels
    if len(layouts) < 2:
        return found
    together = _worths(pooled, ALL_BENCHMARKS, "All benchmarks", of=len(layouts))
    return [*found, *together]


def _title(layout: Layout) -> str:
    return str(layout.get("title", layout["benchmark"]))


def _duels(scores: Mapping[str, NDArray[Any]], layout: Layout) -> list[_Duel]:
    """Pair every method with its rivals, where they share a trial."""
    rows = {**layout, "variants": layout.get("placebos", ())}
    summary = summarise(scores, rows)
    baseline = summary.find(layout.get("baseline"))
    duels = []
    for place, row in enumerate(summary.rows):
        if row.kind != "method" or place == baseline:
            continue
        values = summary.accuracy[place]
        for rival, other in _rivals(summary, row, baseline):
            pairs = zip(values, summary.accuracy[other], strict=True)
            gains = tuple(paired_gain(*pair) for pair in pairs)
            if any(gain.trials for gain in gains):
                # Two benchmarks of a data set share the samples of their targets.
                dataset = str(layout.get("dataset", layout["benchmark"]))
                tasks = summary.tasks
                duels.append(_Duel(dataset, row, rival, tasks, gains, values))
    return duels


def _rivals(
    summary: Summary, row: Row, baseline: int | None
) -> Iterator[tuple[str, int]]:
    """Yield the rivals of a method with their places, in the order of `RIVALS`."""
    places = {"svm-t": baseline, "target-only": summary.find("target-only")}
    for entry in summary.layout["variants"]:
        kind = _EMPTY_SOURCES.get(entry["source"])
        if entry["method"] == row.method and kind is not None:
            places.setdefault(kind, summary.find(entry["key"]))
    for rival in RIVALS:
        if (place := places.get(rival)) is not None:
            yield rival, place


def _worths(
    duels: Sequence[_Duel], benchmark: str, title: str, *, of: int = 1
) -> list[Worth]:
    """Sum up the duels; those of a method and rival belong together, `of` of them."""
    kinds = {within_domain(task) for duel in duels for task in duel.tasks}
    scopes = (ALL_TASKS, BETWEEN, WITHIN) if len(kinds) > 1 else (ALL_TASKS,)
    groups: dict[tuple[str, str], list[_Duel]] = {}
    for duel in duels:
        groups.setdefault((duel.row.key, duel.rival), []).append(duel)
    return [
        worth
        for group in groups.values()
        if len(group) == of
        for scope in scopes
        if (worth := _worth(group, benchmark, title, scope)) is not None
    ]


def _worth(
    duels: Sequence[_Duel], benchmark: str, title: str, scope: str
) -> Worth | None:
    """Sum up the duels of one method with one rival over one kind of tasks."""
    blocks = _by_target(duels, scope)
    gains = [gain for block in blocks for gain in block]
    if not gains:
        return None
    low, high = block_interval([[gain.mean for gain in block] for block in blocks])
    told = any(gain.trials > 1 for gain in gains)
    row = duels[0].row
    shortened = any(duel.row.shortened for duel in duels)
    return Worth(
        benchmark=benchmark,
        title=title,
        tasks=scope,
        row=row.key,
        printed=row.display_name + replace(row, shortened=shortened).marks,
        rival=duels[0].rival,
        gain=float(np.mean([gain.mean for gain in gains])),
        low=low,
        high=high,
        blocks=len(blocks),
        hurt=float(np.mean([gain.mean < -ZERO for gain in gains])),
        hurt_sure=float(np.mean([g.high < -ZERO for g in gains])) if told else math.nan,
        n_tasks=len(gains),
        trials=min(gain.trials for gain in gains),
        accuracy=_accuracy(duels, scope),
    )


def _by_target(duels: Sequence[_Duel], scope: str) -> list[list[Gain]]:
    """Return the gains of the tasks that have one, together by target domain."""
    blocks: dict[tuple[str, str], list[Gain]] = {}
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
