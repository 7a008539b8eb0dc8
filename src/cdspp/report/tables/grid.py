"""Tables of rows (methods, controls) by tasks or benchmarks: means over trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cdspp.analysis.summary import Floats, Row, Summary, mean_sd
from cdspp.core.names import AVERAGE
from cdspp.core.wording import DASH, percent, task_title
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["Column", "grid_table", "make_columns"]

_BLOCKS = ("Supervised", "Semi-supervised", "Controls", "Other settings")
_GRID_FIELDS = (
    "benchmark",
    "title",
    "task",
    "row",
    "printed",
    "kind",
    "shortened",
    "mean",
    "sd",
    "trials",
    "expected_trials",
)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a grid of rows by tasks or benchmarks: a trial vector a row."""

    heading: str
    benchmark: str
    task: str
    trials: int
    cells: Mapping[str, tuple[Row, Floats]]

    def best(self) -> float:
        """Highest printed mean among complete methods; NaN with fewer than two."""
        means = [
            round(100 * float(values.mean()), 1)
            for row, values in self.cells.values()
            if self._competes(row, values)
        ]
        return max(means) if len(means) > 1 else math.nan

    def cell(self, key: str, best: float) -> Cell:
        """Format one cell: ``92.3 (1.2)``, a dash, a note where trials are missing."""
        if key not in self.cells:
            return Cell(DASH)
        row, values = self.cells[key]
        mean, sd = mean_sd(values)
        ran = int(np.isfinite(values).sum())
        note = f"{ran} of {row.trials} trials" if 0 < ran < row.trials else ""
        bold = self._competes(row, values) and round(100 * mean, 1) == best
        return Cell(percent(mean, sd), bold=bold, note=note, value=mean)

    def _competes(self, row: Row, values: Floats) -> bool:
        ran = int(np.isfinite(values).sum())
        return row.kind == "method" and not row.shortened and ran >= self.trials


def make_columns(summary: Summary, values: Floats) -> list[Column]:
    """Turn `values` (rows by tasks by trials) into a column a task and the average."""
    padded = summary.with_average(values)
    tasks = [*summary.tasks, AVERAGE][: padded.shape[1]]
    return [
        Column(
            heading=task_title(task),
            benchmark=str(summary.layout["benchmark"]),
            task=task,
            trials=int(summary.layout.get("trials", 1)),
            cells={
                row.key: (row, padded[i, place, : row.trials])
                for i, row in enumerate(summary.rows)
            },
        )
        for place, task in enumerate(tasks)
    ]


def grid_table(name: str, title: str, caption: str, columns: Sequence[Column]) -> Table:
    """Build a table: supervised, semi-supervised, controls, other settings."""
    rows: dict[str, Row] = {}
    for column in columns:
        for row, _ in column.cells.values():
            known = rows.setdefault(row.key, row)
            rows[row.key] = replace(known, shortened=known.shortened or row.shortened)
    best = [column.best() for column in columns]
    lines = [
        Line(
            (
                _label(row, columns),
                *(c.cell(row.key, top) for c, top in zip(columns, best, strict=True)),
            ),
            block,
        )
        for block in _BLOCKS
        for row in rows.values()
        if _kind(row) == block
    ]
    return Table(
        name=name,
        title=title,
        caption=caption,
        columns=("Method", *(column.heading for column in columns)),
        lines=tuple(lines),
        fields=_GRID_FIELDS,
        records=[
            _record(column, row, values)
            for column in columns
            for row, values in column.cells.values()
        ],
        headings=True,
    )


def _label(row: Row, columns: Sequence[Column]) -> Cell:
    counts = {
        (c.cells[row.key][0].trials, c.trials) for c in columns if row.key in c.cells
    }
    fewer = sorted({ran for ran, asked in counts if ran != asked})
    noun = "trial" if fewer == [1] else "trials"
    note = f"{' or '.join(map(str, fewer))} {noun}" if fewer else ""
    return Cell(row.display_name + row.marks, note=note, name=True)


def _kind(row: Row) -> str:
    if row.kind != "method":
        return _BLOCKS[2 if row.control else 3]
    return _BLOCKS[0] if row.supervised else _BLOCKS[1]


def _record(column: Column, row: Row, values: Floats) -> dict[str, object]:
    mean, sd = mean_sd(values)
    return {
        "benchmark": column.benchmark,
        "title": column.heading,
        "task": column.task,
        "row": row.key,
        "printed": row.display_name,
        "kind": _kind(row).lower(),
        "shortened": row.shortened,
        "mean": mean,
        "sd": sd,
        "trials": int(np.isfinite(values).sum()),
        "expected_trials": row.trials,
    }
