"""The computation-time table: processor seconds of three trials over all tasks."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from cdspp.analysis.fit_records import FitRecord, read_fit_records
from cdspp.analysis.summary import Layout, Row, method_rows
from cdspp.core.errors import DataError
from cdspp.core.names import MAIN
from cdspp.core.wording import DASH, counted
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.table import Cell, Line, Table

__all__ = [
    "TIMED_TRIALS",
    "PaperTimes",
    "Time",
    "build_times_table",
    "measure_times",
    "paper_seconds",
    "paper_times",
    "read_times",
    "times_tables",
    "write_times",
]

PathLike = str | os.PathLike[str]
PaperTimes = Mapping[str, Mapping[str, float]]

TIMED_TRIALS = 3
_FIELDS = (
    "benchmark",
    "title",
    "row",
    "printed",
    "shortened",
    "seconds",
    "ratio",
    "trials",
    "failed",
    "tasks",
    "n_tasks",
    "paper_seconds",
    "paper_ratio",
)
_CAPTION = (
    f"Processor seconds of {TIMED_TRIALS} trials, summed over the tasks of a "
    f"benchmark: for each task {TIMED_TRIALS} times the mean of its first "
    f"{TIMED_TRIALS} trials, or of those that ran. Fits alone, without start-up and "
    "features; nothing is kept from one job to the next. Small: multiples of the "
    "reference method's time. Bold: the least of its block, shortened runs apart. "
    "* supervised; † shortened run."
)
_PRINTED = (
    " Paper: the seconds that the paper prints, for its authors' code on their "
    "machine; a number that it prints for two benchmarks together stands at both."
)


@dataclass(frozen=True)
class Time:
    """What a method takes on a benchmark, and what the paper says it takes.

    Attributes
    ----------
    benchmark, title : str
        Name and title of the benchmark.
    row : Row
        The method.
    seconds : float
        Processor seconds of three trials over all tasks; NaN unless every task ran.
    ratio : float
        Multiple of what the reference method takes.
    trials : int
        Trials that were measured in every task that ran, three at most.
    failed : int
        Trials that failed, over all tasks; they are not measured.
    tasks, n_tasks : int
        Tasks with a measured trial, and all of them.
    paper_seconds, paper_ratio : float
        The same as printed in the paper; NaN where nothing is printed.
    """

    benchmark: str
    title: str
    row: Row
    seconds: float
    ratio: float
    trials: int
    failed: int
    tasks: int
    n_tasks: int
    paper_seconds: float = math.nan
    paper_ratio: float = math.nan

    @property
    def caveats(self) -> list[str]:
        """What is missing, in a few words each."""
        found = []
        if 0 < self.tasks < self.n_tasks:
            found.append(f"{self.tasks} of {self.n_tasks} tasks")
        if 0 < self.trials < TIMED_TRIALS:
            found.append(counted(self.trials, "trial"))
        if self.failed:
            found.append(f"{self.failed} failed")
        return found


def times_tables(layouts: Sequence[Layout]) -> list[str]:
    """Names of the tables of `write_times`."""
    return ["times"] if layouts else []


def write_times(
    *,
    records: Sequence[PathLike],
    layouts: Sequence[Layout],
    paper: PathLike,
    outputs: Sequence[PathLike],
) -> None:
    """Write the computation-time table.

    Parameters
    ----------
    records : sequence of path
        Records of fits, ``.../<benchmark>/main/<task>/<method>/<block>.json``; those of
        other settings are ignored.
    layouts : sequence of mapping
        The benchmarks.
    paper : path
        Folder with the paper's ``computation_time.csv`` and ``benchmarks.yaml``.
    outputs : sequence of path
        Files to write; the suffix (csv, md, tex) names the form.
    """
    times = read_times(records, layouts, paper_times(paper, layouts))
    write_tables([build_times_table(times)], outputs)


def read_times(
    records: Sequence[PathLike],
    layouts: Sequence[Layout],
    paper: PaperTimes | None = None,
) -> list[Time]:
    """Read the fit records and measure; see `measure_times`."""
    return measure_times(read_fit_records(records), layouts, paper)


def measure_times(
    records: Sequence[FitRecord],
    layouts: Sequence[Layout],
    paper: PaperTimes | None = None,
) -> list[Time]:
    """Return the time of every method on every benchmark, in table order.

    Parameters
    ----------
    records : sequence of FitRecord
        The fits; those of the setting ``main`` count.
    layouts : sequence of mapping
        The benchmarks.
    paper : mapping, optional
        What `paper_times` returned.
    """
    cells: dict[tuple[str, str, str], list[FitRecord]] = {}
    for record in records:
        if record.setting == MAIN:
            cell = (record.benchmark, record.method, record.task)
            cells.setdefault(cell, []).append(record)
    return [time for layout in layouts for time in _of(layout, cells, paper or {})]


def paper_times(folder: PathLike, layouts: Sequence[Layout]) -> PaperTimes:
    """Return the printed seconds, by benchmark of ours and printed name of a method.

    Parameters
    ----------
    folder : path
        Holds ``computation_time.csv``, and ``benchmarks.yaml``, where `time` names the
        rows of the former.
    layouts : sequence of mapping
        The benchmarks; `printed` names the paper's benchmark, where there is one.
    """
    seconds = paper_seconds(Path(folder, "computation_time.csv"))
    known = yaml.safe_load(Path(folder, "benchmarks.yaml").read_text(encoding="utf-8"))
    return {
        layout["benchmark"]: seconds[known[layout["printed"]]["time"]]
        for layout in layouts
        if layout.get("printed")
    }


def paper_seconds(path: PathLike) -> dict[str, dict[str, float]]:
    """Read the computation times of the paper: seconds by benchmark and method.

    Raises
    ------
    DataError
        The file is missing or has other columns.
    """
    times: dict[str, dict[str, float]] = {}
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                of_benchmark = times.setdefault(row["benchmark"], {})
                of_benchmark[row["method"]] = float(row["seconds_all_tasks"])
    except (OSError, KeyError, ValueError) as error:
        message = f"{path}: no table of computation times ({error!r})"
        raise DataError(f"{message}; columns method, benchmark, seconds.") from error
    return times


def build_times_table(times: Sequence[Time]) -> Table:
    """Build the table ``times``: methods by benchmarks, printed seconds beside ours."""
    groups: dict[str, dict[str, Time]] = {}
    for time in times:
        groups.setdefault(time.benchmark, {})[time.row.key] = time
    columns: dict[str, Mapping[str, Cell]] = {}
    for group in groups.values():
        title = next(iter(group.values())).title
        columns[f"{title}, s"] = _own_cells(group)
        if not all(math.isnan(time.paper_seconds) for time in group.values()):
            columns[f"{title}, paper, s"] = {
                key: _cell(time.paper_seconds, time.paper_ratio)
                for key, time in group.items()
            }
    printed = any(not math.isnan(time.paper_seconds) for time in times)
    return Table(
        name="times",
        title="Computation time",
        caption=_CAPTION + (_PRINTED if printed else ""),
        columns=("Method", *columns),
        lines=tuple(
            Line(
                (
                    Cell(row.display_name + row.marks, name=True),
                    *(cells.get(row.key, Cell(DASH)) for cells in columns.values()),
                ),
                "Supervised" if row.supervised else "Semi-supervised",
            )
            for row in _rows(times)
        ),
        fields=_FIELDS,
        records=[_record(time) for time in times],
        headings=True,
    )


def _of(
    layout: Layout,
    cells: Mapping[tuple[str, str, str], Sequence[FitRecord]],
    paper: PaperTimes,
) -> list[Time]:
    benchmark, tasks = layout["benchmark"], layout["tasks"]
    rows = {row.key: row for row in method_rows(layout)}
    runs = {
        key: [_run(cells.get((benchmark, key, task), ())) for task in tasks]
        for key in rows
    }
    seconds = {key: _total([spent for spent, _ in run]) for key, run in runs.items()}
    printed = {
        key: paper.get(benchmark, {}).get(row.display_name, math.nan)
        for key, row in rows.items()
    }
    reference = str(layout.get("reference"))
    return [
        Time(
            benchmark=benchmark,
            title=str(layout.get("title", benchmark)),
            row=row,
            seconds=seconds[key],
            ratio=seconds[key] / (seconds.get(reference) or math.nan),
            trials=min((len(spent) for spent, _ in runs[key] if spent), default=0),
            failed=sum(failed for _, failed in runs[key]),
            tasks=sum(bool(spent) for spent, _ in runs[key]),
            n_tasks=len(tasks),
            paper_seconds=printed[key],
            paper_ratio=printed[key] / (printed.get(reference) or math.nan),
        )
        for key, row in rows.items()
    ]


def _run(records: Sequence[FitRecord]) -> tuple[list[float], int]:
    """Return the seconds of a task's first good trials, and how many trials failed."""
    trials = [trial for record in records for trial in record.trials]
    good = {t["trial"]: float(t["cpu_seconds"]) for t in trials if t["status"] == "ok"}
    failed = sum(trial["status"] != "ok" for trial in trials)
    return [good[trial] for trial in sorted(good)[:TIMED_TRIALS]], failed


