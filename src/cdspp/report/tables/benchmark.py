"""The tables of scores: accuracies, iterations, the overview."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from cdspp.analysis.summary import Summary, mean_sd
from cdspp.core.names import BASELINE
from cdspp.core.wording import in_points, percent, task_title
from cdspp.report.tables.grid import Column, grid_table, make_columns, moments
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.study.plan import METHOD

__all__ = ["build_benchmark_tables", "build_overview"]

_NUMBERS = (
    "Percent, mean (standard deviation, n − 1) over trials. "
    "Bold: best of the column among complete methods. * supervised; † shortened run."
)
_MOST_ITERATIONS = 12
_ITERATION_DATA = ("benchmark", "task", "row", "display_name", "iteration")


def build_benchmark_tables(summary: Summary) -> list[Table]:
    """Build the tables of accuracies and of iterations."""
    plan = summary.plan
    counts = " and ".join(f"{number} {role}" for role, number in plan.labels.items())
    context = f" Labelled samples per class: {counts}." if counts else ""
    tables = [
        grid_table(
            f"{kind}_{plan.benchmark}",
            f"{plan.title}: {heading}",
            _NUMBERS + context,
            make_columns(summary, values),
        )
        for kind, heading, values in (
            ("accuracy", "accuracy", summary.accuracy),
            ("class-accuracy", "balanced accuracy", summary.class_accuracy),
        )
    ]
    return [*tables, _iteration_table(summary)]


def build_overview(summaries: Sequence[Summary]) -> Table:
    """Build the table of averages: rows and controls by benchmark."""
    chosen = _common([summary.of_all_tasks() for summary in summaries])
    titled = [
        replace(make_columns(summary, summary.accuracy)[-1], heading=summary.plan.title)
        for summary in chosen
    ]
    caption = f"Average accuracy over the tasks of each benchmark. {_NUMBERS}"
    below = [text for column in titled if (text := _below_baseline(column))]
    return grid_table("overview", "Overview", " ".join([caption, *below]), titled)


def _common(summaries: Sequence[Summary]) -> list[Summary]:
    """Leave out other settings of methods that not every benchmark has."""
    keys = [{row.key for row in summary.rows} for summary in summaries]
    everywhere = set.intersection(*keys) if keys else set()
    return [
        summary.of_rows(
            i
            for i, row in enumerate(summary.rows)
            if row.kind != "variant" or row.key in everywhere
        )
        for summary in summaries
    ]


def _below_baseline(column: Column) -> str:
    """Name the methods that do worse than the baseline, which sees no source."""
    found = {
        row: mean_sd(values)[0]
        for row, values in column.values.values()
        if row.kind == METHOD
    }
    baseline = next((row for row in found if row.role == BASELINE), None)
    least = math.nan if baseline is None else found[baseline]
    worse = [
        f"{row.display_name} ({in_points(mean - least, sign=True)})"
        for row, mean in found.items()
        if mean < least
    ]
    if baseline is None or not worse:
        return ""
    name = baseline.display_name
    return f"{column.heading}, below {name} by points: {', '.join(worse)}."


def _iteration_table(summary: Summary) -> Table:
    tasks, curves = summary.with_average(summary.by_iteration)
    count = len(summary.iterations)
    # Evenly spread, both ends among them.
    spread = np.linspace(0, count - 1, min(count, _MOST_ITERATIONS)).round()
    steps = sorted({int(step) for step in spread})
    lines, data = [], []
    for i in summary.iterative():
        row = summary.rows[i]
        ran = [step for step in steps if np.isfinite(curves[i, ..., step]).any()]
        for place, step in enumerate(ran):
            name = Cell("" if place else row.display_name, name=True)
            cells = [Cell(percent(*mean_sd(values))) for values in curves[i, ..., step]]
            iteration = Cell(str(summary.iterations[step]))
            lines.append(Line((name, iteration, *cells), row.key))
        data += [
            {
                "benchmark": summary.plan.benchmark,
                "task": task,
                "row": row.key,
                "display_name": row.display_name,
                "iteration": int(iteration),
                **moments(values),
            }
            for task, by_trial in zip(tasks, curves[i], strict=True)
            for iteration, values in zip(summary.iterations, by_trial.T, strict=True)
        ]
    return Table(
        name=f"iterations_{summary.plan.benchmark}",
        title=f"{summary.plan.title}: accuracy by iteration",
        caption="Percent, mean (standard deviation, n − 1) over trials.",
        columns=("Method", "Iteration", *map(task_title, tasks)),
        lines=tuple(lines),
        data=pd.DataFrame(data, columns=[*_ITERATION_DATA, *moments(np.empty(0))]),
    )
