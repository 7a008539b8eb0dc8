"""What a bridge gives: accuracy by paired rows and by labels, beside labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cdspp.analysis.curves import CurveScores, parameter_title, value_text
from cdspp.analysis.summary import Summary
from cdspp.core.names import BASELINE, LABELS, MAIN, REFERENCE
from cdspp.core.wording import task_title
from cdspp.methods.bridge import PAIRS
from cdspp.report.figures import style
from cdspp.study.plan import BRIDGED, SHARED_ALONE, Row

__all__ = ["draw_bridges"]

_PANEL = 2.7


def draw_bridges(
    parts: Sequence[tuple[Summary, Sequence[CurveScores]]], outputs: style.Outputs
) -> None:
    """Draw a line of panels a benchmark: accuracy by pairs, and by labels.

    Beside the methods that use pairs lie, as lines across, those without: the
    reference, which has labels alone, the target alone, and shared columns.
    """
    with style.canvas(style.WIDTH, _PANEL * len(parts) + 0.5, outputs) as figure:
        shared: Any = {"squeeze": False, "width_ratios": [1.25, 1], "sharey": "row"}
        grid = figure.subplots(len(parts), 2, **shared)
        for panels, (summary, curves) in zip(grid, parts, strict=True):
            pairs = next(curve for curve in curves if curve.parameter == PAIRS)
            labels = next((c for c in curves if c.parameter == LABELS), None)
            title = f"{summary.plan.title}: {task_title(pairs.tasks[0])}"
            panels[0].set_title(style.plain_text(title), fontweight="bold", loc="left")
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


def _pair_panel(axes: Axes, summary: Summary, curve: CurveScores) -> None:
    task = summary.tasks.index(curve.tasks[0])
    ends = [0.0, curve.values[-1]]
    for i, row in enumerate(summary.rows):
        alone = row.role in (REFERENCE, BASELINE) or row.stands_for
        if row.setting == MAIN and (alone or row.bridge == SHARED_ALONE):
            values = summary.accuracy[i, task, : curve.plan.trials_asked]
            twice, look = np.stack([values] * 2), _across_look(row)
            style.draw_line(axes, row, ends, twice, band=False, **look)
    for row, values in zip(curve.rows, curve.accuracy[:, 0], strict=True):
        style.draw_line(axes, row, curve.values, values, band=True, lw=1.7, zorder=3)
    axes.set_xscale("symlog", linthresh=curve.values[0])
    _ticks(axes, (0.0, *curve.values), curve)


def _across_look(row: Row) -> dict[str, Any]:
    """Return how a line across looks, and what it says of what the method uses."""
    used = "labels alone" if row.role == REFERENCE else "no source"
    name = style.figure_name(row.display_name)
    return {
        "lw": 1.2,
        "ls": style.DASHES if row.role == BASELINE else "-",
        "label": name if row.bridge else f"{name}: {used}",
    }


def _label_panel(axes: Axes, curve: CurveScores, methods: Sequence[str]) -> None:
    for row, values in zip(curve.rows, curve.accuracy[:, 0], strict=True):
        shown = row.kind == BRIDGED or row.role or row.method in methods
        if shown or row.stands_for:
            look = {"lw": 1.7} if row.method in methods else _across_look(row)
            style.draw_line(axes, row, curve.values, values, band=False, **look)
    _ticks(axes, curve.values, curve)


def _ticks(axes: Axes, values: Sequence[float], curve: CurveScores) -> None:
    axes.set_xticks(values, [value_text(value) for value in values])
    axes.minorticks_off()
    axes.set_xlabel(parameter_title(curve.parameter))
    style.quiet(axes, grid="y")
