"""From scores to numbers: rows by tasks by trials, and their means.

A *row* is what a table shows in one line: a method of the main setting, a control (the
same method on a placebo source, say), or a variant (a method in any other setting).
Trials are the unit of all statistics here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cdspp.core.artifacts import SCORE_COLUMNS, read_rows
from cdspp.core.names import MAIN
from cdspp.core.wording import marks

__all__ = [
    "Floats",
    "Layout",
    "Row",
    "Summary",
    "mean_sd",
    "method_rows",
    "present",
    "read_summary",
    "summarise",
]

Layout = Mapping[str, Any]
Floats = NDArray[np.float64]


def mean_sd(values: ArrayLike) -> tuple[float, float]:
    """Mean and standard deviation over trials, missing trials (NaN) left out.

    The deviation divides by n - 1, as MATLAB's ``std`` and so the paper's tables do.

    Parameters
    ----------
    values : array-like of shape (n_trials,)
        One number a trial.

    Returns
    -------
    mean, sd : float
        NaN where undefined: the mean of no trial, the deviation of fewer than two.

    Examples
    --------
    >>> mean_sd([1.0, 2.0, 3.0, float("nan")])
    (2.0, 1.0)
    """
    found = present(values)
    mean = float(found.mean()) if found.size else float("nan")
    sd = float(found.std(ddof=1)) if found.size > 1 else float("nan")
    return mean, sd


def present(values: ArrayLike) -> Floats:
    """Return the numbers that are there, as a vector: NaN and infinities left out."""
    array = np.asarray(values, dtype=np.float64)
    return array[np.isfinite(array)]


@dataclass(frozen=True)
class Row:
    """One line of a table: where its scores stand and how it is printed.

    Attributes
    ----------
    key : str
        Identifier within the layout: a method's id or a control's key.
    printed : str
        Name as printed; what follows the first underscore is a subscript.
    setting, method : str
        The cells of the score file that belong to it.
    kind : {'method', 'control', 'variant'}
        Which block it stands in; methods alone take part in bold.
    supervised, shortened : bool
        Supervised methods have a block of their own; shortened runs are out of bold.
    trials : int
        Number of trials the study asks for.
    """

    key: str
    printed: str
    setting: str
    method: str
    kind: str
    supervised: bool
    shortened: bool
    trials: int

    @property
    def marks(self) -> str:
        """What follows the printed name: supervised, shortened."""
        return marks(supervised=self.supervised, shortened=self.shortened)

    @property
    def control(self) -> bool:
        """Whether the row answers what the source is good for."""
        return self.kind == "control"


@dataclass(frozen=True, eq=False)
class Summary:
    """Scores of one benchmark, dense; NaN where a cell is missing or failed.

    Attributes
    ----------
    layout : mapping
        The benchmark's layout, as given.
    rows : tuple of Row
        Methods in table order, then controls, then variants; a method that is a
        control as well stands with the controls only.
    tasks : tuple of str
        Tasks in table order.
    iterations : ndarray of shape (n_iterations,)
        The iterations that occur anywhere.
    accuracy, class_accuracy : ndarray of shape (n_rows, n_tasks, n_trials)
        At the last iteration; `class_accuracy` is the mean over classes.
    curves : ndarray of shape (n_rows, n_tasks, n_trials, n_iterations)
        Accuracy at every iteration.
    """

    layout: Layout
    rows: tuple[Row, ...]
    tasks: tuple[str, ...]
    iterations: NDArray[np.int64]
    accuracy: Floats
    class_accuracy: Floats
    curves: Floats

    def find(self, key: str | None) -> int | None:
        """Position of the row with this key, None where there is none."""
        keys = [row.key for row in self.rows]
        return keys.index(key) if key in keys else None

    def with_average(self, values: Floats) -> Floats:
        """Append the average over tasks, per trial, where there are several tasks.

        A trial counts only where every task has it: an average over fewer tasks
        would be a different quantity.
        """
        if len(self.tasks) < 2:
            return values
        return np.concatenate([values, values.mean(axis=1, keepdims=True)], axis=1)

    def of_all_tasks(self) -> Summary:
        """Leave out settings that run some of the tasks only."""
        kept = [
            i
            for i, row in enumerate(self.rows)
            if row.kind != "variant" or not np.isnan(self.accuracy[i]).all(axis=1).any()
        ]
        return replace(
            self,
            rows=tuple(self.rows[i] for i in kept),
            accuracy=self.accuracy[kept],
            class_accuracy=self.class_accuracy[kept],
            curves=self.curves[kept],
        )

    def iterative(self) -> list[int]:
        """Positions of the rows with more than one iteration somewhere."""
        seen = np.isfinite(self.curves).sum(axis=3)
        return [row for row in range(len(self.rows)) if (seen[row] > 1).any()]


def read_summary(scores: str | os.PathLike[str], layout: Layout) -> Summary:
    """Read a score file and arrange it by `layout`; see `summarise`."""
    return summarise(read_rows(scores, SCORE_COLUMNS), layout)


def summarise(scores: Mapping[str, NDArray[Any]], layout: Layout) -> Summary:
    """Arrange score rows as dense arrays in the order of `layout`.

    Parameters
    ----------
    scores : mapping of str to ndarray
        The columns of a score file. Cells that `layout` does not name are ignored.
    layout : mapping
        The benchmark: tasks, methods, controls.

    Returns
    -------
    Summary
        With NaN for every cell that is missing or failed.
    """
    rows, tasks = _rows(layout), tuple(layout.get("tasks", ()))
    row, task = _positions(scores, rows, tasks)
    good = (np.asarray(scores["status"]) == "ok") & np.isfinite(scores["accuracy"])
    used = np.flatnonzero((row >= 0) & (task >= 0) & good)
    used = used[np.argsort(scores["iteration"][used], kind="stable")]
    trial = np.asarray(scores["trial"], dtype=np.int64)[used] - 1
    iterations, step = np.unique(scores["iteration"][used], return_inverse=True)
    n_trials = max([1, *(entry.trials for entry in rows), *(trial + 1).tolist()])
    shape = (len(rows), len(tasks), n_trials)
    accuracy, class_accuracy = np.full(shape, np.nan), np.full(shape, np.nan)
    curves = np.full((*shape, len(iterations)), np.nan)
    # Sorted by iteration: the last assignment to a cell is its last iteration.
    cell = (row[used], task[used], trial)
    accuracy[cell] = scores["accuracy"][used]
    class_accuracy[cell] = scores["mean_class_accuracy"][used]
    curves[(*cell, step)] = scores["accuracy"][used]
    return Summary(
        layout,
        rows,
        tasks,
        iterations.astype(np.int64),
        accuracy,
        class_accuracy,
        curves,
    )


def method_rows(layout: Layout) -> list[Row]:
    """Return the rows of a benchmark's methods in the main setting, in table order."""
    default = int(layout.get("trials", 1))
    return [
        _row(entry, key=entry["id"], setting=MAIN, method=entry["id"], trials=default)
        for entry in layout.get("methods", ())
    ]


