"""Lines of accuracy along an axis, in percent: means, bands, and what lies far off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from cdspp.analysis.paired import mean_interval
from cdspp.analysis.summary import Floats, mean_sd
from cdspp.report.figures.style import far_below, figure_name, style_of
from cdspp.study.plan import Row

__all__ = ["DASHES", "draw_line", "note_far", "rows_in_view"]

DASHES = (0, (4, 2))


def draw_line(
    axes: Axes, row: Row, x: ArrayLike, values: Floats, *, band: bool, **look: Any
) -> None:
    """Draw a row's means over trials and, with `band`, their 95 % intervals.

    `values` are fractions by place along the axis and trial; places without a trial are
    left out. `look` has properties of the line in place of the usual ones.
    """
    seen = np.isfinite(values).any(axis=1)
    places, shown, style = np.asarray(x)[seen], 100 * values[seen], style_of(row.key)
    usual = {
        "color": style.colour,
        "marker": style.marker,
        "markersize": 4.5,
        "markerfacecolor": style.colour if style.filled else "white",
        "label": figure_name(row.display_name),
    }
    axes.plot(places, [mean_sd(trials)[0] for trials in shown], **{**usual, **look})
    if band and len(shown):
        edges = 100 * np.array([mean_interval(trials) for trials in values[seen]])
        axes.fill_between(places, *edges.T, color=style.colour, alpha=0.13, lw=0)


def rows_in_view(axes: Axes, rows: Sequence[Row], means: Floats) -> list[int]:
    """Return the places of the rows to draw; name those far below with their mean.

    `means` are where each of them ends, in percent; NaN where missing.
    """
    far = far_below(means)
    for height, i in enumerate(np.flatnonzero(far).tolist()):
        note_far(axes, rows[i], means[[i]], height, transform=axes.transAxes)
    return [int(i) for i in np.flatnonzero(~far)]


def note_far(
    axes: Axes, row: Row, means: Floats, height: int, *, x: float = 0.02, **look: Any
) -> None:
    """Name a row far below the others, with the lowest and highest of its means.

    They are in percent; `height` is how many such names stand below.
    """
    ends = dict.fromkeys(f"{end:.0f}" for end in (np.nanmin(means), np.nanmax(means)))
    text = f"▾ {figure_name(row.display_name)} {' to '.join(ends)}"
    axes.text(x, 0.02 + 0.08 * height, text, color=style_of(row.key).colour, **look)
