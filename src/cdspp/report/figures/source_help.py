"""The opening figure: whether the source helped, on every task of every benchmark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.analysis.source_help import Comparison, by_task, compare, strongest, verdict
from cdspp.analysis.summary import Layout, Summary, read_summary
from cdspp.core.wording import in_points, task_title
from cdspp.report.figures.gains import VERDICT_COLOURS, draw_gains
from cdspp.report.figures.style import (
    MUTED,
    WIDTH,
    canvas,
    dots,
    equal_windows,
    figure_name,
    method_handles,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_source_help", "source_help_caption"]

PathLike = str | os.PathLike[str]

_MOST_TASKS = 10
_PITCH = 1.6


def draw_source_help(
    *,
    scores: Sequence[PathLike],
    layouts: Sequence[Layout],
    outputs: Sequence[PathLike],
) -> None:
    """Draw baseline, controls and reference of every task, or of many their gains.

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
    if not _few_tasks(layouts):
        draw_gains(summaries, outputs)
        return
    lengths = [max(1, len(summary.tasks)) for summary in summaries]
    height = sum(length * 0.88 + 0.48 for length in lengths) + 0.65
    with canvas(WIDTH, height, outputs) as figure:
        grid = figure.subplots(
            len(summaries),
            1,
            squeeze=False,
            gridspec_kw={"height_ratios": lengths},
        )[:, 0]
        for summary, axes in zip(summaries, grid, strict=True):
            _source_panel(axes, summary)
            title = str(summary.layout.get("title", ""))
            axes.set_title(title, fontweight="bold", fontsize=9.5)
        equal_windows(list(grid))
        _text(grid[0], 1.02, "gain, in_points [95 %]", MUTED)
        figure.supxlabel("accuracy, percent", fontsize=9)
        rows = {s.rows[i].key: s.rows[i] for s in summaries for i in _rows(s)}
        if handles := method_handles(rows.values()):
            figure.legend(handles=handles, loc="outside upper center", ncols=5)


def _few_tasks(layouts: Sequence[Layout]) -> bool:
    return sum(len(layout["tasks"]) for layout in layouts) <= _MOST_TASKS


def source_help_caption(layouts: Sequence[Layout]) -> str:
    """Say what the figure of these benchmarks shows."""
    if _few_tasks(layouts):
        return (
            "Accuracy of the baseline, of the controls and of the method with its real "
            "source, task by task: mean over trials and 95 % bootstrap interval. "
            "Right: the paired gain over the strongest control, in in_points, with its "
            "interval; blue where the source helps, red where it hurts, grey where "
            "there is no evidence. All panels have the same scale; none starts at zero."
        )
    return (
        "What the method gains with its real source, in in_points, task by task: paired "
        "gain over the baseline (hollow squares) and over the strongest control (blue "
        "where the source helps, red where it hurts, grey where there is no evidence); "
        "mean over trials and 95 % bootstrap interval."
    )


def _rows(summary: Summary) -> list[int]:
    """Positions of baseline, controls and reference, top to bottom."""
    layout = summary.layout
    baseline = summary.find(layout.get("baseline"))
    reference = summary.find(layout.get("reference"))
    controls = [i for i, row in enumerate(summary.rows) if row.control]
    found = [baseline, *controls, reference]
    return list(dict.fromkeys(i for i in found if i is not None))


def _source_panel(axes: Axes, summary: Summary) -> None:
    rows = _rows(summary)
    groups = by_task(compare(summary))
    pitch = len(rows) + _PITCH
    reference = summary.find(summary.layout.get("reference"))
    for place, task in enumerate(summary.tasks):
        top = place * pitch
        if place % 2 == 0:
            edge = top - (1 + _PITCH) / 2
            axes.axhspan(edge, edge + pitch, color="#f5f6f7", lw=0, zorder=0)
        for offset, i in enumerate(rows):
            values = summary.accuracy[i, place]
            mean = dots(axes, summary.rows[i].key, values, top + offset)
            if i == reference and np.isfinite(mean):
                ends = [top - 0.5, top + offset]
                axes.plot([mean, mean], ends, color="#0067a8", lw=0.9, alpha=0.45)
        _gain_text(axes, groups.get(task, []), top + (len(rows) - 1) / 2)
    centres = [k * pitch + (len(rows) - 1) / 2 for k in range(len(summary.tasks))]
    axes.set_yticks(centres, [task_title(task) for task in summary.tasks])
    axes.set_ylim(
        max(1, len(summary.tasks)) * pitch - (1 + _PITCH) / 2, -(1 + _PITCH) / 2
    )
    quiet(axes)


def _gain_text(axes: Axes, comparisons: Sequence[Comparison], y: float) -> None:
    rival = strongest(comparisons)
    if rival is None:
        return
    gain = rival.gain
    colour = VERDICT_COLOURS.get(verdict(comparisons), MUTED)
    low, high = in_points(gain.low), in_points(gain.high)
    where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    text = f"{in_points(gain.mean, sign=True)}  [{low}, {high}]"
    axes.text(1.02, y - 0.75, text, color=colour, fontweight="bold", **where)
    axes.text(1.02, y + 0.85, f"over {figure_name(rival.rival)}", **where)


def _text(axes: Axes, x: float, text: str, colour: str) -> None:
    axes.annotate(
        text,
        (x, 1),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset in_points",
        color=colour,
    )
