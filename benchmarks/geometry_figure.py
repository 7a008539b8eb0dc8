"""The figure of gains against shared geometry, on planted problems."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from cdspp.report.figures.style import (
    MUTED,
    canvas,
    figure_name,
    hide_spines,
    style_of,
    width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_geometry"]


def draw_geometry(
    gains: pd.DataFrame, outputs: Sequence[str | os.PathLike[str]]
) -> None:
    """Draw the gain over no source against shared geometry, a line per method.

    Parameters
    ----------
    gains : DataFrame
        What `benchmarks.geometry.bench_geometry` returned.
    outputs : sequence of path
        Files to write (svg, png).
    """
    rows = sorted(gains["labels"].unique())
    columns = sorted(gains["classes"].unique())
    height = 1.75 * len(rows) + 1.1
    with canvas(width(), height, outputs) as figure:
        grid = figure.subplots(
            len(rows), len(columns), squeeze=False, sharex=True, sharey=True
        )
        for y, labels in enumerate(rows):
            for x, classes in enumerate(columns):
                here = gains[
                    (gains["labels"] == labels) & (gains["classes"] == classes)
                ]
                _panel(grid[y, x], here)
                noun = "label" if labels == 1 else "labels"
                grid[y, x].set_title(f"{classes} classes, {labels} {noun}")
        figure.supxlabel("shared geometry of the classes", fontsize=9)
        figure.supylabel("gain over no source, points", fontsize=9)
        handles, names = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=5)


def _panel(axes: Axes, gains: pd.DataFrame) -> None:
    axes.axhline(0, color=MUTED, lw=0.9)
    for method, group in gains.groupby("method", sort=False):
        style = style_of(str(method))
        # Side by side, so that intervals can be told apart.
        nudge = 0.012 * (list(gains["method"].unique()).index(method) - 4)
        axes.errorbar(
            group["shared"] + nudge,
            100 * group["gain"],
            yerr=100 * (group["high"] - group["low"]).to_numpy() / 2,
            color=style.colour,
            marker=style.marker,
            markersize=4,
            markerfacecolor=style.colour if style.filled else "white",
            elinewidth=0.7,
            lw=1.1,
            label=figure_name(group["display_name"].iloc[0]),
        )
    axes.set_xticks(sorted(gains["shared"].unique()))
    hide_spines(axes, grid="y")
