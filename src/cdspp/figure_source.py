"""The opening figure: whether the source helped, on every task of every benchmark."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.answer import (
    Comparison,
    by_task,
    compare,
    points,
    strongest,
    task_title,
    verdict,
)
from cdspp.figure_style import (
    MUTED,
    WIDTH,
    canvas,
    dots,
    equal_windows,
    figure_name,
    method_handles,
    quiet,
)
from cdspp.statistics import Layout, Summary, read_summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_source_help"]

PathLike = str | os.PathLike[str]

_VERDICT_COLOURS = {"helps": "#0067a8", "hurts": "#c9431d"}
_PITCH = 1.6


def draw_source_help(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    outputs: Sequence[PathLike],
) -> None:
    """Draw baseline, controls and reference of every task, side by side.

    Parameters
    ----------
    scores : sequence of path
        Score files, in the order of `layouts`.
    layouts : sequence of mapping
        The benchmarks.
    outputs : sequence of path
        Files to write (svg, png).
    """
    pairs = zip(scores, layouts, strict=True)
    summaries = [read_summary(*pair) for pair in pairs]
    n_columns = _n_columns([len(summary.tasks) for summary in summaries])
    lengths = [max(1, math.ceil(len(s.tasks) / n_columns)) for s in summaries]
    per_task = 0.88 if n_columns == 1 else 0.68
    height = sum(length * per_task + 0.48 for length in lengths) + 0.65
    with canvas(WIDTH, height, outputs) as figure:
        grid = figure.subplots(
            len(summaries),
            n_columns,
            squeeze=False,
            gridspec_kw={"height_ratios": lengths},
        )
        for summary, length, panels in zip(summaries, lengths, grid, strict=True):
            for place, axes in enumerate(panels):
                tasks = range(place * length, (place + 1) * length)
                _source_panel(axes, summary, tasks, gains=n_columns == 1)
            title = str(summary.layout.get("title", ""))
            panels[0].set_title(title, fontweight="bold", fontsize=9.5)
        _share_scale(grid)
        if n_columns == 1:
            _text(grid[0, 0], 1.02, "gain, points [95 %]", MUTED)
        figure.supxlabel("accuracy, percent", fontsize=9)
        rows = {s.rows[i].key: s.rows[i] for s in summaries for i in _rows(s)}
        if handles := method_handles(rows.values()):
            figure.legend(handles=handles, loc="outside upper center", ncols=5)


def _n_columns(counts: Sequence[int]) -> int:
    """Columns of panels: as few as keep the figure about a page high."""
    total = sum(counts)
    wanted = 1 if total <= 10 else 2 if total <= 24 else 3
    return max(1, min(wanted, max(counts, default=1)))


def _share_scale(grid: NDArray[Any]) -> None:
    """One scale in all panels, one window for the panels of a benchmark."""
    for panels in grid:
        for axes in panels[1:]:
            panels[0].dataLim.update_from_data_x(axes.dataLim.intervalx, ignore=False)
    equal_windows([panels[0] for panels in grid])
    for panels in grid:
        for axes in panels[1:]:
            axes.set_xlim(panels[0].get_xlim())


def _rows(summary: Summary) -> list[int]:
    """Positions of baseline, controls and reference, top to bottom."""
    layout = summary.layout
    baseline = summary.find(layout.get("baseline"))
    reference = summary.find(layout.get("reference"))
    controls = [i for i, row in enumerate(summary.rows) if row.control]
    found = [baseline, *controls, reference]
    return list(dict.fromkeys(i for i in found if i is not None))


def _source_panel(
    axes: Axes, summary: Summary, tasks: Sequence[int], *, gains: bool
) -> None:
    rows = _rows(summary)
    groups = by_task(compare(summary))
    present = [task for task in tasks if task < len(summary.tasks)]
    axes.set_visible(bool(present))
    pitch = len(rows) + _PITCH
    reference = summary.find(summary.layout.get("reference"))
    for place, task in enumerate(present):
        top = place * pitch
        if place % 2 == 0:
            edge = top - (1 + _PITCH) / 2
            axes.axhspan(edge, edge + pitch, color="#f5f6f7", lw=0, zorder=0)
        for offset, i in enumerate(rows):
            values = summary.accuracy[i, task]
            mean = dots(axes, summary.rows[i].key, values, top + offset)
            if i == reference and np.isfinite(mean):
                ends = [top - 0.5, top + offset]
                axes.plot([mean, mean], ends, color="#0067a8", lw=0.9, alpha=0.45)
        if gains:
            centre = top + (len(rows) - 1) / 2
            _gain_text(axes, groups.get(summary.tasks[task], []), centre)
    centres = [k * pitch + (len(rows) - 1) / 2 for k in range(len(present))]
    axes.set_yticks(centres, [task_title(summary.tasks[task]) for task in present])
    axes.set_ylim(max(1, len(tasks)) * pitch - (1 + _PITCH) / 2, -(1 + _PITCH) / 2)
    quiet(axes)


def _gain_text(axes: Axes, comparisons: Sequence[Comparison], y: float) -> None:
    rival = strongest(comparisons)
    if rival is None:
        return
    gain = rival.gain
    colour = _VERDICT_COLOURS.get(verdict(comparisons), MUTED)
    low, high = points(gain.low), points(gain.high)
    where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    text = f"{points(gain.mean, sign=True)}  [{low}, {high}]"
    axes.text(1.02, y - 0.75, text, color=colour, fontweight="bold", **where)
    axes.text(1.02, y + 0.85, f"over {figure_name(rival.rival)}", **where)


def _text(axes: Axes, x: float, text: str, colour: str) -> None:
    axes.annotate(
        text,
        (x, 1),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        color=colour,
    )
