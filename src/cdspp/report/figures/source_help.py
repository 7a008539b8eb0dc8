"""Charts of gains: by task, and by method and control."""

import math
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from cdspp.analysis import source_help, transfer
from cdspp.analysis.answers import gain_over, verdict_of
from cdspp.analysis.transfer import Transfer
from cdspp.core.names import AVERAGE, Paths
from cdspp.core.wording import DASH, in_points
from cdspp.report.figures import style
from cdspp.report.figures.drawing import CaptionedFigure
from cdspp.study.plan import Plans

_BASELINE = "#4b5563"
# Fills of cells without and with a large gain; in grey, signs distinguish light ones.
_CELLS = {
    Transfer.POSITIVE: ("#5b93c7", "#08306b"),
    Transfer.NEGATIVE: ("#f9cfa9", "#d9772b"),
    Transfer.NO_EFFECT: ("#d5d9de", "#d5d9de"),
    Transfer.INCONCLUSIVE: ("white", "white"),
}
_DARKEST = 0.2  # the gain, a fraction, from which cells are no darker
_COLUMN = 2.2  # cells that the column of verdicts is wide
_SILENT = transfer.NOT_RUN, transfer.TOO_FEW, transfer.DEGENERATE  # without a test


def write_opening(plans: Plans, comparisons: Paths, outputs: Paths) -> None:
    """Draw the opening chart, and the matrix of methods by controls below it."""
    gains = [source_help.read_comparisons(path) for path in comparisons]
    opening = partial(draw_source_help, plans, gains)
    states = partial(draw_source_states, gains, plans)
    style.draw_each(outputs, {"source-help": opening, "source-states": states})


def draw_source_help(
    plans: Plans, comparisons: Sequence[pd.DataFrame], outputs: Paths
) -> None:
    """Draw two gains by task: over the baseline and over the strongest control."""
    by_task = [
        source_help.by_task(source_help.of_reference(each)) for each in comparisons
    ]
    # A benchmark without the reference has no panel, unless it would be the only one.
    shown = [i for i, group in enumerate(by_task) if group] or range(len(by_task))
    groups, titles = [by_task[i] for i in shown], [plans[i].title for i in shown]
    lengths = [max(1, len(group)) for group in groups]
    sizes: Any = {"line": 0.36, "frame": 0.5, "rest": 0.8, "sharex": True, "most": 5.8}
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for axes, group in zip(panels, groups, strict=True):
            axes.axvline(0, color=style.MUTED, lw=0.9)
            for y, (task, of_task) in enumerate(group.items()):
                if task == AVERAGE:
                    axes.axhspan(y - 0.5, y + 0.5, color="#f5f6f7", lw=0, zorder=0)
                _task_gains(axes, task, of_task, y)
            axes.set_yticks([])
            axes.set_ylim(max(1, len(group)) - 0.5, -0.5)
            style.hide_spines(axes)
        figure.supxlabel("gain (points)")
        gains = [each for group in groups for each in group.values()]
        handles = _gain_handles(gains, control="control" in figure.parts)
        style.add_legend(figure, handles, "upper center")
        several = any(AVERAGE in group for group in groups)
        figure.parts |= {"average"} if several else set()
        figure.describe(plans)


def _task_gains(axes: Axes, task: str, comparisons: pd.DataFrame, y: float) -> None:
    """Draw the gains of a task; its name and verdict are left, which phones show."""
    parts = CaptionedFigure.of(axes).parts
    for comparison in comparisons[~comparisons["state"]].itertuples():
        draw_gain(axes, comparison, y - 0.16, (_BASELINE, "s", "white"))
        parts.add("baseline")
    verdict = verdict_of(comparisons)
    left: Any = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
    axes.text(-0.02, y - 0.22, style.task_text(task), **left)
    axes.text(-0.02, y + 0.22, verdict.label, color=verdict.colour, **left)
    if (comparator := _strongest(comparisons)) is not None:
        draw_gain(axes, comparator, y + 0.16, verdict_look(verdict))
        text = gain_over(comparator)
        right = left | {"ha": "left"}
        axes.text(1.02, y + 0.16, text, color=verdict.colour, **right)
        parts.add("control")


def _strongest(comparisons: pd.DataFrame) -> Any | None:
    """Return the comparison with the state over which the gain is least certain."""
    strongest = comparisons["comparator"] == comparisons["strongest"]
    return next(comparisons[comparisons["state"] & strongest].itertuples(), None)


def draw_gain(axes: Axes, gain: Any, y: float, look: tuple[str, str, str]) -> None:
    """Draw a gain with its interval at height `y`, in a colour, marker and fill."""
    colour, marker, face = look
    style.interval(axes, gain.low, gain.high, y, color=colour, lw=1.4)
    axes.plot([100 * gain.gain], [y], marker, color=colour, markersize=4.5, mfc=face)
    CaptionedFigure.of(axes).trials |= (
        {int(gain.trials)} if np.isfinite(gain.gain) else set()
    )


