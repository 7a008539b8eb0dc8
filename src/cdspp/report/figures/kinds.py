"""The opening figure: the gain and verdict of each kind of transfer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cdspp.analysis import kinds, transfer
from cdspp.analysis.kinds import KindOfTransfer, Opening
from cdspp.analysis.pairwise import read_pairwise
from cdspp.analysis.source_help import read_comparisons
from cdspp.core.names import Paths
from cdspp.core.wording import in_points, sentence
from cdspp.report.figures import style
from cdspp.report.figures.drawing import CaptionedFigure
from cdspp.study.plan import Plans

# Inches of a heading and of a kind, each two lines of text, and above and below them.
_LINE, _KIND, _TOP, _BOTTOM = 0.2, 0.46, 0.35, 0.5
# Left edges of the columns, as shares of the width; the axis is between the last two.
_NAME, _ACCURACY, _FIRST, _LAST, _WORD = 0.01, 0.37, 0.39, 0.78, 0.83
_BAND = "#f3f5f7"
_MUTED: Any = {"va": "center", "color": style.MUTED}
_STRONG: Any = {"va": "center", "fontweight": "bold"}


def write_kinds(
    plans: Plans, comparisons: Paths, pairwise: Paths, outputs: Paths
) -> None:
    """Draw the kinds of transfer on every benchmark, one line each."""
    tables = map(read_comparisons, comparisons), map(read_pairwise, pairwise)
    openings = [kinds.opening(*pair) for pair in zip(*tables, strict=True)]
    draw_kinds(plans, openings, outputs)


def draw_kinds(plans: Plans, openings: Sequence[Opening], outputs: Paths) -> None:
    """Draw openings one below the other, with all gains along one axis."""
    size = style.scale()
    n_kinds = sum(len(each.kinds) for each in openings)
    height = _TOP + _KIND * (n_kinds + len(openings)) + _BOTTOM
    with style.canvas(style.width(), size * height, outputs) as figure:
        figure.set_layout_engine("none")
        bottom, below = _BOTTOM / height, _TOP / height
        text_axes = figure.add_axes((0.004, bottom, 0.992, 0.995 - bottom))
        text_axes.set(xlim=(0.004, 0.996), ylim=(height - _BOTTOM, 0.005 * height))
        text_axes.set_axis_off()
        gains = figure.add_axes((_FIRST, bottom, _LAST - _FIRST, 1 - bottom - below))
        gains.set(ylim=(height - _BOTTOM, _TOP), facecolor="none", yticks=[])
        _heads(text_axes)
        y = _TOP + _LINE
        for each in openings:
            _heading(text_axes, gains, each, y)
            y += _KIND
            for kind in each.kinds:
                _kind(text_axes, gains, kind, y)
                y += _KIND
        _scale(gains)
        figure.describe(plans)


def _heads(axes: Axes) -> None:
    heads = "gain" if style.narrow() else transfer.OVER_OWN_FIT
    axes.text(_ACCURACY, _LINE, "accuracy", ha="right", **_MUTED)
    axes.text(_FIRST + 0.02, _LINE, heads, **_MUTED)
    axes.text(0.99, _LINE, "verdict", ha="right", **_MUTED)


def _heading(axes: Axes, gains: Axes, opening: Opening, y: float) -> None:
    axes.text(_NAME, y - _LINE / 2, style.plain_text(opening.title), **_STRONG)
    if text := style.plain_text(opening.without_text, most=120):
        over: Any = {"transform": axes.transData, "bbox": style.ON_LINES, **_MUTED}
        gains.text(_NAME, y + _LINE / 2, text, **over)  # over the lines of the axis


def _kind(text_axes: Axes, gains: Axes, kind: KindOfTransfer, y: float) -> None:
    """Draw a kind on two lines: its name and verdict; its method and the reason."""
    of, verdict = kind.of, kind.of.verdict
    text_axes.axhspan(y - 0.95 * _LINE, y + 0.95 * _LINE, color=_BAND, lw=0, zorder=0)
    colour, above, below = verdict.colour, y - _LINE / 2, y + _LINE / 2
    text_axes.text(_NAME, above, style.plain_text(sentence(kind.title)), va="center")
    subtitle = kind.subtitle(style.figure_name(of.method))
    text_axes.text(_NAME, below, subtitle, **_MUTED)
    if np.isfinite(of.accuracy):
        text = f"{in_points(of.accuracy)} %"
        line = below if style.narrow() else above
        text_axes.text(_ACCURACY, line, text, ha="right", va="center")
    strong = {**_STRONG, "color": colour}
    text_axes.text(0.99, above, verdict.label, ha="right", **strong)
    box = style.ON_LINES | {"facecolor": _BAND}
    reason = of.reason.partition(" (")[0]  # the page has the numbers
    over: Any = {"transform": text_axes.transData, "bbox": box, **_MUTED}
    gains.text(0.99, below, reason, ha="right", **over)
    style.interval(gains, of.low, of.high, above, color=colour, lw=2.6)
    if np.isfinite(of.gain):
        look: Any = {"color": colour, "mfc": verdict.face, "ms": 6.5, "mew": 1.6}
        gains.plot([100 * of.gain], [above], verdict.marker, **look)
        end = 100 * (of.high if np.isfinite(of.high) else of.gain)
        text, units = in_points(of.gain, sign=True), "offset points"
        look = {"textcoords": units, "va": "center", "color": colour}
        gains.annotate(text, (end, above), (5, 0), **look)
        CaptionedFigure.of(gains).trials.add(of.trials)


def _scale(gains: Axes) -> None:
    """Draw zero through all lines, and one axis below; leave space for the numbers."""
    gains.axvline(0, color=style.INK, lw=1.2, zorder=1)
    low, high = gains.dataLim.intervalx
    if np.isfinite([low, high]).all():
        span = max(high, 1.0) - min(low, -1.0)
        beyond = 0.3 if style.narrow() else 0.17
        gains.set_xlim(min(low, -1.0) - 0.04 * span, max(high, 1.0) + beyond * span)
    style.hide_spines(gains)
    gains.spines["left"].set_visible(False)
    gains.set_xlabel("gain (points)")
