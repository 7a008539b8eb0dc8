"""Printed against reproduced: the paper's accuracies and ours, and how many are met."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pandas as pd

from cdspp.analysis.verdicts import TOO_FEW
from cdspp.core.wording import DASH, counted, in_points, marks, percent, task_title
from cdspp.paper.accuracy import (
    AGREES,
    CLOSE,
    DIFFERS,
    EXACT,
    NOT_RUN,
    PRINTED_TRIALS,
    RULE,
)
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["build_printed_counts", "build_printed_table"]

_VERDICTS = (EXACT, AGREES, CLOSE, DIFFERS, TOO_FEW)

_COLUMNS = ("Benchmark", "Method", "Task", "Verdict")
_NUMBERS = ("Printed", "Reproduced", "Difference")


def build_printed_counts(cells: pd.DataFrame) -> Table:
    """Build the table ``printed-methods``: how many of its numbers each method met."""
    compared = cells[cells["verdict"] != NOT_RUN]
    keys = ["benchmark", "title", "method", "display_name", "supervised", "shortened"]
    counts = (
        compared.groupby(keys, sort=False)["verdict"]
        .value_counts()
        .unstack(fill_value=0)
        .reindex(columns=list(_VERDICTS), fill_value=0)
        .reset_index()
        .rename_axis(columns=None)
    )
    numbers = counts[list(_VERDICTS)]
    counts["cells"] = numbers.sum(axis=1)
    counts["trials"] = compared.groupby(keys, sort=False)["trials"].min().to_numpy()
    return Table(
        name="printed-methods",
        title="How many printed numbers are met",
        caption=(
            f"{RULE} Shares of the printed cells that this study has, by method. "
            "* supervised; † shortened run."
        ),
        columns=("Method", *(verdict.capitalize() for verdict in _VERDICTS)),
        lines=tuple(
            Line(
                (
                    _name(cell, note=_fewer(cell.trials)),
                    *(_count(n, cell.cells) for n in numbers.loc[cell.Index]),
                ),
                cell.title,
            )
            for cell in counts.itertuples()
        ),
        data=counts.rename(columns={TOO_FEW: TOO_FEW.replace(" ", "_")}),
        headings=True,
        empty="None of the printed cells is in this study.",
    )


def _count(number: int, of: int) -> Cell:
    return Cell(f"{number} of {of}" if number else DASH, value=number)


def _name(cell: Any, note: str = "") -> Cell:
    signs = marks(supervised=cell.supervised, shortened=cell.shortened)
    return Cell(cell.display_name + signs, note=note, name=True)


def _fewer(trials: int) -> str:
    return counted(trials, "trial") if 0 < trials < PRINTED_TRIALS else ""


def build_printed_table(cells: pd.DataFrame) -> Table:
    """Build the table ``printed`` of the cells that `compare_printed` returned."""
    return Table(
        name="printed",
        title="Printed against reproduced",
        caption=(
            f"The paper's accuracies, over {PRINTED_TRIALS} trials, and ours: percent, "
            "mean (standard deviation, n − 1) over trials. Difference: ours minus the "
            "printed mean, in points. "
            f"{_counts(cells['verdict'])} The CSV has every printed cell, with "
            "ours or the reason why there is none. * supervised; † shortened run."
        ),
        columns=(*_COLUMNS, *_NUMBERS),
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
    found, every = Counter(verdicts), len(verdicts)
    compared = every - found[NOT_RUN]
    if not compared:
        return f"None of the {every} printed cells could be compared in this study."
    told = ", ".join(f"{verdict}: {found[verdict]}" for verdict in _VERDICTS)
    return f"Cells compared: {compared} of {every}; {told}."


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
    return (*[Cell(DASH)] * 2, told, *[Cell(DASH)] * 3)


def _cells(cell: Any) -> tuple[Cell, ...]:
    known = not math.isnan(cell.difference)
    return (
        _name(cell),
        Cell(task_title(cell.task)),
        Cell(cell.verdict),
        Cell(percent(cell.printed_mean, cell.printed_sd)),
        Cell(percent(cell.mean, cell.sd), note=_fewer(cell.trials)),
        Cell(in_points(cell.difference, sign=True) if known else DASH),
    )
