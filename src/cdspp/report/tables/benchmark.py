"""The tables of a study: accuracies, iterations, the controls, the overview."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cdspp.analysis.source_help import (
    COMPARISON_FIELDS,
    Comparison,
    by_task,
    compare,
    comparison_record,
    excludes_zero,
)
from cdspp.analysis.summary import Floats, Layout, Summary, mean_sd, read_summary
from cdspp.core.artifacts import atomic
from cdspp.core.errors import DataError
from cdspp.core.names import AVERAGE
from cdspp.core.wording import DASH, in_points, percent, task_title
from cdspp.report.tables.grid import grid_table, make_columns
from cdspp.report.tables.table import (
    Cell,
    Line,
    Table,
    to_csv,
    to_fragment,
    to_latex,
    to_markdown,
)

__all__ = [
    "benchmark_tables",
    "build_benchmark_tables",
    "build_overview",
    "overall_tables",
    "write_benchmark_tables",
    "write_overview",
    "write_tables",
]

PathLike = str | os.PathLike[str]

_FORMATS: Mapping[str, Callable[[Table], str]] = {
    ".csv": to_csv,
    ".md": to_markdown,
    ".tex": to_latex,
    ".html": to_fragment,
}
_NUMBERS = (
    "Percent, mean (standard deviation, n − 1) over trials. "
    "Bold: best of the column among complete methods. * supervised; † shortened run."
)
_KINDS = ("accuracy", "class-accuracy", "iterations", "source-help")
_ITERATION_FIELDS = (
    "benchmark",
    "task",
    "row",
    "printed",
    "iteration",
    "mean",
    "sd",
    "trials",
)
_MAX_ITERATIONS = 12


def benchmark_tables(layout: Layout) -> list[str]:
    """Names of the tables of one benchmark, known before any score exists."""
    return [f"{kind}_{layout['benchmark']}" for kind in _KINDS]


def overall_tables(layouts: Sequence[Layout]) -> list[str]:
    """Names of the tables over all benchmarks of a study."""
    return ["overview"] if layouts else []


def write_benchmark_tables(
    *, scores: PathLike, layout: Layout, outputs: Sequence[PathLike]
) -> None:
    """Write tables of one benchmark.

    Parameters
    ----------
    scores : path
        The benchmark's score file.
    layout : mapping
        The benchmark.
    outputs : sequence of path
        Files to write: the stem names a table of `benchmark_tables`, the suffix
        (csv, md, tex, html) its form.
    """
    write_tables(build_benchmark_tables(read_summary(scores, layout)), outputs)


def write_overview(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    outputs: Sequence[PathLike],
) -> None:
    """Write the table of all benchmarks' averages; as `write_benchmark_tables`."""
    pairs = zip(scores, layouts, strict=True)
    write_tables([build_overview([read_summary(*pair) for pair in pairs])], outputs)


def build_benchmark_tables(summary: Summary) -> list[Table]:
    """Build the tables of one benchmark, in the order of `benchmark_tables`."""
    benchmark, title = summary.layout["benchmark"], _title(summary)
    labels = summary.layout.get("labels") or {}
    counts = " and ".join(f"{number} {domain}" for domain, number in labels.items())
    context = f" Labelled samples per class: {counts}." if counts else ""
    tables = [
        grid_table(
            f"{kind}_{benchmark}",
            f"{title}: {heading}",
            _NUMBERS + context,
            make_columns(summary, values),
        )
        for kind, heading, values in (
            ("accuracy", "accuracy", summary.accuracy),
            ("class-accuracy", "mean accuracy per class", summary.class_accuracy),
        )
    ]
    return [*tables, _iteration_table(summary, title), _source_table(summary, title)]


def _title(summary: Summary) -> str:
    return str(summary.layout.get("title", summary.layout["benchmark"]))


def build_overview(summaries: Sequence[Summary]) -> Table:
    """Build the table of averages: rows and controls by benchmark."""
    chosen = [summary.of_all_tasks() for summary in summaries]
    titled = [
        replace(make_columns(summary, summary.accuracy)[-1], heading=_title(summary))
        for summary in chosen
    ]
    caption = f"Average accuracy over the tasks of each benchmark. {_NUMBERS}"
    return grid_table("overview", "Overview", caption, titled)


