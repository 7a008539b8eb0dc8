"""Accuracy against one value: labelled target samples, or an option of the methods.

A *curve* is a set of settings that differ in one value, over some tasks and trials of a
benchmark; where the value is that of the main run, its scores are the main run's own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.analysis.summary import Floats, Layout, Row, mean_sd, summarise
from cdspp.core.artifacts import SCORE_COLUMNS, read_rows
from cdspp.core.names import AVERAGE, LABELS, MAIN
from cdspp.core.wording import counted, task_title
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.grid import Column
from cdspp.report.tables.table import Cell, Line, Table

__all__ = [
    "Curve",
    "build_curve_tables",
    "build_curves",
    "curve_tables",
    "parameter_title",
    "read_curves",
    "value_text",
    "write_curve_tables",
]

PathLike = str | os.PathLike[str]

_TITLES = {
    LABELS: "labelled target samples per class",
    "alpha": "weight of the regulariser, alpha",
    "n_components": "dimension of the subspace, d",
    "max_iter": "number of rounds, T",
}
_NOTES = {
    "n_components": (
        "CDSPP's closed form has no direction beyond the number of classes "
        "({n_classes}): for larger d the curve is flat by construction."
    ),
    "max_iter": (
        "Each T is a fit of its own: its round k + 1 rests on the share k / T of the "
        "pseudo-labels."
    ),
}
_FIELDS = (
    "benchmark",
    "curve",
    "parameter",
    "task",
    "row",
    "printed",
    "value",
    "mean",
    "sd",
    "trials",
)


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores of some methods along one value.

    Attributes
    ----------
    identifier, parameter : str
        Name of the curve, and what varies: ``labels`` or an option of the methods.
    values : tuple of float
        The values, ascending.
    tasks : tuple of str
        Tasks in table order.
    rows : tuple of Row
        The methods; `key` is a method's identifier, `trials` its trials of the curve.
    accuracy : ndarray of shape (n_rows, n_tasks, n_values, n_trials)
        At the last iteration; NaN where a cell is missing, failed or dropped.
    dropped : tuple of (float, str)
        Values and tasks that were left out, as no test sample of some class remained.
    main : float or None
        The value of the main run, where it is one of `values`.
    n_classes : int
        Number of classes.
    """

    identifier: str
    parameter: str
    values: tuple[float, ...]
    tasks: tuple[str, ...]
    rows: tuple[Row, ...]
    accuracy: Floats
    dropped: tuple[tuple[float, str], ...]
    main: float | None
    n_classes: int

    @property
    def trials(self) -> int:
        """Number of trials of a complete row."""
        return int(self.accuracy.shape[3])

    def with_average(self) -> tuple[tuple[str, ...], Floats]:
        """Return tasks and accuracy, with the average where there are several tasks.

        As in every average, a trial counts only where all tasks have it; so there is
        none at a value that was dropped for a task.
        """
        if len(self.tasks) < 2:
            return self.tasks, self.accuracy
        average = self.accuracy.mean(axis=1, keepdims=True)
        return (*self.tasks, AVERAGE), np.append(self.accuracy, average, axis=1)


def read_curves(scores: PathLike, layout: Layout) -> list[Curve]:
    """Read a score file and arrange its curves; see `build_curves`."""
    return build_curves(read_rows(scores, SCORE_COLUMNS), layout)


def build_curves(scores: Mapping[str, NDArray[Any]], layout: Layout) -> list[Curve]:
    """Arrange score rows by the curves of `layout`.

    Parameters
    ----------
    scores : mapping of str to ndarray
        The columns of a score file.
    layout : mapping
        The benchmark; without ``curves`` there are none.
    """
    return [_curve(scores, entry) for entry in layout.get("curves") or ()]


def _curve(scores: Mapping[str, NDArray[Any]], entry: Mapping[str, Any]) -> Curve:
    points = entry["points"]
    rows, accuracy = _arrange(scores, entry)
    main = [float(point["value"]) for point in points if point["setting"] == MAIN]
    return Curve(
        identifier=entry["id"],
        parameter=entry["parameter"],
        values=tuple(float(point["value"]) for point in points),
        tasks=tuple(entry["tasks"]),
        rows=rows,
        accuracy=accuracy,
        dropped=tuple((float(d["value"]), d["task"]) for d in entry.get("dropped", ())),
        main=main[0] if main else None,
        n_classes=int(entry["n_classes"]),
    )


def _arrange(
    scores: Mapping[str, NDArray[Any]], entry: Mapping[str, Any]
) -> tuple[tuple[Row, ...], Floats]:
    """Return the rows of a curve and their accuracies, by task, value and trial."""
    methods, points, n_trials = entry["methods"], entry["points"], entry["trials"]
    cells = [
        {**method, "key": "", "method": method["id"], "setting": point["setting"]}
        for method in methods
        for point in points
    ]
    summary = summarise(scores, {"tasks": entry["tasks"], "variants": cells})
    found = summary.accuracy[..., :n_trials]
    shape = (len(methods), len(points), len(summary.tasks), n_trials)
    accuracy = np.full(shape, np.nan)
    accuracy[..., : found.shape[-1]] = found.reshape(*shape[:3], found.shape[-1])
    rows = tuple(
        replace(row, key=row.method, setting=entry["id"], kind="method")
        for row in summary.rows[:: len(points)]
    )
    for place, row in enumerate(rows):
        accuracy[place, ..., row.trials :] = np.nan
    for place, point in enumerate(points):
        left_out = [task not in point["tasks"] for task in summary.tasks]
        accuracy[:, place, left_out] = np.nan
    return rows, accuracy.swapaxes(1, 2)


