"""What a bridge gives: accuracy by paired rows and by labels, beside labels alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.analysis.curves import CurveScores, parameter_title, value_text
from cdspp.analysis.summary import Summary
from cdspp.core.names import BASELINE, LABELS, MAIN, REFERENCE
from cdspp.core.wording import task_title
from cdspp.methods.bridge import PAIRS
from cdspp.report.figures.lines import DASHES, draw_line
from cdspp.report.figures.style import (
    WIDTH,
    canvas,
    figure_name,
    plain_text,
    quiet,
)
from cdspp.study.plan import BRIDGED, SHARED_ALONE, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_bridges"]

Part = tuple[Summary, Sequence[CurveScores]]

_PANEL = 2.7


def draw_bridges(
    parts: Sequence[Part], outputs: Sequence[str | os.PathLike[str]]
) -> None:
    """Draw a line of panels a benchmark: accuracy by pairs, and by labels.

    Beside the methods that use pairs lie, as lines across, those without: the
    reference, which has labels alone, the target alone, and shared columns.

    Parameters
    ----------
    parts : sequence of (Summary, sequence of CurveScores)
        Scores of the benchmarks that have a curve over paired rows, and their curves.
    outputs : sequence of path
        Files to write (svg, png).
    """
    with canvas(WIDTH, _PANEL * len(parts) + 0.5, outputs) as figure:
        grid = figure.subplots(
            len(parts), 2, squeeze=False, width_ratios=[1.25, 1], sharey="row"
        )
        for panels, (summary, curves) in zip(grid, parts, strict=True):
            pairs, labels = (_of(curves, kind) for kind in (PAIRS, LABELS))
            assert pairs is not None
            title = f"{summary.plan.title}: {task_title(pairs.tasks[0])}"
            panels[0].set_title(plain_text(title), fontweight="bold", loc="left")
            _pair_panel(panels[0], summary, pairs)
            if labels is None:
                panels[1].set_axis_off()
            else:
                _label_panel(panels[1], labels, [row.method for row in pairs.rows])
            panels[0].set_ylabel("accuracy, percent")
        named: dict[str, Any] = {}
        for axes in grid.flat:
            handles, names = axes.get_legend_handles_labels()
            named = {**dict(zip(names, handles, strict=True)), **named}
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3)


def _of(curves: Sequence[CurveScores], parameter: str) -> CurveScores | None:
    return next((curve for curve in curves if curve.parameter == parameter), None)


def _pair_panel(axes: Axes, summary: Summary, curve: CurveScores) -> None:
    task = summary.tasks.index(curve.tasks[0])
    ends = [0.0, curve.values[-1]]
    for i, row in _across(summary):
        values = summary.accuracy[i, task, : curve.plan.trials_asked]
        draw_line(
            axes, row, ends, np.stack([values] * 2), band=False, **_across_look(row)
        )
    for row, values in zip(curve.rows, curve.accuracy[:, 0], strict=True):
        draw_line(axes, row, curve.values, values, band=True, lw=1.7, zorder=3)
    axes.set_xscale("symlog", linthresh=curve.values[0])
    _ticks(axes, (0.0, *curve.values), curve)


def _across(summary: Summary) -> Iterator[tuple[int, Row]]:
    """Yield the rows that no number of pairs changes, with their places."""
    for place, row in enumerate(summary.rows):
        alone = row.role in (REFERENCE, BASELINE) or row.stands_for
        if row.setting == MAIN and (alone or row.bridge == SHARED_ALONE):
            yield place, row


def _across_look(row: Row) -> dict[str, Any]:
    """Return how a line across looks, and what it says of what the method uses."""
    used = "labels alone" if row.role == REFERENCE else "no source"
    name = figure_name(row.display_name)
    return {
        "lw": 1.2,
        "ls": DASHES if row.role == BASELINE else "-",
        "label": name if row.bridge else f"{name}: {used}",
    }


def _label_panel(axes: Axes, curve: CurveScores, methods: Sequence[str]) -> None:
    for row, values in zip(curve.rows, curve.accuracy[:, 0], strict=True):
        shown = row.kind == BRIDGED or row.role or row.method in methods
        if shown or row.stands_for:
            look = {"lw": 1.7} if row.method in methods else _across_look(row)
            draw_line(axes, row, curve.values, values, band=False, **look)
    _ticks(axes, curve.values, curve)


def _ticks(axes: Axes, values: Sequence[float], curve: CurveScores) -> None:
    axes.set_xticks(values, [value_text(value) for value in values])
    axes.minorticks_off()
    axes.set_xlabel(parameter_title(curve.parameter))
    quiet(axes, grid="y")
