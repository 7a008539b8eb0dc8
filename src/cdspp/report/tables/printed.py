"""Printed against reproduced: the table of the paper's accuracies and ours."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence

from cdspp.analysis.paper_accuracy import (
    AGREES,
    CLOSE,
    DIFFERS,
    NOT_RUN,
    PRINTED_TRIALS,
    RULE,
    Printed,
    PrintedBenchmark,
    PrintedCell,
    compare_printed,
    read_printed,
)
from cdspp.analysis.summary import Layout, read_summary
from cdspp.core.wording import DASH, counted, in_points, marks, percent, task_title
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.table import Cell, Line, Table

__all__ = ["build_printed_tables", "printed_tables", "write_printed"]

PathLike = str | os.PathLike[str]

_FIELDS = (
    "table",
    "benchmark",
    "title",
    "task",
    "method",
    "supervised",
    "shortened",
    "printed_mean",
    "printed_sd",
    "mean",
    "sd",
    "trials",
    "difference",
    "verdict",
    "reason",
)
_COLUMNS = (
    "Benchmark",
    "Method",
    "Task",
    "Verdict",
    "Printed",
    "Reproduced",
    "Difference",
)


def printed_tables() -> list[str]:
    """Names of the tables of this module."""
    return ["printed"]


def write_printed(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    paper: PathLike,
    outputs: Sequence[PathLike],
) -> None:
    """Write the comparison with the printed tables.

    Parameters
    ----------
    scores : sequence of path
        Score files of the benchmarks.
    layouts : sequence of mapping
        The benchmarks, in the same order.
    paper : path
        Folder of the printed numbers, see `read_printed`.
    outputs : sequence of path
        Files to write: the stem names a table of `printed_tables`, the suffix (csv, md,
        tex) its form.
    """
    pairs = zip(scores, layouts, strict=True)
    printed = read_printed(paper)
    cells = compare_printed(printed, [read_summary(*pair) for pair in pairs])
    write_tables(build_printed_tables(printed, cells), outputs)


def build_printed_tables(printed: Printed, cells: Sequence[PrintedCell]) -> list[Table]:
    """Build the tables of `printed_tables` from compared cells."""
    blocks = [
        _block(facts, [cell for cell in cells if cell.benchmark == name])
        for name, facts in printed.benchmarks.items()
    ]
    table = Table(
        name=printed_tables()[0],
        title="Printed against reproduced",
        caption=(
            f"The paper's accuracies, over {PRINTED_TRIALS} trials, and ours: percent, "
            "mean (standard deviation, n − 1) over trials. Difference: ours minus the "
            "printed mean, in in_points. "
            f"{RULE} {_counts(cells)} The CSV has every printed cell, with ours or the "
            "reason why there is none. * supervised; † shortened run."
        ),
        columns=_COLUMNS,
        lines=tuple(line for block in blocks for line in block),
        fields=_FIELDS,
        records=[_record(cell, printed.benchmarks[cell.benchmark]) for cell in cells],
        text_columns=4,
        prose=(0, 3),
    )
    return [table]


def _counts(cells: Sequence[PrintedCell]) -> str:
    found = Counter(cell.verdict for cell in cells)
    compared = len(cells) - found[NOT_RUN]
    if not compared:
        return (
            f"None of the {len(cells)} printed cells could be compared in this study."
        )
    return (
        f"Cells compared: {compared} of {len(cells)}; {AGREES}: {found[AGREES]}, "
        f"{CLOSE}: {found[CLOSE]}, {DIFFERS}: {found[DIFFERS]}."
    )


def _block(facts: PrintedBenchmark, cells: Sequence[PrintedCell]) -> list[Line]:
    """Show what was compared, and why the rest was not."""
    compared = [cell for cell in cells if cell.verdict != NOT_RUN]
    reasons = Counter(cell.reason for cell in cells if cell.verdict == NOT_RUN)
    parts = [
        *map(_cells, compared),
        *(_absence(reason, number) for reason, number in reasons.items()),
    ]
    return [
        Line((Cell("" if place else facts.title), *part), facts.title)
        for place, part in enumerate(parts)
    ]


def _absence(reason: str, number: int) -> tuple[Cell, ...]:
    told = Cell(f"{NOT_RUN}, {counted(number, 'cell')}: {reason}")
    return (Cell(DASH), Cell(DASH), told, *[Cell(DASH)] * 3)


def _cells(cell: PrintedCell) -> tuple[Cell, ...]:
    signs = marks(supervised=cell.supervised, shortened=cell.shortened)
    fewer = 0 < cell.our_trials < PRINTED_TRIALS
    known = not math.isnan(cell.difference)
    return (
        Cell(cell.method + signs, name=True),
        Cell(task_title(cell.task)),
        Cell(cell.verdict),
        Cell(percent(cell.mean, cell.sd)),
        Cell(
            percent(cell.ours, cell.our_sd),
            note=counted(cell.our_trials, "trial") if fewer else "",
        ),
        Cell(in_points(cell.difference, sign=True) if known else DASH),
    )


def _record(cell: PrintedCell, facts: PrintedBenchmark) -> dict[str, object]:
    values = (
        facts.table,
        cell.benchmark,
        facts.title,
        cell.task,
        cell.method,
        cell.supervised,
        cell.shortened,
        cell.mean,
        cell.sd,
        cell.ours,
        cell.our_sd,
        cell.our_trials,
        cell.difference,
        cell.verdict,
        cell.reason,
    )
    return dict(zip(_FIELDS, values, strict=True))
