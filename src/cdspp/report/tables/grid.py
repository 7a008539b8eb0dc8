"""Tables of rows (methods, controls) by tasks or benchmarks: means over trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from cdspp.analysis.summary import MOST_COLLAPSED, Floats, Summary, mean_sd, n_present
from cdspp.core.names import AVERAGE
from cdspp.core.wording import DASH, counted, percent, task_title
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.study.plan import Row

__all__ = ["Column", "grid_table", "make_columns", "moments", "row_values"]

_BLOCKS = {
    "supervised": "Supervised",
    "method": "Semi-supervised",
    "informed": "Told of the test samples",
    "bridged": "With a bridge",
    "control": "Controls",
    "variant": "Other settings",
}


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a grid of rows by tasks or benchmarks: a trial vector a row.

    `collapsed` names the rows whose fits say nothing, in more than a tenth of trials.
    """

    heading: str
    benchmark: str
    task: str
    trials_asked: int
    values: Mapping[str, tuple[Row, Floats]]
    n_tasks: int = 1
    collapsed: frozenset[str] = frozenset()

    def cells(self) -> dict[str, Cell]:
        """Return a cell a row: ``92.3 (1.2)``, and a note where trials are missing.

        Bold is the best among complete methods, where there are two at least.
        """
        means = {
            key: round(100 * float(values.mean()), 1)
            for key, (row, values) in self.values.items()
            if self._competes(row, values)
        }
        best = max(means.values()) if len(means) > 1 else math.nan
        found = {}
        for key, (row, values) in self.values.items():
            mean, sd = mean_sd(values)
            bold = key in means and round(100 * mean, 1) == best
            note = self._note(row, n_present(values))
            found[key] = Cell(percent(mean, sd), bold=bold, note=note, value=mean)
        return found

    def _note(self, row: Row, ran: int) -> str:
        note = ""
        if 0 < ran < row.trials_asked:
            note = f"{ran} of {row.trials_asked} trials"
        elif self.task == AVERAGE and row.tasks:
            note = f"{len(row.tasks)} of {counted(self.n_tasks, 'task')}"
        if row.key in self.collapsed:
            note = f"{note}, collapsed or diverged".lstrip(", ")
        return note

    def _competes(self, row: Row, values: Floats) -> bool:
        complete = n_present(values) >= self.trials_asked
        return row.kind == "method" and not row.shortened and complete


def make_columns(summary: Summary, values: Floats) -> list[Column]:
    """Turn `values` (rows by tasks by trials) into a column a task and the average."""
    tasks, padded = summary.with_average(values)
    return [
        Column(
            heading=task_title(task),
            benchmark=summary.plan.benchmark,
            task=task,
            trials_asked=summary.plan.trials_asked,
            n_tasks=len(summary.tasks),
            values=row_values(summary.rows, padded[:, place]),
            collapsed=frozenset(
                row.key
                for i, row in enumerate(summary.rows)
                if summary.collapsed_share(i, task) > MOST_COLLAPSED
            ),
        )
        for place, task in enumerate(tasks)
    ]


def row_values(rows: Sequence[Row], values: Floats) -> dict[str, tuple[Row, Floats]]:
    """Return each row with its values by trial, as many as it was asked for."""
    return {
        row.key: (row, of_row[: row.trials_asked])
        for row, of_row in zip(rows, values, strict=True)
    }


def grid_table(name: str, title: str, caption: str, columns: Sequence[Column]) -> Table:
    """Build a table: supervised, semi-supervised, controls, other settings."""
    rows: dict[str, Row] = {}
    for column in columns:
        for row, _ in column.values.values():
            known = rows.setdefault(row.key, row)
            rows[row.key] = replace(known, shortened=known.shortened or row.shortened)
    cells = [column.cells() for column in columns]
    data = pd.DataFrame(
        {
            "benchmark": column.benchmark,
            "title": column.heading,
            "task": column.task,
            "row": row.key,
            "display_name": row.display_name,
            "kind": _block(row).lower(),
            "shortened": row.shortened,
            **moments(values),
            "expected_trials": row.trials_asked,
        }
        for column in columns
        for row, values in column.values.values()
    )
    lines = [
        Line(
            (_label(row, columns), *(c.get(row.key, Cell(DASH)) for c in cells)), block
        )
        for block in _BLOCKS.values()
        for row in rows.values()
        if _block(row) == block
    ]
    headings = ("Method", *(column.heading for column in columns))
    return Table(name, title, caption, headings, tuple(lines), data, headings=True)


def _label(row: Row, columns: Sequence[Column]) -> Cell:
    counts = {
        (c.values[row.key][0].trials_asked, c.trials_asked)
        for c in columns
        if row.key in c.values
    }
    fewer = sorted({own for own, asked in counts if own != asked})
    noun = "trial" if fewer == [1] else "trials"
    notes = [row.bridge] if row.bridge else []
    notes += [f"{' or '.join(map(str, fewer))} {noun}"] if fewer else []
    return Cell(row.display_name + row.marks, note=", ".join(notes), name=True)


def _block(row: Row) -> str:
    supervised = row.kind == "method" and row.supervised
    return _BLOCKS["supervised" if supervised else row.kind]


def moments(values: Floats) -> dict[str, float]:
    """Return what the data of a table say of the trials of one cell."""
    mean, sd = mean_sd(values)
    return {"mean": mean, "sd": sd, "trials": n_present(values)}
