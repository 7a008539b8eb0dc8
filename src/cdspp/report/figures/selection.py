"""The chart of hyper-parameters: default, selected, and best in hindsight."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from cdspp.core.names import REAL
from cdspp.core.wording import STATE_TITLES
from cdspp.report.figures.style import (
    INK,
    MUTED,
    WIDTH,
    canvas,
    equal_windows,
    figure_name,
    plain_text,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_selections"]

_LINE_HEIGHT = 0.21
_FRAME = 0.5
# The form of a fit: its column, its name, and marker, colour and fill.
_FORMS = (
    ("default", "default", "s", MUTED, "white"),
    ("selected", "selected on the labelled rows", "o", "#0067a8", "#0067a8"),
    ("hindsight", "best in hindsight, which nobody can know", "|", "#c9431d", "none"),
)


def draw_selections(
    found: pd.DataFrame, outputs: Sequence[str | os.PathLike[str]]
) -> None:
    """Draw the accuracy of every form, a line a method and source state.

    Parameters
    ----------
    found : DataFrame
        What `cdspp.analysis.selection.compare_selections` returned, of all benchmarks.
    outputs : sequence of path
        Files to write (svg, png).
    """
    groups = [group for _, group in found.groupby("title", sort=False)]
    lengths = [len(group) for group in groups]
    height = sum(_LINE_HEIGHT * length + _FRAME for length in lengths) + 0.6
    with canvas(WIDTH, height, outputs) as figure:
        grid = figure.subplots(
            len(groups), 1, squeeze=False, gridspec_kw={"height_ratios": lengths}
        )[:, 0]
        for group, axes in zip(groups, grid, strict=True):
            _panel(axes, group)
        equal_windows(list(grid))
        figure.supxlabel("accuracy, percent", fontsize=9)
        handles, names = grid[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=len(_FORMS))


def _panel(axes: Axes, group: pd.DataFrame) -> None:
    axes.set_title(plain_text(group["title"].iloc[0]), fontweight="bold", fontsize=9.5)
    forms = 100 * group[[column for column, *_ in _FORMS]]
    places = range(len(group))
    axes.hlines(places, forms.min(axis=1), forms.max(axis=1), color="#b9bdc3", lw=1)
    for column, label, marker, colour, fill in _FORMS:
        size = 9 if marker == "|" else 5
        (line,) = axes.plot(forms[column], places, marker, label=label, mew=1.6)
        line.set(color=colour, markerfacecolor=fill, markersize=size)
    names = [
        f"{figure_name(row.display_name)}, {_source(row.state)}"
        for row in group.itertuples()
    ]
    axes.set_yticks(places, names)
    for text, state in zip(axes.get_yticklabels(), group["state"], strict=True):
        text.set_color(INK if state == REAL else MUTED)
    axes.set_ylim(len(group) - 0.4, -0.6)
    quiet(axes)


def _source(state: str) -> str:
    return "real source" if state == REAL else STATE_TITLES[state]
