"""The table of gains: what each method gains over each rival, and where it hurts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import fields

from cdspp.analysis.gains import (
    ALL_BENCHMARKS,
    ALL_TASKS,
    BETWEEN,
    RIVALS,
    Worth,
    gather_worth,
)
from cdspp.analysis.summary import Layout
from cdspp.core.wording import DASH, counted, in_points
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["build_gains_table", "gains_tables", "write_gains"]

PathLike = str | os.PathLike[str]

_NAMES = {"svm-t": "SVM_t"}
# With two target domains the interval would only span their means, and with fewer
# than six trials no two-sided test can reach the 5 % level.
_FEWEST_TARGETS, _FEWEST_TRIALS = 3, 6
_CAPTION = (
    "Accuracy of a method minus that of a rival on equal splits, in in_points: mean over "
    "tasks, and a 95 % bootstrap interval that draws whole target domains, since tasks "
    "of one target share their test samples. Two target domains give none; with fewer "
    "than six it is no test at the 5 % level. Placebo and noise: the same method on a "
    "source with permuted labels, or made of noise. Hurts: tasks with a negative gain "
    "over target-only; from six trials on, clear: the 95 % interval over the task's "
    "trials lies below zero. Accuracy: percent, average over tasks. "
    "* supervised; † shortened run."
)
_BETWEEN = " Between domains: without the tasks from a domain to itself."
_POOLED = (
    " All benchmarks: methods that ran on each, over the tasks of all; benchmarks of "
    "one data set share their target domains."
)


def gains_tables(layouts: Sequence[Layout]) -> list[str]:
    """Names of the tables of gains of a study, known before any score exists."""
    return ["gains"] if layouts else []


def write_gains(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    outputs: Sequence[PathLike],
) -> None:
    """Write the table ``gains``.

    Parameters
    ----------
    scores, layouts : sequence
        As in `gather_worth`.
    outputs : sequence of path
        Files to write; the suffix (csv, md, tex) names the form.
    """
    write_tables([build_gains_table(gather_worth(scores, layouts))], outputs)


def build_gains_table(worths: Sequence[Worth]) -> Table:
    """Build the table: a block a benchmark, a line a method, a column a rival.

    Parameters
    ----------
    worths : sequence of Worth
        As `gather_worth` returns them.
    """
    rivals = [rival for rival in RIVALS if any(w.rival == rival for w in worths)]
    kinds = [k for k in (ALL_TASKS, BETWEEN) if any(w.tasks == k for w in worths)]
    pooled = any(worth.benchmark == ALL_BENCHMARKS for worth in worths)
    remarks = (_BETWEEN if BETWEEN in kinds else "") + (_POOLED if pooled else "")
    return Table(
        name="gains",
        title="Was the source worth it?",
        caption=_CAPTION + remarks,
        columns=(
            "Benchmark",
            "Method",
            *(f"Over {_NAMES.get(rival, rival)}" for rival in rivals),
            *(["Hurts"] if "target-only" in rivals else []),
            *("Accuracy" if k == ALL_TASKS else f"Accuracy, {k}" for k in kinds),
        ),
        lines=tuple(
            line
            for block in _grouped(worths, "benchmark")
            for line in _block_lines(block, rivals, kinds)
        ),
        fields=tuple(field.name for field in fields(Worth)),
        records=[vars(worth) for worth in worths],
        text_columns=2,
        headings=True,
    )


def _grouped(worths: Iterable[Worth], by: str) -> list[list[Worth]]:
    groups: dict[str, list[Worth]] = {}
    for worth in worths:
        groups.setdefault(getattr(worth, by), []).append(worth)
    return list(groups.values())


def _block_lines(
    worths: Sequence[Worth], rivals: Sequence[str], kinds: Sequence[str]
) -> list[Line]:
    tasks, targets = (max(getattr(w, n) for w in worths) for n in ("n_tasks", "blocks"))
    trials = max(worth.trials for worth in worths)
    heading = f"{worths[0].title}: {counted(tasks, 'task')}, "
    heading += counted(targets, "target domain")
    lines = []
    for group in _grouped(worths, "row"):
        found = {(worth.rival, worth.tasks): worth for worth in group}
        ran = max(worth.trials for worth in group)
        note = counted(ran, "trial") if ran < trials else ""
        cells = [
            Cell(worths[0].title),
            Cell(group[0].display_name, note=note, name=True),
        ]
        cells += [_gain_cell(found.get((r, ALL_TASKS)), tasks, ran) for r in rivals]
        if "target-only" in rivals:
            cells.append(_hurt_cell(found.get(("target-only", ALL_TASKS))))
        accuracies = {worth.tasks: worth.accuracy for worth in group}
        cells += [_accuracy_cell(accuracies.get(kind, math.nan)) for kind in kinds]
        lines.append(Line(tuple(cells), heading))
    return lines


def _gain_cell(worth: Worth | None, tasks: int, trials: int) -> Cell:
    if worth is None:
        return Cell(DASH)
    notes = []
    if worth.blocks >= _FEWEST_TARGETS:
        notes.append(f"{in_points(worth.low)} to {in_points(worth.high)}")
    if worth.n_tasks < tasks:
        notes.append(counted(worth.n_tasks, "task"))
    if worth.trials < trials:
        notes.append(counted(worth.trials, "trial"))
    text = in_points(worth.gain, sign=True)
    return Cell(text, note=", ".join(notes), value=worth.gain)


def _hurt_cell(worth: Worth | None) -> Cell:
    if worth is None:
        return Cell(DASH)
    note = ""
    if worth.trials >= _FEWEST_TRIALS:
        note = f"{round(worth.hurt_sure * worth.n_tasks)} clear"
    text = f"{round(worth.hurt * worth.n_tasks)} of {worth.n_tasks}"
    return Cell(text, note=note, value=worth.hurt)


def _accuracy_cell(value: float) -> Cell:
    return Cell(DASH) if math.isnan(value) else Cell(in_points(value), value=value)
