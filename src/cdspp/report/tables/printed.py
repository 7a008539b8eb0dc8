"""Printed against reproduced: the table of the paper's accuracies and ours."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pandas as pd

from cdspp.analysis.paper_accuracy import (
    AGREES,
    CLOSE,
    DIFFERS,
    NOT_RUN,
    PRINTED_TRIALS,
    RULE,
)
from cdspp.core.wording import DASH, counted, in_points, marks, percent, task_title
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["build_printed_table"]

_COLUMNS = (
    "Benchmark",
    "Method",
    "Task",
    "Verdict",
    "Printed",
    "Reproduced",
    "Difference",
)


def build_printed_table(cells: pd.DataFrame) -> Table:
    """Build the table ``printed`` of the cells that `compare_printed` returned."""
    return Table(
        name="printed",
        title="Printed against reproduced",
        caption=(
            f"The paper's accuracies, over {PRINTED_TRIALS} trials, and ours: percent, "
            "mean (standard deviation, n − 1) over trials. Difference: ours minus the "
            "printed mean, in points. "
            f"{RULE} {_counts(cells['verdict'])} The CSV has every printed cell, with "
            "ours or the reason why there is none. * supervised; † shortened run."
        ),
        columns=_COLUMNS,
        lines=tuple(
            line
            for _, block in cells.groupby("benchmark", sort=False)
            for line in _block_lines(block)
        ),
        data=cells,
        text_columns=4,
        prose=(0, 3),
    )


def _counts(verdicts: pd.Series) -> str:
    found = Counter(verdicts)
    compared = len(verdicts) - found[NOT_RUN]
    if not compared:
        return (
            f"None of the {len(verdicts)} printed cells could be compared in this "
            "study."
        )
    return (
        f"Cells compared: {compared} of {len(verdicts)}; {AGREES}: {found[AGREES]}, "
        f"{CLOSE}: {found[CLOSE]}, {DIFFERS}: {found[DIFFERS]}."
    )


def _block_lines(block: pd.DataFrame) -> list[Line]:
    """Show what was compared, and why the rest was not."""
    compared = block["verdict"] != NOT_RUN
    title = block["title"].iloc[0]
    parts = [
        *map(_cells, block[compared].itertuples()),
        *(_absence(*item) for item in Counter(block[~compared]["reason"]).items()),
    ]
    return [
        Line((Cell("" if place else title), *part), title)
        for place, part in enumerate(parts)
    ]


def _absence(reason: str, number: int) -> tuple[Cell, ...]:
    told = Cell(f"{NOT_RUN}, {counted(number, 'cell')}: {reason}")
    return (Cell(DASH), Cell(DASH), told, *[Cell(DASH)] * 3)


def _cells(cell: Any) -> tuple[Cell, ...]:
    signs = marks(supervised=cell.supervised, shortened=cell.shortened)
    fewer = 0 < cell.trials < PRINTED_TRIALS
    known = not math.isnan(cell.difference)
    return (
        Cell(cell.method + signs, name=True),
        Cell(task_title(cell.task)),
        Cell(cell.verdict),
        Cell(percent(cell.printed_mean, cell.printed_sd)),
        Cell(
            percent(cell.mean, cell.sd),
            note=counted(cell.trials, "trial") if fewer else "",
        ),
        Cell(in_points(cell.difference, sign=True) if known else DASH),
    )
