"""The figure of time and memory against the number of target rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cdspp.report.figures.style import MUTED, canvas, hide_spines, style_of, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_scale"]

LABELS = {"file": "rows stay in their file", "memory": "rows in memory"}
# The colours of two methods, for two ways of one.
KEYS = {"file": "cdspp", "memory": "svm-t"}


def draw_scale(
    measured: pd.DataFrame, outputs: Sequence[str | os.PathLike[str]]
) -> None:
    """Draw processor seconds and peak memory of fits by rows, a line per way.

    Parameters
    ----------
    measured : DataFrame
        What `benchmarks.scale.bench_scale` returned.
    outputs : sequence of path
        Files to write (svg, png).
    """
    with canvas(width(), 2.9, outputs) as figure:
        times, memory = figure.subplots(1, 2, sharex=True)
        _panel(times, measured, "processor_seconds", "processor seconds")
        _panel(memory, measured, "peak_memory_mb", "peak memory, MB")
        memory.set_ylim(10, 10 ** np.ceil(np.log10(measured["peak_memory_mb"].max())))
        # What linear growth would be, from the first fit on.
        first = measured[measured["way"] == "file"].iloc[0]
        ends = [first["rows"], measured["rows"].max()]
        linear = [first["processor_seconds"] * n / ends[0] for n in ends]
        times.plot(ends, linear, color=MUTED, lw=0.9, ls=":", label="linear")
        handles, names = times.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=3)


def _panel(axes: Axes, measured: pd.DataFrame, column: str, title: str) -> None:
    for way, group in measured.groupby("way", sort=False):
        style = style_of(KEYS[str(way)])
        axes.plot(
            group["rows"],
            group[column],
            color=style.colour,
            marker=style.marker,
            markersize=4,
            lw=1.1,
            label=LABELS[str(way)],
        )
    axes.set(xscale="log", yscale="log", xlabel="target rows", ylabel=title)
    axes.yaxis.set_minor_formatter("")
    hide_spines(axes, grid="y")
