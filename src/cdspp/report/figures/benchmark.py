"""The figures of methods and of iterations: means with 95 % t intervals over trials."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cdspp.analysis.summary import (
    MOST_COLLAPSED,
    Floats,
    Summary,
    mean_sd,
    read_summaries,
)
from cdspp.core.names import BASELINE, REFERENCE, Paths
from cdspp.report.figures import style
from cdspp.study.plan import Plans


def write_benchmark(plans: Plans, scores: Paths, outputs: Paths) -> None:
    """Draw the figures of one benchmark that need its scores alone."""
    [summary] = read_summaries(scores, plans)
    drawings = {"methods": draw_methods, "iterations": draw_iterations}
    bound = {kind: partial(draw, summary) for kind, draw in drawings.items()}
    style.draw_each(outputs, bound)


def draw_methods(summary: Summary, outputs: Paths) -> None:
    """Draw all rows of one benchmark, a panel a task and one for their average."""
    summary = summary.of_all_tasks()
    tasks, values = summary.with_average(summary.accuracy)
    titles = [style.task_text(task) for task in tasks]
    longest = max((len(line) for t in titles for line in t.split("\n")), default=1)
    n_columns = max(1, min(len(titles), 5, int(6.2 / (0.073 * longest + 0.1))))
    room: Any = {"line": 0.2 * len(summary.rows) + 0.7, "rest": 0.3, "sharey": True}
    room["width"] = min(style.WIDTH, max(5.0, 1.3 + 1.5 * n_columns))
    with style.gridded(tasks, n_columns, outputs, **room) as (figure, panels):
        for place, axes in enumerate(panels):
            _method_panel(axes, summary, tasks[place], values[:, place])
        style.equal_windows(panels)
        figure.supxlabel("accuracy, percent", fontsize=9)


def draw_iterations(summary: Summary, outputs: Paths) -> None:
    """Draw accuracy by iteration, a panel a task, a line a method that iterates."""
    hidden, rows = {"variant", *summary.plan.states}, summary.rows
    shown = [i for i, r in enumerate(rows) if hidden.isdisjoint((r.kind, r.key))]
    summary = summary.of_rows(shown)
    crowded = len(summary.iterative()) > 6  # bands
    n_columns = max(1, min(len(summary.tasks), 2 if crowded else 4))
    width = style.WIDTH if n_columns > 1 else 5.0
    room: Any = {"line": 2.9 if crowded else 2.1, "rest": 1.0, "width": width}
    room |= {"sharex": True, "sharey": True}
    with style.gridded(summary.tasks, n_columns, outputs, **room) as (figure, panels):
        for place, axes in enumerate(panels):
            _iteration_panel(axes, summary, place, bands=not crowded)
        figure.supxlabel("iteration", fontsize=9)
        figure.supylabel("accuracy, percent", fontsize=9)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        if handles:
            lines = math.ceil(len(labels) / int(width / 1.45))
            columns = math.ceil(len(labels) / lines)
            figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def _unusable(summary: Summary, row: int, task: str) -> bool:
    return summary.collapsed_share(row, task) > MOST_COLLAPSED


def _method_panel(axes: Axes, summary: Summary, task: str, values: Floats) -> None:
    means = np.array([100 * mean_sd(of_row)[0] for of_row in values])
    far = style.far_below(means)
    for place, row in enumerate(summary.rows):
        text, colour = f"◂ {means[place]:.0f}", style.style_of(row.key).colour
        if np.isfinite(means[place]) and _unusable(summary, place, task):
            text, colour = f"({means[place]:.0f})", style.MUTED
        elif not far[place]:
            style.dots(axes, row.key, values[place], place)
            continue
        where = axes.get_yaxis_transform()
        axes.text(0.02, place, text, color=colour, va="center", transform=where)
    names = [style.figure_name(row.display_name) + row.marks for row in summary.rows]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    kinds = [row.kind for row in summary.rows]
    for place, (kind, before) in enumerate(zip(kinds[1:], kinds, strict=False)):
        if kind != before:
            axes.axhline(place + 0.5, color=style.MUTED, lw=0.8, ls=(0, (2, 2)))
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    style.quiet(axes)


def _iteration_panel(axes: Axes, summary: Summary, task: int, *, bands: bool) -> None:
    steps = summary.iterations
    reference = summary.place(REFERENCE)
    places = summary.iterative()
    rows = [summary.rows[i] for i in places]
    last = np.array([100 * mean_sd(summary.accuracy[i, task])[0] for i in places])
    far = style.far_below(last)
    name = summary.tasks[task]
    unusable = np.array([_unusable(summary, i, name) for i in places], bool)
    for height, i in enumerate(np.flatnonzero(far | unusable).tolist()):
        where: Any = {"transform": axes.transAxes, "collapsed": bool(unusable[i])}
        style.note_far(axes, rows[i], last[[i]], height, **where)
    for i in np.flatnonzero(~(far | unusable)).tolist():
        leading = places[i] == reference
        band, values = bands or leading, summary.by_iteration[places[i], task].T
        look = {"linewidth": 1.5 if band else 1.0, "zorder": 3 if leading else 2}
        style.draw_line(axes, rows[i], steps, values, band=band, **look)
    baseline = summary.place(BASELINE)
    if baseline is not None and np.isfinite(summary.accuracy[baseline, task]).any():
        row = summary.rows[baseline]
        mean = 100 * mean_sd(summary.accuracy[baseline, task])[0]
        colour = style.style_of(row.key).colour
        across: Any = {"color": colour, "lw": 1.2, "ls": style.DASHES}
        axes.axhline(mean, label=style.figure_name(row.display_name), **across)
    if len(steps) and steps[-1] > 20:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    style.quiet(axes, grid="y")
