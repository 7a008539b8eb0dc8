"""Lines of accuracy along an axis, in percent: means, bands, and what lies far off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cdspp.analysis.paired import mean_interval
from cdspp.analysis.summary import Floats, mean_sd
from cdspp.report.figures.style import far_below, figure_name, style_of
from cdspp.study.plan import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DASHES", "draw_line", "note_far", "rows_in_view"]

DASHES = (0, (4, 2))


def draw_line(
    axes: Axes, row: Row, x: ArrayLike, values: Floats, *, band: bool, **look: Any
) -> None:
    """Draw a row's means over trials and, with `band`, their 95 % intervals.

    Parameters
    ----------
    axes : Axes
        Where to draw; the scale is percent.
    row : Row
        Whose style and name to use.
    x : array-like of shape (n_places,)
        Places along the axis.
    values : ndarray of shape (n_places, n_trials)
        Accuracies as fractions; places without a trial are left out.
    band : bool
        Whether to show the intervals.
    **look
        Properties of the line in place of the usual ones.
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

    Parameters
    ----------
    axes : Axes
        Where to write the names.
    rows : sequence of Row
        The rows.
    means : ndarray of shape (n_rows,)
        Where each of them ends, in percent; NaN where missing.
    """
    far = far_below(means)
    for height, i in enumerate(np.flatnonzero(far).tolist()):
        note_far(axes, rows[i], means[[i]], height, transform=axes.transAxes)
    return [int(i) for i in np.flatnonzero(~far)]


def note_far(
    axes: Axes, row: Row, means: Floats, height: int, *, x: float = 0.02, **look: Any
) -> None:
    """Name a row far below the others, with its means in percent.

    Parameters
    ----------
    axes : Axes
        Where to write.
    row : Row
        The row.
    means : ndarray of shape (n,)
        The number to give, or lowest and highest of several.
    height : int
        How many such names stand below.
    x : float, default=0.02
        Where it stands.
    **look
        Properties of the text, its transform among them.
    """
    ends = dict.fromkeys(f"{end:.0f}" for end in (np.nanmin(means), np.nanmax(means)))
    text = f"▾ {figure_name(row.display_name)} {' to '.join(ends)}"
    axes.text(x, 0.02 + 0.08 * height, text, color=style_of(row.key).colour, **look)
