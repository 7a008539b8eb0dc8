"""The opening picture: which ways help, by how much, which are open, against what."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cdspp.analysis import ways
from cdspp.analysis.pairs import read_pairs
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.ways import HELPS, HURTS, OPEN, Opening, Way
from cdspp.core.names import Paths
from cdspp.core.wording import in_points, sentence
from cdspp.report.figures import style
from cdspp.study.plan import Plans

COLOURS = {HELPS: "#12703f", HURTS: "#b3370f", OPEN: style.MUTED}
_LINE, _HEADING, _TOP, _BOTTOM = 0.44, 0.62, 0.98, 0.5  # inches
_AXIS = "points, over equal trials, with 95 % interval; each number is rounded"
# Where the columns begin, in shares of the width; the axis lies between the last two.
_NAME, _ACCURACY, _FIRST, _LAST, _WORD = 0.01, 0.37, 0.39, 0.78, 0.83


def write_ways(plans: Plans, comparisons: Paths, pairs: Paths, outputs: Paths) -> None:
    """Draw the ways of every benchmark, each on a line."""
    files = zip(comparisons, pairs, strict=True)
    openings = [
        ways.opening(read_comparisons(gains), read_pairs(path)) for gains, path in files
    ]
    draw_ways(openings, outputs)


def draw_ways(openings: Sequence[Opening], outputs: Paths) -> None:
    """Draw openings below each other, all gains along one axis."""
    n_lines = sum(len(each.ways) for each in openings)
    height = _TOP + _LINE * n_lines + _HEADING * len(openings) + _BOTTOM
    with style.canvas(style.WIDTH, height, outputs) as figure:
        figure.set_layout_engine("none")
        bottom = _BOTTOM / height
        whole = figure.add_axes((0, bottom, 1, 1 - bottom))
        whole.set(xlim=(0, 1), ylim=(height - _BOTTOM, 0))
        whole.set_axis_off()
        below = 1 - bottom - _TOP / height
        gains = figure.add_axes((_FIRST, bottom, _LAST - _FIRST, below))
        gains.set(ylim=(height - _BOTTOM, _TOP), facecolor="none", yticks=[])
        _title(whole, ways.statement(openings))
        y = _TOP
        for each in openings:
            _heading(whole, each, y + 0.2)
            y += _HEADING
            for way in each.ways:
                _way(whole, gains, way, y + _LINE / 2 - 0.04)
                y += _LINE
        _scale(figure, gains, openings)


def _title(axes: Axes, statement: str) -> None:
    look: Any = {"va": "center", "fontsize": 9}
    axes.text(_NAME, 0.18, ways.QUESTION, fontweight="bold", fontsize=12, va="center")
    axes.text(_NAME, 0.45, style.plain_text(statement, most=200), **look)
    muted = {**look, "color": style.MUTED}
    axes.text(_ACCURACY, 0.78, "accuracy", ha="right", **muted)
    axes.text(
        _FIRST + 0.02, 0.78, "gain over the best method without a source", **muted
    )
    axes.text(_WORD, 0.78, "the source", **muted)


def _heading(axes: Axes, opening: Opening, y: float) -> None:
    title = style.plain_text(opening.title)
    axes.text(_NAME, y, title, fontsize=12, fontweight="bold", va="center")
    if opening.without:
        name = style.figure_name(opening.without)
        text = f"best without a source: {in_points(opening.accuracy)} % ({name})"
        look: Any = {"fontsize": 8.5, "va": "center", "bbox": style.ON_LINES}
        axes.text(_NAME, y + 0.22, text, color=style.MUTED, **look)


def _way(whole: Axes, gains: Axes, way: Way, y: float) -> None:
    whole.axhspan(y - 0.18, y + 0.18, color="#f3f5f7", lw=0, zorder=0)
    colour = COLOURS[way.word]
    strong: Any = {"va": "center", "fontsize": 10}
    small: Any = {"va": "center", "fontsize": 8, "color": style.MUTED}
    whole.text(_NAME, y - 0.07, style.plain_text(sentence(way.title)), **strong)
    if not way.own:
        name = style.figure_name(way.method)
        best = f", best of {way.best_of} methods" if way.best_of > 1 else ""
        whole.text(_NAME, y + 0.1, name + best, **small)
    if np.isfinite(way.accuracy):
        text = f"{in_points(way.accuracy)} %"
        whole.text(_ACCURACY, y, text, ha="right", **strong)
    word = f"{ways.SIGNS[way.word]} {way.word}"
    below = {"fontweight": "bold", "color": colour, **strong}
    whole.text(_WORD, y - (0.09 if way.reason else 0), word, **below)
    reason = textwrap.fill(way.reason, 24)
    whole.text(_WORD, y + 0.09, reason, linespacing=0.95, **{**small, "fontsize": 6.5})
    if np.isfinite(way.low):
        gains.plot([100 * way.low, 100 * way.high], [y, y], color=colour, lw=2.6)
    if np.isfinite(way.gain):
        face = "white" if way.word == OPEN else colour
        gains.plot([100 * way.gain], [y], "o", color=colour, mfc=face, ms=6.5, mew=1.6)
        end = 100 * (way.high if np.isfinite(way.high) else way.gain)
        text, place = in_points(way.gain, sign=True), (5, 0)
        units: Any = {"textcoords": "offset points", "va": "center"}
        gains.annotate(text, (end, y), place, color=colour, fontsize=9, **units)


def _scale(figure: Figure, gains: Axes, openings: Sequence[Opening]) -> None:
    """Draw zero through all lines, and one axis below; leave room for the numbers."""
    gains.axvline(0, color=style.INK, lw=1.2, zorder=1)
    low, high = gains.dataLim.intervalx
    if np.isfinite([low, high]).all():
        span = max(high, 1.0) - min(low, -1.0)
        gains.set_xlim(min(low, -1.0) - 0.04 * span, max(high, 1.0) + 0.17 * span)
    style.quiet(gains)
    gains.spines["left"].set_visible(False)
    gains.set_xlabel(_AXIS, fontsize=8.5, color=style.MUTED)
