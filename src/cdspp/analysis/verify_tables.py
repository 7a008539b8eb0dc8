"""Whether the numbers of tables are those of the scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.analysis.summary import Floats, accuracy_of, mean_sd, n_present, with_average
from cdspp.core.errors import DataError
from cdspp.core.names import AVERAGE, MAIN, REFERENCE
from cdspp.stages.artifacts import read_csv
from cdspp.study.plan import Row

__all__ = ["table_faults"]

TYPES = {
    "benchmark": "str",
    "task": "str",
    "row": "str",
    "mean": "float64",
    "sd": "float64",
    "trials": "int64",
    "expected_trials": "int64",
}
# Tables of a benchmark, with the column of the scores that they show.
SHOWN = {"accuracy": "accuracy", "class-accuracy": "mean_class_accuracy"}
OVERVIEW = "overview"
TOLERANCE = 1e-9  # of fractions: sums in another order


def table_faults(
    folder: Path, scores: Mapping[str, pd.DataFrame]
) -> tuple[list[Path], list[str]]:
    """Return the tables that are there and say where they differ from the scores.

    Parameters
    ----------
    folder : Path
        Tables as CSV.
    scores : mapping of str to DataFrame
        Scores by benchmark.

    Returns
    -------
    compared : list of Path
        The tables.
    faults : list of str
        A sentence each.
    """
    files = {
        folder / f"{stem}_{name}.csv": {name: found.assign(accuracy=found[column])}
        for name, found in scores.items()
        for stem, column in SHOWN.items()
    }
    files[folder / f"{OVERVIEW}.csv"] = dict(scores)
    there = [path for path in files if path.is_file()]
    tables: dict[Path, pd.DataFrame] = {}
    faults: list[str] = []
    for path in there:
        try:
            tables[path] = read_csv(path, TYPES)
        except DataError as error:
            faults.append(str(error))
    for path, table in tables.items():
        for benchmark, found in files[path].items():
            shown = table[table["benchmark"] == benchmark]
            of_tasks = tables.get(folder / f"accuracy_{benchmark}.csv")
            faults += _faults(path, shown, found, _tasks(of_tasks, found))
    return there, faults


def _tasks(table: pd.DataFrame | None, scores: pd.DataFrame) -> tuple[str, ...]:
    """Return the tasks of a benchmark, those without any score among them."""
    names = [*scores.loc[scores["setting"] == MAIN, "task"]]
    if table is not None:
        names += [*table["task"]]
    return tuple(name for name in dict.fromkeys(names) if name != AVERAGE)


def _faults(
    path: Path, shown: pd.DataFrame, scores: pd.DataFrame, tasks: tuple[str, ...]
) -> Iterator[str]:
    """Yield what is wrong with the lines of a benchmark in a table."""
    again = "Delete it and run the study again."
    if (twice := shown.duplicated(["task", "row"])).any():
        row = shown[twice].iloc[0]
        yield f"{path}: {row['row']}, {row['task']} stands there twice. {again}"
        return
    ran = set(scores.loc[scores["setting"] == MAIN, "method"])
    for method in sorted(ran - set(shown["row"])):
        yield f"{path}: {method} has scores, but no line. {again}"
    values = _values(shown, scores, tasks)
    for line in shown.to_dict("records"):
        by_trial = values.get((line["row"], line["task"]), np.empty(0))
        mean, sd = mean_sd(by_trial)
        numbers = {"mean": mean, "sd": sd, "trials": n_present(by_trial)}
        for name, number in numbers.items():
            if not _equal(line[name], number):
                where = f"{path}: {line['benchmark']}, {line['task']}, {line['row']}"
                yield f"{where}: {name} {line[name]}, but scores give {number}. {again}"


def _values(
    shown: pd.DataFrame, scores: pd.DataFrame, tasks: tuple[str, ...]
) -> dict[tuple[str, str], Floats]:
    """Return the accuracies by trial behind each line of a table."""
    asked = shown.drop_duplicates("row").set_index("row")["expected_trials"]
    rows = [_row(str(key), int(number), scores) for key, number in asked.items()]
    most = max((row.trials_asked for row in rows), default=0)
    found = accuracy_of(scores, rows, tasks, most)
    named, padded = with_average(tasks, found)
    return {
        (row.key, task): padded[i, place, : row.trials_asked]
        for i, row in enumerate(rows)
        for place, task in enumerate(named)
    }


def _row(key: str, trials: int, scores: pd.DataFrame) -> Row:
    """Return the row of a table by its key, as `cdspp.study.plan` names them."""
    method, _, setting = key.partition(", ")
    if not setting:
        setting = MAIN
        if method not in set(scores.loc[scores["setting"] == MAIN, "method"]):
            method, setting = REFERENCE, key
    return Row(key, key, setting, method, trials)


def _equal(shown: Any, number: float) -> bool:
    if math.isnan(shown) or math.isnan(number):
        return math.isnan(shown) and math.isnan(number)
    return math.isclose(shown, number, rel_tol=0, abs_tol=TOLERANCE)
