"""The tables of scores: accuracies, iterations, the overview."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from cdspp.analysis.summary import Floats, Summary, mean_sd, n_present
from cdspp.core.names import BASELINE
from cdspp.core.wording import in_points, percent, task_title
from cdspp.report.tables.grid import Column, grid_table, make_columns
from cdspp.report.tables.table import Cell, Line, Table
from cdspp.study.plan import METHOD

__all__ = [
    "build_benchmark_tables",
    "build_overview",
]

_NUMBERS = (
    "Percent, mean (standard deviation, n − 1) over trials. "
    "Bold: best of the column among complete methods. * supervised; † shortened run."
)
_MOST_ITERATIONS = 12


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
    found = [
        (row, mean_sd(values)[0])
        for row, values in column.values.values()
        if row.kind == METHOD
    ]
    ours = (pair for pair in found if pair[0].role == BASELINE)
    baseline, least = next(ours, (None, math.nan))
    worse = [
        f"{row.display_name} ({in_points(mean - least, sign=True)})"
        for row, mean in found
        if mean < least
    ]
    if baseline is None or not worse:
        return ""
    name = baseline.display_name
    return f"{column.heading}, below {name} by points: {', '.join(worse)}."


def _iteration_table(summary: Summary) -> Table:
    tasks, curves = summary.with_average(summary.by_iteration)
    steps = _spread(len(summary.iterations), _MOST_ITERATIONS)
    lines = [
        Line(
            (
                Cell("" if place else summary.rows[i].display_name, name=True),
                Cell(str(summary.iterations[step])),
                *(Cell(percent(*mean_sd(values))) for values in curves[i, ..., step]),
            ),
            summary.rows[i].key,
        )
        for i in summary.iterative()
        for place, step in enumerate(
            step for step in steps if np.isfinite(curves[i, ..., step]).any()
        )
    ]
    return Table(
        name=f"iterations_{summary.plan.benchmark}",
        title=f"{summary.plan.title}: accuracy by iteration",
        caption="Percent, mean (standard deviation, n − 1) over trials.",
        columns=("Method", "Iteration", *map(task_title, tasks)),
        lines=tuple(lines),
        data=_iteration_data(summary, curves, tasks),
    )


def _iteration_data(
    summary: Summary, curves: Floats, tasks: Sequence[str]
) -> pd.DataFrame:
    cells = [
        (task, summary.rows[i], int(iteration), values)
        for i in summary.iterative()
        for task, by_trial in zip(tasks, curves[i], strict=True)
        for iteration, values in zip(summary.iterations, by_trial.T, strict=True)
    ]
    moments = [mean_sd(values) for *_, values in cells]
    return pd.DataFrame(
        {
            "benchmark": summary.plan.benchmark,
            "task": [task for task, *_ in cells],
            "row": [row.key for _, row, *_ in cells],
            "display_name": [row.display_name for _, row, *_ in cells],
            "iteration": [iteration for *_, iteration, _ in cells],
            "mean": [mean for mean, _ in moments],
            "sd": [sd for _, sd in moments],
            "trials": [n_present(values) for *_, values in cells],
        }
    )


def _spread(count: int, most: int) -> list[int]:
    """Pick at most `most` places out of `count`, evenly, both ends among them."""
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most)).round()})
