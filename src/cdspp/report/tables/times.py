"""The computation-time table: processor seconds of three trials over all tasks."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from cdspp.analysis.fit_records import TIMED_TRIALS
from cdspp.core.wording import DASH, counted, marks
from cdspp.report.tables.table import Cell, Line, Table

_CAPTION = (
    f"Processor seconds of {TIMED_TRIALS} trials, summed over the tasks of a "
    f"benchmark: for each task {TIMED_TRIALS} times the mean of the trials that "
    "ran. Fits alone, without start-up and features; nothing is kept from one job to "
    "the next. Small: multiples of the reference method's time. Bold: the least of its "
    "block, shortened runs apart. * supervised; † shortened run."
)
_PRINTED = (
    " Paper: the seconds that the paper prints, for its authors' code on their "
    "machine; a number that it prints for two benchmarks together stands at both."
)


def build_times_table(times: pd.DataFrame) -> Table:
    """Build the table ``times``: methods by benchmarks, printed seconds beside ours."""
    columns: list[tuple[str, dict[str, Cell]]] = []
    for _, group in times.groupby("benchmark", sort=False):
        title = group["title"].iloc[0]
        whole = group[~group["shortened"].astype(bool)]
        least = whole.groupby("supervised")["seconds"].min().to_dict()
        own, paper = {}, {}
        for time in group.itertuples():
            bold = not time.shortened and time.seconds == least[time.supervised]
            own[time.row] = _cell(time.seconds, time.ratio, *_caveats(time), bold=bold)
            paper[time.row] = _cell(time.paper_seconds, time.paper_ratio)
        columns.append((f"{title}, s", own))
        if group["paper_seconds"].notna().any():
            columns.append((f"{title}, paper, s", paper))
    printed = bool(times["paper_seconds"].notna().any())
    # The methods of all benchmarks, the supervised ones first.
    rows = times.drop_duplicates("row").copy()
    rows["shortened"] = rows["row"].isin(times[times["shortened"].astype(bool)]["row"])
    rows = rows.sort_values("supervised", ascending=False, kind="stable")
    lines = []
    for time in rows.itertuples():
        signs = marks(supervised=time.supervised, shortened=time.shortened)
        name = Cell(time.display_name + signs, name=True)
        cells = [found.get(time.row, Cell(DASH)) for _, found in columns]
        block = "Supervised" if time.supervised else "Semi-supervised"
        lines.append(Line((name, *cells), block))
    return Table(
        name="times",
        title="Computation time",
        caption=_CAPTION + (_PRINTED if printed else ""),
        columns=("Method", *(heading for heading, _ in columns)),
        lines=tuple(lines),
        data=times.drop(columns="supervised"),
        headings=True,
    )


def _caveats(time: Any) -> list[str]:
    found = []
    if 0 < time.tasks < time.n_tasks:
        found.append(f"{time.tasks} of {time.n_tasks} tasks")
    if 0 < time.trials < TIMED_TRIALS:
        found.append(counted(time.trials, "trial"))
    return [*found, f"{time.failed} failed"] if time.failed else found


def _cell(seconds: float, ratio: float, *caveats: str, bold: bool = False) -> Cell:
    known = math.isfinite(ratio) and ratio != 1.0  # the reference itself
    note = ", ".join([f"{_text(ratio)} ×", *caveats] if known else caveats)
    value = seconds if math.isfinite(seconds) else math.nan
    return Cell(_text(seconds), bold=bold, note=note, value=value)


def _text(value: float) -> str:
    """Write seconds, or a multiple, with two or three figures."""
    if math.isnan(value):
        return DASH
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"
