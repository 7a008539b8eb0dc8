"""Hand-made evidence for the checks of claims."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from support.report_data import METHODS, make_layout

from cdspp.analysis.summary import Row, Summary, summarise
from cdspp.report.tables.claims.evidence import (
    Evidence,
)
from cdspp.report.tables.curves import Curve
from cdspp.report.tables.times import Time

TASKS = ("a_b", "b_a")
CONTROLS = {"target-only": ("main", "target-only"), "placebo": ("placebo", "cdspp")}
LUCK = np.array([0.0, 0.02, -0.01, 0.01])
Numbers = Mapping[str, Any]


def summary_of(values: Numbers, *, shortened: Sequence[str] = ()) -> Summary:
    """Build a summary of two tasks and four trials.

    `values` give, by method or control, an accuracy, or one a trial, or one a task and
    trial; NaN where a trial is missing.
    """
    methods = [key for key in values if key not in CONTROLS]
    controls = [key for key in values if key in CONTROLS]
    layout = make_layout(tasks=TASKS, methods=methods, controls=controls, trials=4)
    for entry in layout["methods"]:
        entry["shortened"] = entry["id"] in shortened
    rows: dict[str, list[Any]] = {
        name: [] for name in ("setting", "method", "task", "trial", "accuracy")
    }
    for key, given in values.items():
        setting, method = CONTROLS.get(key, ("main", key))
        accuracy = np.broadcast_to(given, (2, 4))
        for (task, trial), value in np.ndenumerate(accuracy):
            record = (setting, method, TASKS[task], trial + 1, value)
            for name, item in zip(rows, record, strict=True):
                rows[name].append(item)
    columns = {name: np.array(column) for name, column in rows.items()}
    columns["status"] = np.where(np.isfinite(columns["accuracy"]), "ok", "failed")
    columns["iteration"] = np.ones(len(columns["trial"]), dtype=int)
    columns["mean_class_accuracy"] = columns["accuracy"]
    return summarise(columns, layout)


def curve_of(parameter: str, points: Mapping[float, float], **others: float) -> Curve:
    """Build a curve of CDSPP of two tasks and three trials, and of `others`, constant.

    The trials differ by luck, which is the same at every value.
    """
    keys = ("cdspp", *(key.replace("_", "-") for key in others))
    levels = [list(points.values())]
    levels += [[level] * len(points) for level in others.values()]
    shape = (len(keys), len(TASKS), len(points), 3)
    accuracy = np.array(levels)[:, None, :, None] + LUCK[:3]
    return Curve(
        identifier=parameter,
        parameter=parameter,
        values=tuple(points),
        tasks=TASKS,
        rows=tuple(row_of(key, trials=3) for key in keys),
        accuracy=np.broadcast_to(accuracy, shape).copy(),
        dropped=(),
        main=None,
        n_classes=10,
    )


def row_of(key: str, **options: Any) -> Row:
    """Build the row of a method."""
    row = Row(key, METHODS[key][0], "main", key, "method", METHODS[key][1], False, 4)
    return replace(row, **options)


def time_of(key: str, seconds: float, *, shortened: bool = False) -> Time:
    """Build the time of a method."""
    row = row_of(key, shortened=shortened)
    return Time("digits", "Digits", row, seconds, math.nan, 3, 0, 2, 2)


def evidence(
    values: Numbers | None = None,
    *curves: Curve,
    times: Sequence[Time] = (),
    shortened: Sequence[str] = (),
) -> Evidence:
    """Put together what is known of a benchmark."""
    summary = summary_of(values or {"cdspp": 0.5}, shortened=shortened)
    return Evidence(summary, curves, times)
