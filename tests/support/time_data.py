"""Outcomes of fits whose seconds are written down in the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from support.report_data import make_plan

from cdspp.analysis.fit_records import OUTCOME_COLUMNS
from cdspp.study.plan import BenchmarkPlan

__all__ = ["TASKS", "joined", "outcomes", "time_plan"]

TASKS = ("print_sketch", "sketch_photo")


def time_plan(*methods: str, **options: Any) -> BenchmarkPlan:
    """Build a plan of two tasks."""
    return make_plan(tasks=TASKS, methods=methods or ("svm-t", "cdspp"), **options)


def outcomes(
    method: str,
    task: str,
    seconds: Sequence[float | None],
    *,
    first: int = 1,
    setting: str = "main",
) -> list[dict[str, Any]]:
    """Return the outcomes of one block; None stands for a trial that failed."""
    return [
        {
            "benchmark": "digits",
            "setting": setting,
            "task": task,
            "method": method,
            "trial": number,
            "status": "failed" if value is None else "ok",
            "cpu_seconds": 99.0 if value is None else value,
        }
        for number, value in enumerate(seconds, start=first)
    ]


def joined(*parts: list[dict[str, Any]]) -> pd.DataFrame:
    """Join outcomes as the records of fits give them."""
    return pd.DataFrame(sum(parts, []), columns=list(OUTCOME_COLUMNS))