def verdict_look(verdict: Transfer) -> tuple[str, str, str]:
    """Return the colour, marker and fill of a verdict."""
    return verdict.colour, verdict.marker, verdict.face


def _gain_handles(gains: Sequence[pd.DataFrame], *, control: bool) -> list[Line2D]:
    """Return entries of a legend: the baseline, and a `control` if it was drawn."""
    names = [name for each in gains for name in each[~each["state"]]["comparator_name"]]
    looks = dict.fromkeys(names[:1], (_BASELINE, "s", "white"))
    if control:
        looks["the strongest control"] = verdict_look(Transfer.INCONCLUSIVE)
    handles = []
    for name, (colour, marker, face) in looks.items():
        label = f"over {style.figure_name(name)}"
        look: Any = {"color": colour, "marker": marker, "mfc": face, "ls": ""}
        handles.append(Line2D([], [], label=label, **look))
    return handles


def draw_source_states(
    comparisons: Sequence[pd.DataFrame], plans: Plans, outputs: Paths
) -> None:
    """Draw methods by controls: the verdict, and gains of the real source."""
    # A method that ran in no state has nothing to show here.
    groups = []
    for each, plan in zip(comparisons, plans, strict=True):
        matrix = source_help.matrix(each, corrected=plan.holm_over_methods)
        groups.append(matrix[matrix["state"]])
    lengths = [max(1, group["row"].nunique()) for group in groups]
    widest = max(
        (len(source_help.comparators_of([group])) for group in groups), default=0
    )
    # Narrow, so that a telephone shows it without shrinking the numbers.
    names = {name for group in groups for name in group["display_name"]}
    longest = max(map(len, names), default=0)
    names_width = 0.25 + style.letter() / style.scale() * longest
    wanted = names_width + 0.57 * (widest + _COLUMN)
    tight = style.width() < wanted * style.scale()  # signs are above their numbers
    sizes: Any = {"line": 0.245, "frame": 1.35, "most": max(5.0, wanted), "rest": 0.3}
    sizes |= {"line": 0.34, "frame": 1.55} if tight else {}
    sizes |= {"height_ratios": [length + 1 for length in lengths]}
    titles = [plan.title for plan in plans]
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for group, axes in zip(groups, panels, strict=True):
            _matrix(axes, group, tight=tight)
        signs = ", ".join(verdict.label for verdict in Transfer)
        text = "gain over this control (points), and by both measures:"
        figure.supxlabel(f"{text}\n{signs}")
        figure.describe(plans)


def _matrix(axes: Axes, comparisons: pd.DataFrame, *, tight: bool) -> None:
    names = comparisons.drop_duplicates("row").set_index("row")["display_name"]
    states = source_help.comparators_of([comparisons])
    for y, (_, pairs) in enumerate(comparisons.groupby("row", sort=False)):
        by_comparator = {pair.comparator: pair for pair in pairs.itertuples()}
        verdict = Transfer.of(pairs["verdict"].iloc[0])
        look: Any = {"va": "center", "color": verdict.colour}
        # One column of a page has room for the signs alone.
        text = verdict.sign if tight else verdict.label
        axes.text(-0.48 - _COLUMN, y, text, **look)
        for x, state in enumerate(states):
            _cell(axes, x, y, by_comparator.get(state), tight=tight)
    heads = [textwrap.fill(title, 13) for title in states.values()]
    axes.set_xticks(range(len(states)), heads, rotation=90)
    look = {"transform": axes.get_xaxis_transform(), "color": style.MUTED}
    axes.text(-0.48 - _COLUMN, 1.01, "verdict" if len(names) else "", **look)
    axes.set_yticks(range(len(names)), [style.figure_name(name) for name in names])
    axes.set_xlim(-0.5 - _COLUMN, max(1, len(states)) - 0.5)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)


def _cell(axes: Axes, x: int, y: int, pair: Any | None, *, tight: bool) -> None:
    verdict, text, ink, depth = Transfer.INCONCLUSIVE, DASH, style.MUTED, 0.0
    if pair is not None and not math.isnan(pair.gain):
        verdict, reason = source_help.pair_verdict(pair)
        decimals = 0 if tight and abs(pair.gain) >= 0.0995 else 1
        gain = in_points(pair.gain, sign=True, decimals=decimals)
        parts = CaptionedFigure.of(axes).parts
        ink = "white" if verdict is Transfer.POSITIVE else style.INK
        text = f"{verdict.sign}\n{gain}" if tight else f"{verdict.sign} {gain}"
        depth = math.sqrt(min(1.0, abs(pair.gain) / _DARKEST))
        if reason in _SILENT:
            text, ink = f"({gain})", style.MUTED
            parts.add("brackets")
        parts.add("gains")
    light, dark = map(np.array, map(to_rgb, _CELLS[verdict]))
    corner, fill = (x - 0.47, y - 0.45), tuple(light + depth * (dark - light))
    axes.add_patch(Rectangle(corner, 0.94, 0.9, facecolor=fill, edgecolor="#e4e6e9"))
    axes.text(x, y, text, color=ink, ha="center", va="center")