def _rows(layout: Layout) -> tuple[Row, ...]:
    default = int(layout.get("trials", 1))
    methods = method_rows(layout)
    trials = {row.method: row.trials for row in methods}
    others = [
        _row(
            entry,
            key=entry["key"],
            setting=entry["setting"],
            method=entry["method"],
            kind=kind,
            trials=trials.get(entry["method"], default),
        )
        for kind, part in (("control", "controls"), ("variant", "variants"))
        for entry in layout.get(part, ())
    ]
    claimed = {(row.setting, row.method) for row in others}
    return (
        *(row for row in methods if (row.setting, row.method) not in claimed),
        *others,
    )


def _row(
    entry: Mapping[str, Any],
    *,
    key: str,
    setting: str,
    method: str,
    trials: int,
    kind: str = "method",
) -> Row:
    return Row(
        key=key,
        printed=str(entry.get("printed", key)).rstrip(" *"),
        setting=setting,
        method=method,
        kind=kind,
        supervised=bool(entry.get("supervised", False)),
        shortened=bool(entry.get("shortened", False)),
        trials=int(entry.get("trials", trials)),
    )


def _positions(
    scores: Mapping[str, NDArray[Any]], rows: Sequence[Row], tasks: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    places = {(row.setting, row.method): place for place, row in enumerate(rows)}
    row = [
        places.get(cell, -1)
        for cell in zip(scores["setting"], scores["method"], strict=True)
    ]
    order = {task: place for place, task in enumerate(tasks)}
    task = [order.get(name, -1) for name in scores["task"]]
    return np.asarray(row, dtype=np.int64), np.asarray(task, dtype=np.int64)
