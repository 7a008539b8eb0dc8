"""The figures of a study that are drawn from its scores; all show percent.

Dots are means over trials, bars and bands 95 % bootstrap intervals over trials.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cdspp.answer import AVERAGE, task_title
from cdspp.errors import DataError
from cdspp.figure_samples import draw_confusion, draw_subspace
from cdspp.figure_source import draw_source_help
from cdspp.figure_style import (
    MUTED,
    WIDTH,
    canvas,
    dots,
    equal_windows,
    far_below,
    figure_name,
    quiet,
    style_of,
)
from cdspp.statistics import (
    Floats,
    Layout,
    Summary,
    bootstrap_interval,
    mean_sd,
    read_summary,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "benchmark_figures",
    "draw_benchmark",
    "draw_confusion",
    "draw_iterations",
    "draw_methods",
    "draw_showcase",
    "draw_source_help",
    "draw_subspace",
    "overall_figures",
]

PathLike = str | os.PathLike[str]

_MAX_BANDS = 6


def benchmark_figures(layout: Layout) -> list[str]:
    """Names of the figures of one benchmark, known before any score exists."""
    kinds = ["methods", "iterations"]
    if layout.get("showcase"):
        kinds += ["confusion", "subspace"]
    return [f"{kind}_{layout['benchmark']}" for kind in kinds]


def overall_figures(layouts: Sequence[Layout]) -> list[str]:
    """Names of the figures over all benchmarks of a study."""
    return ["source-help"] if layouts else []


def draw_benchmark(
    *, scores: PathLike, layout: Layout, outputs: Sequence[PathLike]
) -> None:
    """Draw the figures of one benchmark that need its scores alone.

    Parameters
    ----------
    scores : path
        The benchmark's score file.
    layout : mapping
        The benchmark.
    outputs : sequence of path
        Files to write: the stem is one of `benchmark_figures`, the suffix svg or png.
    """
    kinds = {"methods": draw_methods, "iterations": draw_iterations}
    for kind, paths in _by_kind(outputs, kinds).items():
        kinds[kind](scores=scores, layout=layout, outputs=paths)


def draw_showcase(
    *,
    scores: PathLike,
    fits: Sequence[PathLike],
    subspace: PathLike,
    source_labels: PathLike,
    target_labels: PathLike,
    layout: Layout,
    outputs: Sequence[PathLike],
) -> None:
    """Draw the figures of the showcase task; parameters as of those it calls."""
    for kind, paths in _by_kind(outputs, ("confusion", "subspace")).items():
        if kind == "confusion":
            draw_confusion(
                fits=fits, labels=target_labels, layout=layout, outputs=paths
            )
        else:
            draw_subspace(
                subspace=subspace,
                source_labels=source_labels,
                target_labels=target_labels,
                layout=layout,
                outputs=paths,
                scores=scores,
            )


def draw_methods(
    *, scores: PathLike, layout: Layout, outputs: Sequence[PathLike]
) -> None:
    """Draw all rows of one benchmark, a panel a task and one for their average."""
    summary = read_summary(scores, layout).of_all_tasks()
    values = summary.with_average(summary.accuracy)
    titles = [task_title(task) for task in (*summary.tasks, AVERAGE)][: values.shape[1]]
    longest = max(map(len, titles), default=1)
    n_columns = max(1, min(len(titles), 5, int(6.2 / (0.073 * longest + 0.1))))
    n_lines = max(1, math.ceil(len(titles) / n_columns))
    width = min(WIDTH, max(5.0, 1.3 + 1.5 * n_columns))
    height = n_lines * (0.2 * len(summary.rows) + 0.7) + 0.3
    with canvas(width, height, outputs) as figure:
        grid = figure.subplots(n_lines, n_columns, squeeze=False, sharey=True)
        for place, axes in enumerate(grid.flat):
            if place >= len(titles):
                axes.set_visible(False)
                continue
            _method_panel(axes, summary, values[:, place])
            average = place == len(summary.tasks)
            weight = "bold" if average else "normal"
            axes.set_title(titles[place], fontweight=weight)
        equal_windows(list(grid.flat[: len(titles)]))
        figure.supxlabel("accuracy, percent", fontsize=9)


def draw_iterations(
    *, scores: PathLike, layout: Layout, outputs: Sequence[PathLike]
) -> None:
    """Draw accuracy by iteration, a panel a task, a line a row that iterates."""
    summary = read_summary(scores, layout).of_all_tasks()
    crowded = len(summary.iterative()) > _MAX_BANDS
    n_columns = max(1, min(len(summary.tasks), 2 if crowded else 4))
    n_lines = max(1, math.ceil(len(summary.tasks) / n_columns))
    width = WIDTH if n_columns > 1 else 5.0
    height = n_lines * (2.9 if crowded else 2.1) + 1.0
    with canvas(width, height, outputs) as figure:
        grid = figure.subplots(
            n_lines, n_columns, squeeze=False, sharey=True, sharex=True
        )
        for place, axes in enumerate(grid.flat):
            if place >= len(summary.tasks):
                axes.set_visible(False)
                continue
            _iteration_panel(axes, summary, place, bands=not crowded)
            axes.set_title(task_title(summary.tasks[place]))
        figure.supxlabel("iteration", fontsize=9)
        figure.supylabel("accuracy, percent", fontsize=9)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        if handles:
            lines = math.ceil(len(labels) / int(width / 1.45))
            columns = math.ceil(len(labels) / lines)
            figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def _by_kind(
    outputs: Sequence[PathLike], kinds: Iterable[str]
) -> dict[str, list[PathLike]]:
    known = tuple(kinds)
    groups: dict[str, list[PathLike]] = {}
    for output in outputs:
        kind = Path(output).stem.partition("_")[0]
        if kind not in known:
            names = " or ".join(f"{name}_<benchmark>" for name in known)
            raise DataError(f"{output}: expected a figure named {names}.")
        groups.setdefault(kind, []).append(output)
    return groups


def _method_panel(axes: Axes, summary: Summary, values: Floats) -> None:
    from matplotlib.ticker import MaxNLocator

    means = np.array([100 * mean_sd(of_row)[0] for of_row in values])
    far = far_below(means)
    for place, row in enumerate(summary.rows):
        if far[place]:
            text, colour = f"◂ {means[place]:.0f}", style_of(row.key).colour
            where = axes.get_yaxis_transform()
            axes.text(0.02, place, text, color=colour, va="center", transform=where)
        else:
            dots(axes, row.key, values[place], place)
    names = [figure_name(row.printed) + row.marks for row in summary.rows]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    kinds = [row.kind for row in summary.rows]
    for place, (kind, before) in enumerate(zip(kinds[1:], kinds, strict=False)):
        if kind != before:
            axes.axhline(place + 0.5, color=MUTED, lw=0.8, ls=(0, (2, 2)))
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    quiet(axes)


def _iteration_panel(axes: Axes, summary: Summary, task: int, *, bands: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    steps = summary.iterations
    reference = summary.find(summary.layout.get("reference"))
    for i in _rows_in_view(axes, summary, task):
        by_step = 100 * summary.curves[i, task].T
        seen = np.isfinite(by_step).any(axis=1)
        style = style_of(summary.rows[i].key)
        mean = [mean_sd(values)[0] for values in by_step[seen]]
        band = np.array([bootstrap_interval(values) for values in by_step[seen]])
        axes.plot(
            steps[seen],
            mean,
            color=style.colour,
            marker=style.marker,
            markersize=4.5,
            markerfacecolor=style.colour if style.filled else "white",
            linewidth=1.5 if bands or i == reference else 1.0,
            zorder=3 if i == reference else 2,
            label=figure_name(summary.rows[i].printed),
        )
        if len(band) and (bands or i == reference):
            axes.fill_between(
                steps[seen], *band.T, color=style.colour, alpha=0.13, lw=0
            )
    _baseline(axes, summary, task)
    if len(steps) and steps[-1] > 20:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    quiet(axes, grid="y")


def _rows_in_view(axes: Axes, summary: Summary, task: int) -> list[int]:
    """Return the rows to draw; name those that end far below with their value."""
    rows = np.array(summary.iterative(), dtype=int)
    last = np.array([100 * mean_sd(summary.accuracy[i, task])[0] for i in rows])
    far = far_below(last)
    for height, (i, mean) in enumerate(zip(rows[far], last[far], strict=True)):
        row = summary.rows[i]
        axes.text(
            0.02,
            0.02 + 0.08 * height,
            f"▾ {figure_name(row.printed)} {mean:.0f}",
            color=style_of(row.key).colour,
            transform=axes.transAxes,
        )
    return [int(i) for i in rows[~far]]


def _baseline(axes: Axes, summary: Summary, task: int) -> None:
    baseline = summary.find(summary.layout.get("baseline"))
    if baseline is None or not np.isfinite(summary.accuracy[baseline, task]).any():
        return
    row = summary.rows[baseline]
    axes.axhline(
        100 * mean_sd(summary.accuracy[baseline, task])[0],
        color=style_of(row.key).colour,
        lw=1.2,
        ls=(0, (4, 2)),
        label=figure_name(row.printed),
    )
