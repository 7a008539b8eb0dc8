"""Curves whose scores can be told from value, trial and method."""

from __future__ import annotations

from typing import Any

import pandas as pd
from support.report_data import make_plan, score_rows, scores_frame

from cdspp.study.plan import BenchmarkPlan

TASKS = ("amazon_caltech", "amazon_dslr")


def curve_entry(identifier: str = "labels", **changes: Any) -> dict[str, Any]:
    """Return the entry of a curve in a configuration."""
    entry = {
        "id": identifier,
        "parameter": "labels",
        "values": [1, 3, 9],
        "methods": ["svm-t", "cdspp"],
        "trials": 3,
    }
    return entry | changes


def curve_plan(*curves: dict[str, Any], **options: Any) -> BenchmarkPlan:
    """Build a plan with some curves over the methods that they name."""
    named = dict.fromkeys(m for curve in curves for m in curve["methods"])
    given = {"methods": tuple(named) or ("svm-t", "cdspp"), "tasks": TASKS}
    return make_plan(curves=curves, **{**given, **options})


def curve_scores(
    plan: BenchmarkPlan, *, collapsed: tuple[Any, ...] = ("", 0)
) -> pd.DataFrame:
    """Add scores of every value to those of the main run: (value + trial) percent.

    CDSPP is ten points better; a method that `collapsed` at values says so and has 1
    percent. Rows of what was dropped and of a fourth trial are there, too, and must not
    count.
    """
    name, *places = collapsed
    rows = [
        (entry.setting, task, row.method, trial, 1, "ok", low, 420, *[value] * 3)
        for curve in plan.curves
        for entry in curve.values
        if entry.setting != "main"
        for task in curve.tasks
        for row in curve.rows
        for trial in (1, 2, 3, 4)
        for low in [row.method == name and entry.value in places]
        for better in [0.1 * (row.method == "cdspp")]
        for value in [0.01 if low else (entry.value + trial) / 100 + better]
    ]
    return pd.concat([score_rows(plan), scores_frame(rows)], ignore_index=True)
