"""The opening figure: whether the source helped, on every task of every benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from cdspp.analysis.answers import Interval, verdict_of
from cdspp.analysis.source_help import by_task, of_reference
from cdspp.analysis.summary import Summary
from cdspp.analysis.verdicts import EQUAL, HELPS, HURTS
from cdspp.core.names import AVERAGE, BASELINE, REFERENCE
from cdspp.core.wording import in_points
from cdspp.report.figures import style
from cdspp.report.outline import few_tasks

__all__ = ["draw_source_help"]

_PITCH = 1.6
VERDICT_COLOURS = {HELPS: "#0067a8", HURTS: "#c9431d", EQUAL: "#22262b"}
_MARKERS = {HELPS: "o", HURTS: "D", EQUAL: "s"}
_BASELINE = "#4b5563"
_LINE_HEIGHT = 0.23
_FRAME = 0.5


def draw_source_help(
    summaries: Sequence[Summary],
    comparisons: Sequence[pd.DataFrame],
    outputs: style.Outputs,
) -> None:
    """Draw baseline, states and reference of every task, or of many their gains.

    `comparisons` are what `cdspp.analysis.source_help.compare_with_rivals` says of each
    benchmark.
    """
    groups = [by_task(of_reference(found)) for found in comparisons]
    if not few_tasks([summary.plan for summary in summaries]):
        _draw_gains(summaries, groups, outputs)
        return
    lengths = [max(1, len(summary.tasks)) for summary in summaries]
    height = sum(length * 0.88 + 0.48 for length in lengths) + 0.85
    with style.canvas(style.WIDTH, height, outputs) as figure:
        panels = style.stacked(figure, [s.plan.title for s in summaries], lengths)
        for summary, group, axes in zip(summaries, groups, panels, strict=True):
            _source_panel(axes, summary, group)
        style.equal_windows(panels)
        panels[0].annotate(
            "verdict; least sure gain [95 %]",
            (1.02, 1),
            xycoords="axes fraction",
            xytext=(0, 6),
            textcoords="offset points",
            color=style.MUTED,
        )
        figure.supxlabel("accuracy, percent", fontsize=9)
        rows = {s.rows[i].key: s.rows[i] for s in summaries for i in _rows(s)}
        if handles := style.method_handles(rows.values()):
            figure.legend(handles=handles, loc="outside upper center", ncols=3)


def _rows(summary: Summary) -> list[int]:
    """Positions of baseline, other source states and reference, top to bottom."""
    baseline, reference = summary.place(BASELINE), summary.place(REFERENCE)
    controls = [i for i, row in enumerate(summary.rows) if row.control]
    found = [baseline, *controls, reference]
    return list(dict.fromkeys(i for i in found if i is not None))


def _source_panel(
    axes: Axes, summary: Summary, groups: Mapping[str, pd.DataFrame]
) -> None:
    rows = _rows(summary)
    pitch = len(rows) + _PITCH
    reference = summary.place(REFERENCE)
    for place, task in enumerate(summary.tasks):
        top = place * pitch
        if place % 2 == 0:
            edge = top - (1 + _PITCH) / 2
            axes.axhspan(edge, edge + pitch, color="#f5f6f7", lw=0, zorder=0)
        for offset, i in enumerate(rows):
            values = summary.accuracy[i, place]
            mean = style.dots(axes, summary.rows[i].key, values, top + offset)
            if i == reference and np.isfinite(mean):
                ends = [top - 0.5, top + offset]
                axes.plot([mean, mean], ends, color="#0067a8", lw=0.9, alpha=0.45)
        _gain_text(axes, groups.get(task), top + (len(rows) - 1) / 2)
    centres = [k * pitch + (len(rows) - 1) / 2 for k in range(len(summary.tasks))]
    axes.set_yticks(centres, [style.task_text(task) for task in summary.tasks])
    edge = (1 + _PITCH) / 2
    axes.set_ylim(max(1, len(summary.tasks)) * pitch - edge, -edge)
    style.quiet(axes)


def _gain_text(axes: Axes, comparisons: pd.DataFrame | None, y: float) -> None:
    """Write the verdict on a task, and the gain over the state hardest to beat."""
    if comparisons is None:
        return
    word = verdict_of(comparisons)
    where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    colour = VERDICT_COLOURS.get(word, style.MUTED)
    axes.text(1.02, y - 1.4, word, color=colour, fontweight="bold", **where)
    if (rival := _hardest(comparisons)) is not None:
        low, high = in_points(rival.low), in_points(rival.high)
        text = f"{in_points(rival.gain, sign=True)}  [{low}, {high}]"
        axes.text(1.02, y + 0.1, text, **where)
        axes.text(1.02, y + 1.6, f"over {rival.rival}", **where)


def _hardest(comparisons: pd.DataFrame) -> Any | None:
    """Return the comparison with the state over which the gain is least sure."""
    states = comparisons[comparisons["state"]]
    found = states[states["rival"] == states["hardest"]]
    return None if found.empty else found.iloc[0]


def _draw_gains(
    summaries: Sequence[Summary],
    groups: Sequence[Mapping[str, pd.DataFrame]],
    outputs: style.Outputs,
) -> None:
    """Draw what the reference gains over the baseline and the hardest state.

    Each benchmark is a panel with a line a task and one for the average.
    """
    lengths = [max(1, len(group)) for group in groups]
    height = sum(_LINE_HEIGHT * length + _FRAME for length in lengths) + 0.7
    with style.canvas(style.WIDTH, height, outputs) as figure:
        titles = [summary.plan.title for summary in summaries]
        panels = style.stacked(figure, titles, lengths, sharex=True)
        for group, axes in zip(groups, panels, strict=True):
            _gain_panel(axes, group)
        figure.supxlabel("gain, points", fontsize=9)
        found = [each for group in groups for each in group.values()]
        names = [name for each in found for name in each[~each["state"]]["rival_name"]]
        baseline = next(iter(names), "")
        if handles := _handles(baseline):
            figure.legend(handles=handles, loc="outside upper center", ncols=4)


def _gain_panel(axes: Axes, groups: Mapping[str, pd.DataFrame]) -> None:
    axes.axvline(0, color=style.MUTED, lw=0.9)
    for y, (task, comparisons) in enumerate(groups.items()):
        if task == AVERAGE:
            axes.axhspan(y - 0.5, y + 0.5, color="#f5f6f7", lw=0, zorder=0)
        for comparison in comparisons[~comparisons["state"]].itertuples():
            _gain(axes, comparison, y - 0.16, (_BASELINE, "s", "white"))
        if (rival := _hardest(comparisons)) is not None:
            _gain(axes, rival, y + 0.16, _look(verdict_of(comparisons)))
    axes.set_yticks(range(len(groups)), [style.task_text(task) for task in groups])
    axes.set_ylim(max(1, len(groups)) - 0.5, -0.5)
    style.quiet(axes)


def _gain(axes: Axes, gain: Interval, y: float, look: tuple[str, str, str]) -> None:
    colour, marker, face = look
    if np.isfinite(gain.low):
        axes.plot([100 * gain.low, 100 * gain.high], [y, y], color=colour, lw=1.4)
    axes.plot([100 * gain.gain], [y], marker, color=colour, markersize=4, mfc=face)


def _handles(baseline: str) -> list[Line2D]:
    kinds = [
        (f"over {style.figure_name(baseline)}", _BASELINE, "s", "white"),
        ("over the hardest state: helps", *_look(HELPS)),
        (EQUAL, *_look(EQUAL)),
        ("undecided", *_look("")),
        (HURTS, *_look(HURTS)),
    ]
    return [
        Line2D([], [], label=label, color=colour, marker=marker, mfc=face, ls="")
        for label, colour, marker, face in kinds[0 if baseline else 1 :]
    ]


def _look(found: str) -> tuple[str, str, str]:
    """Return colour, marker and fill of a verdict."""
    colour = VERDICT_COLOURS.get(found, style.MUTED)
    return colour, _MARKERS.get(found, "v"), colour