def _iteration_table(summary: Summary, title: str) -> Table:
    curves = summary.with_average(summary.curves)
    tasks = [*summary.tasks, AVERAGE][: curves.shape[1]]
    steps = _spread(len(summary.iterations), _MAX_ITERATIONS)
    lines = [
        Line(
            (
                Cell(summary.rows[i].display_name, name=True),
                Cell(str(summary.iterations[step])),
                *(Cell(percent(*mean_sd(values))) for values in curves[i, ..., step]),
            ),
            summary.rows[i].key,
        )
        for i in summary.iterative()
        for step in steps
        if np.isfinite(curves[i, ..., step]).any()
    ]
    return Table(
        name=f"iterations_{summary.layout['benchmark']}",
        title=f"{title}: accuracy by iteration",
        caption="Percent, mean (standard deviation, n − 1) over trials.",
        columns=("Method", "Iteration", *map(task_title, tasks)),
        lines=tuple(lines),
        fields=_ITERATION_FIELDS,
        records=_iteration_records(summary, curves, tasks),
    )


def _iteration_records(
    summary: Summary, curves: Floats, tasks: Sequence[str]
) -> list[dict[str, object]]:
    records: list[dict[str, object]] = []
    for i in summary.iterative():
        for task, by_trial in zip(tasks, curves[i], strict=True):
            for iteration, values in zip(summary.iterations, by_trial.T, strict=True):
                mean, sd = mean_sd(values)
                cell = (task, summary.rows[i].key, summary.rows[i].display_name)
                numbers = (int(iteration), mean, sd, int(np.isfinite(values).sum()))
                row = (summary.layout["benchmark"], *cell, *numbers)
                records.append(dict(zip(_ITERATION_FIELDS, row, strict=True)))
    return records


def _source_table(summary: Summary, title: str) -> Table:
    comparisons = compare(summary)
    reference = comparisons[0].reference if comparisons else "the reference"
    lines = [
        _source_line(comparison, first=place == 0)
        for group in by_task(comparisons).values()
        for place, comparison in enumerate(group)
    ]
    return Table(
        name=f"source-help_{summary.layout['benchmark']}",
        title=f"{title}: did the source help?",
        caption=(
            f"Accuracy of {reference} and of its rivals (percent, mean over trials), "
            f"and the gain of {reference} on equal splits, in in_points, with its 95 % "
            "bootstrap interval over trials. Bold: the interval excludes zero. "
            "p: two-sided sign-flip test over trials, uncorrected for the number "
            "of lines; it speaks of other trials, not of other tasks. "
            f"Loses: trials in which the rival is better than {reference}."
        ),
        columns=(
            "Task",
            "Rival",
            "Its accuracy",
            reference,
            "Gain",
            "95 % interval",
            "p",
            "Loses",
        ),
        lines=tuple(lines),
        fields=COMPARISON_FIELDS,
        records=[comparison_record(comparison) for comparison in comparisons],
        text_columns=2,
    )


def _source_line(comparison: Comparison, *, first: bool) -> Line:
    gain = comparison.gain
    known = not math.isnan(gain.mean)
    interval = DASH
    if not math.isnan(gain.low):
        interval = f"{in_points(gain.low)} to {in_points(gain.high)}"
    return Line(
        (
            Cell(task_title(comparison.task) if first else ""),
            Cell(comparison.rival, name=True),
            Cell(_mean(comparison.rival_mean)),
            Cell(_mean(comparison.reference_mean)),
            Cell(
                in_points(gain.mean, sign=True) if known else DASH,
                bold=excludes_zero(gain),
            ),
            Cell(interval),
            Cell(DASH if math.isnan(comparison.p) else f"{comparison.p:.2g}"),
            Cell(f"{gain.losses} of {gain.trials}" if known else DASH),
        ),
        comparison.task,
    )


def _mean(value: float) -> str:
    return DASH if math.isnan(value) else f"{100 * value:.1f}"


def _spread(count: int, most: int) -> list[int]:
    """Pick at most `most` places out of `count`, evenly, both ends among them."""
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most)).round()})


def write_tables(tables: Sequence[Table], outputs: Sequence[PathLike]) -> None:
    """Write tables to the files that are named after them.

    Parameters
    ----------
    tables : sequence of Table
        What may be written.
    outputs : sequence of path
        Files to write: the stem is the name of a table, the suffix (csv, md, tex,
        html) its form.

    Raises
    ------
    DataError
        A file has another name.
    """
    known = {table.name: table for table in tables}
    for output in map(Path, outputs):
        if output.stem not in known or output.suffix not in _FORMATS:
            names, forms = ", ".join(known), ", ".join(_FORMATS)
            raise DataError(
                f"{output}: expected the name of a table ({names}) and one of the "
                f"suffixes {forms}. Take the names from benchmark_tables."
            )
        with atomic(output) as temporary:
            text = _FORMATS[output.suffix](known[output.stem])
            temporary.write_text(text, encoding="utf-8")