def curve_tables(layout: Layout) -> list[str]:
    """Names of the tables of a benchmark's curves, known before any score exists."""
    return [_name(entry["id"], layout) for entry in layout.get("curves") or ()]


def write_curve_tables(
    *, scores: PathLike, layout: Layout, outputs: Sequence[PathLike]
) -> None:
    """Write tables of a benchmark's curves.

    Parameters
    ----------
    scores : path
        The benchmark's score file.
    layout : mapping
        The benchmark.
    outputs : sequence of path
        Files to write: the stem names a table of `curve_tables`, the suffix
        (csv, md, tex) its form.
    """
    write_tables(build_curve_tables(read_curves(scores, layout), layout), outputs)


def build_curve_tables(curves: Sequence[Curve], layout: Layout) -> list[Table]:
    """Build a table a curve, in the order of `curve_tables`."""
    return [_table(curve, layout) for curve in curves]


def parameter_title(parameter: str) -> str:
    """Say in words what varies along a curve.

    Examples
    --------
    >>> parameter_title("alpha")
    'weight of the regulariser, alpha'
    """
    return _TITLES.get(parameter, parameter.replace("_", " "))


def value_text(value: float) -> str:
    """Write a value as short as it goes.

    Examples
    --------
    >>> value_text(5.0), value_text(0.1)
    ('5', '0.1')
    """
    return f"{value:g}"


def _name(identifier: str, layout: Layout) -> str:
    return f"curve-{identifier}_{layout['benchmark']}"


def _table(curve: Curve, layout: Layout) -> Table:
    tasks, accuracy = curve.with_average()
    lines = [
        line
        for place, task in enumerate(tasks)
        for line in _lines(curve, task, accuracy[:, place])
    ]
    title = str(layout.get("title", layout["benchmark"]))
    return Table(
        name=_name(curve.identifier, layout),
        title=f"{title}: accuracy by {parameter_title(curve.parameter)}",
        caption=_caption(curve, published=layout.get("protocol") == "published"),
        columns=("Method", "Task", *map(value_text, curve.values)),
        lines=tuple(lines),
        fields=_FIELDS,
        records=_records(curve, str(layout["benchmark"])),
        text_columns=2,
        headings=True,
    )


def _lines(curve: Curve, task: str, accuracy: Floats) -> list[Line]:
    """Return a line a method; `accuracy` of one task is by row, value and trial."""
    columns = [
        Column(
            heading=value_text(value),
            benchmark="",
            task=task,
            trials=curve.trials,
            cells={
                row.key: (row, accuracy[i, place, : row.trials])
                for i, row in enumerate(curve.rows)
            },
        )
        for place, value in enumerate(curve.values)
    ]
    best = [column.best() for column in columns]
    return [
        Line(
            (
                _method(row, curve.trials),
                Cell(task_title(task)),
                *(c.cell(row.key, top) for c, top in zip(columns, best, strict=True)),
            ),
            task_title(task),
        )
        for row in curve.rows
    ]


def _method(row: Row, trials: int) -> Cell:
    note = counted(row.trials, "trial") if row.trials < trials else ""
    return Cell(row.display_name + row.marks, note=note, name=True)


def _caption(curve: Curve, *, published: bool) -> str:
    parts = [
        "Percent, mean (standard deviation, n − 1) over "
        f"{counted(curve.trials, 'trial')}. "
        f"Columns: {parameter_title(curve.parameter)}."
    ]
    if curve.main is not None:
        splits = ", on the published splits; other counts are drawn from the seed"
        tail = splits if published and curve.parameter == LABELS else ""
        parts.append(
            f"At {value_text(curve.main)} these are the first trials of the main "
            f"run{tail}."
        )
    if len(curve.rows) > 1:
        parts.append(
            "Bold: best of a task and value among complete methods. * supervised; "
            "† shortened run."
        )
    if note := _NOTES.get(curve.parameter):
        parts.append(note.format(n_classes=curve.n_classes))
    if curve.dropped:
        parts.append(_dropped(curve))
    return " ".join(parts)


def _dropped(curve: Curve) -> str:
    groups = groupby(sorted(curve.dropped), key=lambda pair: pair[0])
    told = [
        f"{value_text(value)} ({', '.join(task_title(task) for _, task in pairs)})"
        for value, pairs in groups
    ]
    tail = "; there is no average there" if len(curve.tasks) > 1 else ""
    return (
        "Left out, as a class of the target would have no test sample: "
        f"{'; '.join(told)}{tail}."
    )


def _records(curve: Curve, benchmark: str) -> list[dict[str, object]]:
    tasks, accuracy = curve.with_average()
    records: list[dict[str, object]] = []
    for (i, t, v), _ in np.ndenumerate(accuracy[..., 0]):
        row, values = curve.rows[i], accuracy[i, t, v]
        where = (benchmark, curve.identifier, curve.parameter, tasks[t])
        mean, sd = mean_sd(values)
        numbers = (curve.values[v], mean, sd, int(np.isfinite(values).sum()))
        record = (*where, row.key, row.display_name, *numbers)
        records.append(dict(zip(_FIELDS, record, strict=True)))
    return records
