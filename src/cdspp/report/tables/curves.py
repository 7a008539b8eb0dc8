"""The tables of curves: accuracy against labelled samples, or against an option."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pandas as pd

from cdspp.analysis.curves import CurveScores, parameter_title, value_text
from cdspp.core.wording import counted, task_title
from cdspp.methods import method_class
from cdspp.report.tables.benchmark import HIDDEN, moments, score_cells, trial_note
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.study.plan import BenchmarkPlan

__all__ = ["build_curve_tables"]


def build_curve_tables(
    curves: Sequence[CurveScores], plan: BenchmarkPlan
) -> list[Table]:
    """Build a table a curve, in order."""
    return [_table(curve, plan) for curve in curves]


def _table(curve: CurveScores, plan: BenchmarkPlan) -> Table:
    tasks, asked = curve.with_average()[0], curve.plan.trials_asked
    scores = _scores(curve, plan.benchmark)
    cells = score_cells(scores, ["task", "value"])
    lines = []
    for task in tasks[-1:] if curve.in_states else tasks:
        title = task_title(task)
        for row in curve.rows:
            note = counted(row.trials_asked, "trial") * (row.trials_asked < asked)
            name = Cell(row.display_name + row.marks, note=note, name=True)
            numbers = [cells[row.key, task, value] for value in curve.values]
            block = row.method_name if curve.in_states else title
            lines.append(Line((name, Cell(title), *numbers), block))
    return Table(
        name=f"curve-{curve.plan.identifier}_{plan.benchmark}",
        title=f"{plan.title}: accuracy by {parameter_title(curve.parameter)}",
        caption=_caption(curve),
        columns=("Method", "Task", *map(value_text, curve.values)),
        lines=tuple(lines),
        data=scores.drop(columns=HIDDEN),
        text_columns=2,
        headings=True,
    )


def _scores(curve: CurveScores, benchmark: str) -> pd.DataFrame:
    tasks, accuracy = curve.with_average()
    return pd.DataFrame(
        {
            "benchmark": benchmark,
            "curve": curve.plan.identifier,
            "parameter": curve.parameter,
            "task": tasks[task],
            "row": curve.rows[row].key,
            "display_name": curve.rows[row].display_name,
            "value": curve.values[value],
            **moments(accuracy[row, task, value]),
            "of": curve.rows[row],
            "asked": curve.plan.trials_asked,
            "note": trial_note(
                curve.rows[row], accuracy[row, task, value], tasks[task], curve.tasks
            ),
        }
        for row, task, value in np.ndindex(accuracy.shape[:3])
    )


def _caption(curve: CurveScores) -> str:
    parts = [
        "Percent, mean (standard deviation, n − 1) over "
        f"{counted(curve.plan.trials_asked, 'trial')}. "
        f"Columns: {parameter_title(curve.parameter)}."
    ]
    if curve.main is not None:
        value = value_text(curve.main)
        parts.append(f"At {value} these are the first trials of the main run.")
    if curve.in_states:
        parts.append("Every method with its real source first, then in other states.")
        if len(curve.tasks) > 1:
            parts.append("Averages over tasks; single tasks are in the CSV file.")
    elif len(curve.rows) > 1:
        parts.append(
            "Bold: best of a task and value among complete methods. * supervised; "
            "† shortened run."
        )
    known = (method_class(row.method).option_notes for row in curve.rows)
    for note in dict.fromkeys(notes.get(curve.parameter, "") for notes in known):
        parts.append(note.format(n_classes=curve.plan.n_classes))
    if curve.plan.dropped:
        parts.append(_dropped(curve))
    return " ".join(filter(None, parts))


def _dropped(curve: CurveScores) -> str:
    groups = groupby(sorted(curve.plan.dropped), key=lambda pair: pair[0])
    told = [
        f"{value_text(value)} ({', '.join(task_title(task) for _, task in pairs)})"
        for value, pairs in groups
    ]
    tail = "; there is no average there" if len(curve.tasks) > 1 else ""
    return (
        "Left out, as a class of the target would have no test sample: "
        f"{'; '.join(told)}{tail}."
    )
