"""The paper's accuracies, cell by cell, and ours beside them with a verdict.

A benchmark of a study whose layout names a printed one (key `printed`) is compared with
it cell by cell; every other cell says why there is nothing to compare.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml

from cdspp.analysis.summary import Floats, Row, Summary, mean_sd
from cdspp.core.errors import DataError
from cdspp.core.names import AVERAGE

__all__ = [
    "AGREES",
    "CLOSE",
    "DIFFERS",
    "NOT_RUN",
    "PRINTED_TRIALS",
    "RULE",
    "Printed",
    "PrintedBenchmark",
    "PrintedCell",
    "compare_printed",
    "printed_verdict",
    "read_printed",
]

PathLike = str | os.PathLike[str]

PRINTED_TRIALS = 10
RULE = (
    "A cell agrees where both means lie within one point or within two standard errors "
    "of their difference, whichever is more; it is close within three points, and "
    "differs otherwise, all before rounding. The standard error needs both deviations: "
    "for averages, which are printed without one, the point alone counts."
)
AGREES, CLOSE, DIFFERS, NOT_RUN = "agrees", "close", "differs", "not run"
_POINT, _ERRORS, _POINTS = 0.01, 2.0, 0.03
# Printed percentages are no exact fractions: a border belongs to the inner verdict.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PrintedBenchmark:
    """A benchmark as the paper prints it.

    Attributes
    ----------
    title, table : str
        What it is, and the name of the printed table.
    needs : str
        The inputs without which it cannot be run.
    tasks : mapping of str to str
        Our name of each printed task; ``average`` for the average over all of them.
    """

    title: str
    table: str
    needs: str
    tasks: Mapping[str, str]


@dataclass(frozen=True)
class PrintedCell:
    """One printed accuracy and, where there is one, ours; fractions, NaN where missing.

    Attributes
    ----------
    benchmark, method, task : str
        Printed benchmark, printed name of the method, our name of the task.
    supervised : bool
        Whether the paper prints the method among the supervised ones.
    mean, sd : float
        As printed, over `PRINTED_TRIALS` trials.
    ours, our_sd : float
        Mean and deviation over our trials.
    our_trials : int
        Their number.
    shortened : bool
        Whether our runs were shortened.
    difference : float
        Ours minus the printed mean.
    verdict : {'agrees', 'close', 'differs', 'not run'}
        By `RULE`.
    reason : str
        Why there is no number of ours; empty where there is one.
    """

    benchmark: str
    method: str
    task: str
    supervised: bool
    mean: float
    sd: float
    ours: float = math.nan
    our_sd: float = math.nan
    our_trials: int = 0
    shortened: bool = False
    difference: float = math.nan
    verdict: str = NOT_RUN
    reason: str = ""


@dataclass(frozen=True)
class Printed:
    """What the paper prints: its benchmarks by name, and all their cells in order."""

    benchmarks: Mapping[str, PrintedBenchmark]
    cells: tuple[PrintedCell, ...]


def read_printed(folder: PathLike) -> Printed:
    """Read the printed accuracies.

    Parameters
    ----------
    folder : path
        Holds ``accuracy.csv`` (percent, as printed) and ``benchmarks.yaml``, which
        tells what each printed benchmark is and needs and gives our names of its tasks.

    Raises
    ------
    DataError
        A cell is of a benchmark or task that ``benchmarks.yaml`` does not know.
    """
    entries = yaml.safe_load(Path(folder, "benchmarks.yaml").read_text("utf-8"))
    benchmarks = {
        name: PrintedBenchmark(
            title=entry["title"],
            table=entry["table"],
            needs=entry["needs"],
            tasks=entry["tasks"],
        )
        for name, entry in entries.items()
    }
    path = Path(folder, "accuracy.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        cells = tuple(_parse(row, benchmarks, path) for row in csv.DictReader(stream))
    return Printed(benchmarks, cells)


def _parse(
    record: Mapping[str, str], known: Mapping[str, PrintedBenchmark], path: Path
) -> PrintedCell:
    benchmark, task = record["benchmark"], record["task"]
    if benchmark not in known or task not in known[benchmark].tasks:
        raise DataError(
            f"{path}: expected benchmarks and tasks of benchmarks.yaml, got "
            f"{benchmark}, {task}. Name it there."
        )
    return PrintedCell(
        benchmark=benchmark,
        method=record["method"],
        task=known[benchmark].tasks[task],
        supervised=record["setting"] == "supervised",
        mean=float(record["mean_percent"]) / 100,
        sd=float(record["std_percent"] or "nan") / 100,
    )


def printed_verdict(
    mean: float, sd: float, ours: float, our_sd: float, our_trials: int
) -> str:
    """Compare a printed mean with ours by `RULE`.

    Parameters
    ----------
    mean, sd : float
        As printed, as fractions; `sd` NaN where none is printed.
    ours, our_sd : float
        Ours; `ours` NaN where there is none, `our_sd` NaN for a single trial.
    our_trials : int
        Number of trials behind ours.

    Returns
    -------
    {'agrees', 'close', 'differs', 'not run'}

    Examples
    --------
    >>> printed_verdict(0.67, 0.024, 0.652, 0.02, 10)
    'agrees'
    >>> printed_verdict(0.67, float("nan"), 0.65, 0.02, 10)
    'close'
    """
    if math.isnan(ours):
        return NOT_RUN
    error = 0.0
    if not math.isnan(sd + our_sd):
        error = math.sqrt(sd**2 / PRINTED_TRIALS + our_sd**2 / our_trials)
    distance = abs(ours - mean) - _ROUNDING
    if distance <= max(_POINT, _ERRORS * error):
        return AGREES
    return CLOSE if distance <= _POINTS else DIFFERS


def compare_printed(
    printed: Printed, summaries: Sequence[Summary]
) -> list[PrintedCell]:
    """Put our numbers beside the printed ones.

    Parameters
    ----------
    printed : Printed
        What the paper prints.
    summaries : sequence of Summary
        Scores of a study's benchmarks; `printed` in a layout names the printed one.

    Returns
    -------
    list of PrintedCell
        Every printed cell, in order, with our number or the reason for its absence.

    Raises
    ------
    DataError
        A layout names a benchmark that is not printed, or two name the same.
    """
    reproduced: dict[str, Summary] = {}
    for summary in summaries:
        name = summary.layout.get("printed")
        if name is None:
            continue
        if name not in printed.benchmarks or name in reproduced:
            known = ", ".join(printed.benchmarks)
            raise DataError(
                f"benchmark {summary.layout['benchmark']}: `printed` must name one of "
                f"{known}, and each only once, got {name}."
            )
        reproduced[name] = summary
    return [
        _compare(cell, printed.benchmarks[cell.benchmark], reproduced)
        for cell in printed.cells
    ]


def _compare(
    cell: PrintedCell, facts: PrintedBenchmark, reproduced: Mapping[str, Summary]
) -> PrintedCell:
    if (summary := reproduced.get(cell.benchmark)) is None:
        return replace(
            cell, reason=f"inputs not available to this study: {facts.needs}"
        )
    rows = {
        row.display_name: i
        for i, row in enumerate(summary.rows)
        if row.kind == "method"
    }
    if cell.method not in rows:
        return replace(cell, reason="method is not in this study")
    place = rows[cell.method]
    values = _values(summary, place, cell.task, set(facts.tasks.values()) - {AVERAGE})
    if values is None:
        tasks = "some of its tasks are" if cell.task == AVERAGE else "task is"
        return replace(cell, reason=f"{tasks} not in this study")
    return _beside(cell, summary.rows[place], values)


def _values(
    summary: Summary, row: int, task: str, printed_tasks: set[str]
) -> Floats | None:
    """Return our values by trial, None where the study has no such task."""
    if task != AVERAGE:
        tasks = summary.tasks
        return summary.accuracy[row, tasks.index(task)] if task in tasks else None
    # An average over other tasks would be another quantity.
    if set(summary.tasks) != printed_tasks:
        return None
    average: Floats = summary.accuracy[row].mean(axis=0)
    return average


def _beside(cell: PrintedCell, row: Row, values: Floats) -> PrintedCell:
    mean, sd = mean_sd(values)
    trials = int(np.isfinite(values).sum())
    return replace(
        cell,
        ours=mean,
        our_sd=sd,
        our_trials=trials,
        shortened=row.shortened,
        difference=mean - cell.mean,
        verdict=printed_verdict(cell.mean, cell.sd, mean, sd, trials),
        reason="" if trials else "no trial that counts",
    )