def _total(tasks: Sequence[Sequence[float]]) -> float:
    """Add up three trials of every task; NaN where a task has no trial."""
    if not tasks or not all(tasks):
        return math.nan
    return sum(TIMED_TRIALS * sum(spent) / len(spent) for spent in tasks)


def _rows(times: Sequence[Time]) -> list[Row]:
    """Return the methods of all benchmarks, the supervised ones first."""
    rows: dict[str, Row] = {}
    for time in times:
        if time.row.shortened or time.row.key not in rows:
            rows[time.row.key] = time.row
    return sorted(rows.values(), key=lambda row: not row.supervised)


def _own_cells(group: Mapping[str, Time]) -> dict[str, Cell]:
    least = {
        supervised: min(
            (
                time.seconds
                for time in group.values()
                if time.row.supervised == supervised
                and not time.row.shortened
                and math.isfinite(time.seconds)
            ),
            default=math.nan,
        )
        for supervised in (True, False)
    }
    return {
        key: _cell(
            time.seconds,
            time.ratio,
            *time.caveats,
            bold=not time.row.shortened and time.seconds == least[time.row.supervised],
        )
        for key, time in group.items()
    }


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


def _record(time: Time) -> dict[str, object]:
    return {
        **{name: getattr(time, name) for name in _FIELDS if hasattr(time, name)},
        "row": time.row.key,
        "printed": time.row.display_name,
        "shortened": time.row.shortened,
    }
