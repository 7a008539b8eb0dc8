"""The table of gains: what each method gains over each rival, and where it hurts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from cdspp.analysis.gains import (
    ALL_BENCHMARKS,
    ALL_TASKS,
    BETWEEN,
    RIVALS,
)
from cdspp.core.names import BASELINE, TARGET_ONLY
from cdspp.core.wording import DASH, counted, in_points
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["build_gains_table"]

_NAMES = {BASELINE: "SVM_t"}
# With two target domains the interval would only span their means, and with fewer
# than six trials no two-sided test can reach the 5 % level.
_FEWEST_TARGETS, _FEWEST_TRIALS = 3, 6
_CAPTION = (
    "Accuracy of a method minus that of a rival on equal splits, in points: mean over "
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


def build_gains_table(gains: pd.DataFrame) -> Table:
    """Build the table: a block a benchmark, a line a method, a column a rival.

    Parameters
    ----------
    gains : DataFrame
        As `gather_gains` returns them.
    """
    rivals = [rival for rival in RIVALS if rival in set(gains["rival"])]
    kinds = [kind for kind in (ALL_TASKS, BETWEEN) if kind in set(gains["tasks"])]
    pooled = ALL_BENCHMARKS in set(gains["benchmark"])
    remarks = (_BETWEEN if BETWEEN in kinds else "") + (_POOLED if pooled else "")
    return Table(
        name="gains",
        title="Was the source worth it?",
        caption=_CAPTION + remarks,
        columns=(
            "Benchmark",
            "Method",
            *(f"Over {_NAMES.get(rival, rival)}" for rival in rivals),
            *(["Hurts"] if TARGET_ONLY in rivals else []),
            *("Accuracy" if k == ALL_TASKS else f"Accuracy, {k}" for k in kinds),
        ),
        lines=tuple(
            line
            for _, block in gains.groupby("benchmark", sort=False)
            for line in _block_lines(block, rivals, kinds)
        ),
        data=gains,
        text_columns=2,
        headings=True,
    )


def _block_lines(
    block: pd.DataFrame, rivals: Sequence[str], kinds: Sequence[str]
) -> list[Line]:
    tasks, trials = block["n_tasks"].max(), block["trials"].max()
    title = block["title"].iloc[0]
    heading = f"{title}: {counted(tasks, 'task')}, "
    heading += counted(block["blocks"].max(), "target domain")
    lines: list[Line] = []
    for _, group in block.groupby("row", sort=False):
        found = {(gain.rival, gain.tasks): gain for gain in group.itertuples()}
        ran = group["trials"].max()
        note = counted(ran, "trial") if ran < trials else ""
        name = group["display_name"].iloc[0]
        cells = [Cell("" if lines else title), Cell(name, note=note, name=True)]
        cells += [_gain_cell(found.get((r, ALL_TASKS)), tasks, ran) for r in rivals]
        if TARGET_ONLY in rivals:
            cells.append(_hurt_cell(found.get((TARGET_ONLY, ALL_TASKS))))
        accuracies = {tasks: gain.accuracy for (_, tasks), gain in found.items()}
        cells += [_accuracy_cell(accuracies.get(kind, math.nan)) for kind in kinds]
        lines.append(Line(tuple(cells), heading))
    return lines


def _gain_cell(gain: Any | None, tasks: int, trials: int) -> Cell:
    """Show a row of `gather_gains`, and on how much less it rests than its line."""
    if gain is None:
        return Cell(DASH)
    notes = []
    if gain.blocks >= _FEWEST_TARGETS:
        notes.append(f"{in_points(gain.low)} to {in_points(gain.high)}")
    if gain.n_tasks < tasks:
        notes.append(counted(gain.n_tasks, "task"))
    if gain.trials < trials:
        notes.append(counted(gain.trials, "trial"))
    text = in_points(gain.gain, sign=True)
    return Cell(text, note=", ".join(notes), value=gain.gain)


def _hurt_cell(gain: Any | None) -> Cell:
    if gain is None:
        return Cell(DASH)
    note = ""
    if gain.trials >= _FEWEST_TRIALS:
        note = f"{round(gain.hurt_sure * gain.n_tasks)} clear"
    text = f"{round(gain.hurt * gain.n_tasks)} of {gain.n_tasks}"
    return Cell(text, note=note, value=gain.hurt)


def _accuracy_cell(value: float) -> Cell:
    return Cell(DASH) if math.isnan(value) else Cell(in_points(value), value=value)
