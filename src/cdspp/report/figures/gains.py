"""The opening figure of a study of many tasks: the gains alone, a line a task."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cdspp.analysis.resampling import Gain
from cdspp.analysis.source_help import Comparison, by_task, compare, strongest, verdict
from cdspp.analysis.summary import Summary
from cdspp.core.names import AVERAGE
from cdspp.core.wording import task_title
from cdspp.report.figures.style import MUTED, WIDTH, canvas, figure_name, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["VERDICT_COLOURS", "draw_gains"]

PathLike = str | os.PathLike[str]

VERDICT_COLOURS = {"helps": "#0067a8", "hurts": "#c9431d"}
_MARKERS = {"helps": "o", "hurts": "D"}
_BASELINE = "#4b5563"
_LINE_HEIGHT = 0.23
_FRAME = 0.5


def draw_gains(summaries: Sequence[Summary], outputs: Sequence[PathLike]) -> None:
    """Draw what the reference gains over the baseline and the strongest control.

    Parameters
    ----------
    summaries : sequence of Summary
        The benchmarks; each is a panel with a line a task and one for the average.
    outputs : sequence of path
        Files to write (svg, png).
    """
    groups = [by_task(compare(summary)) for summary in summaries]
    lengths = [max(1, len(group)) for group in groups]
    height = sum(_LINE_HEIGHT * length + _FRAME for length in lengths) + 0.7
    with canvas(WIDTH, height, outputs) as figure:
        grid = figure.subplots(
            len(summaries),
            1,
            squeeze=False,
            sharex=True,
            gridspec_kw={"height_ratios": lengths},
        )
        for summary, group, axes in zip(summaries, groups, grid[:, 0], strict=True):
            _panel(axes, group)
            title = str(summary.layout.get("title", ""))
            axes.set_title(title, fontweight="bold", fontsize=9.5)
        figure.supxlabel("gain, points", fontsize=9)
        baseline = next((c.rival for g in groups for c in _baseline(g)), "")
        if handles := _handles(baseline):
            figure.legend(handles=handles, loc="outside upper center", ncols=4)


def _panel(axes: Axes, groups: dict[str, list[Comparison]]) -> None:
    axes.axvline(0, color=MUTED, lw=0.9)
    for y, (task, comparisons) in enumerate(groups.items()):
        if task == AVERAGE:
            axes.axhspan(y - 0.5, y + 0.5, color="#f5f6f7", lw=0, zorder=0)
        for comparison in comparisons:
            if not comparison.control:
                _gain(axes, comparison.gain, y - 0.16, (_BASELINE, "s", "white"))
        if (rival := strongest(comparisons)) is not None:
            _gain(axes, rival.gain, y + 0.16, _look(verdict(comparisons)))
    axes.set_yticks(range(len(groups)), [task_title(task) for task in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    quiet(axes)


def _gain(axes: Axes, gain: Gain, y: float, look: tuple[str, str, str]) -> None:
    colour, marker, face = look
    if np.isfinite(gain.low):
        axes.plot([100 * gain.low, 100 * gain.high], [y, y], color=colour, lw=1.4)
    axes.plot([100 * gain.mean], [y], marker, color=colour, markersize=4, mfc=face)


def _baseline(groups: dict[str, list[Comparison]]) -> list[Comparison]:
    return [c for group in groups.values() for c in group if not c.control]


def _handles(baseline: str) -> list[Line2D]:
    from matplotlib.lines import Line2D

    kinds = [
        (f"over {figure_name(baseline)}", _BASELINE, "s", "white"),
        ("over the strongest control: helps", *_look("helps")),
        ("no evidence", *_look("open")),
        ("hurts", *_look("hurts")),
    ]
    return [
        Line2D([], [], label=label, color=colour, marker=marker, mfc=face, ls="")
        for label, colour, marker, face in kinds[0 if baseline else 1 :]
    ]


def _look(found: str) -> tuple[str, str, str]:
    """Return colour, marker and fill of a verdict."""
    colour = VERDICT_COLOURS.get(found, MUTED)
    return colour, _MARKERS.get(found, "v"), colour
