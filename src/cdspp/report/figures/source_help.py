"""Charts of gains: by task, and by method and control."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from cdspp.analysis import source_help, transfer
from cdspp.analysis.answers import verdict_of
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import PairedGain
from cdspp.core.names import AVERAGE, Paths
from cdspp.core.wording import DASH, in_points
from cdspp.report.figures import style
from cdspp.study.plan import Plans

_BASELINE = "#4b5563"
# Fill and ink of a cell; in greyscale, the signs distinguish the light ones.
_CELLS = {
    Transfer.POSITIVE: ("#0b5394", "white"),
    Transfer.NEGATIVE: ("#f4b183", style.INK),
    Transfer.NO_EFFECT: ("#d5d9de", style.INK),
    Transfer.INCONCLUSIVE: ("white", style.INK),
}
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
    sizes: Any = {"line": 0.27, "frame": 0.5, "rest": 0.8, "sharex": True}
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for axes, group in zip(panels, groups, strict=True):
            axes.axvline(0, color=style.MUTED, lw=0.9)
            for y, (task, of_task) in enumerate(group.items()):
                if task == AVERAGE:
                    axes.axhspan(y - 0.5, y + 0.5, color="#f5f6f7", lw=0, zorder=0)
                _task_gains(axes, of_task, y)
            axes.set_yticks(range(len(group)), list(map(style.task_text, group)))
            axes.set_ylim(max(1, len(group)) - 0.5, -0.5)
            style.hide_spines(axes)
        figure.supxlabel("gain, points")
        gains = [each for group in groups for each in group.values()]
        style.add_legend(figure, _gain_handles(gains), "upper center")


def _task_gains(axes: Axes, comparisons: pd.DataFrame, y: float) -> None:
    for comparison in comparisons[~comparisons["state"]].itertuples():
        _gain(axes, comparison, y - 0.16, (_BASELINE, "s", "white"))
    verdict = verdict_of(comparisons)
    text = verdict.label
    if (rival := _hardest(comparisons)) is not None:
        _gain(axes, rival, y + 0.16, _look(verdict))
        text += f", {in_points(rival.gain, sign=True)} over {rival.rival}"
    place: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(1.02, y, text, color=verdict.colour, **place)


def _hardest(comparisons: pd.DataFrame) -> Any | None:
    """Return the comparison with the state over which the gain is least certain."""
    hardest = comparisons["rival"] == comparisons["hardest"]
    return next(comparisons[comparisons["state"] & hardest].itertuples(), None)


def _gain(axes: Axes, gain: PairedGain, y: float, look: tuple[str, str, str]) -> None:
    colour, marker, face = look
    if np.isfinite(gain.low):
        axes.plot([100 * gain.low, 100 * gain.high], [y, y], color=colour, lw=1.4)
    axes.plot([100 * gain.gain], [y], marker, color=colour, markersize=4, mfc=face)


def _look(verdict: Transfer) -> tuple[str, str, str]:
    return verdict.colour, verdict.marker, verdict.face


def _gain_handles(gains: Sequence[pd.DataFrame]) -> list[Line2D]:
    """Return two entries of a legend; the text at the right has the verdicts."""
    names = [name for each in gains for name in each[~each["state"]]["rival_name"]]
    looks = dict.fromkeys(names[:1], (_BASELINE, "s", "white"))
    looks["the strongest control"] = _look(Transfer.INCONCLUSIVE)
    handles = []
    for name, (colour, marker, face) in looks.items():
        label = f"over {style.figure_name(name)}"
        look: Any = {"color": colour, "marker": marker, "mfc": face, "ls": ""}
        handles.append(Line2D([], [], label=label, **look))
    return handles


def draw_source_states(
    comparisons: Sequence[pd.DataFrame], plans: Plans, outputs: Paths
) -> None:
    """Draw methods by controls: gains of the real source, averaged over tasks."""
    # A method that ran in no state has nothing to show here.
    groups = []
    for each, plan in zip(comparisons, plans, strict=True):
        matrix = source_help.matrix(each, corrected=plan.holm_over_methods)
        groups.append(matrix[matrix["state"]])
    lengths = [max(1, group["row"].nunique()) for group in groups]
    widest = max((len(source_help.rivals_of([group])) for group in groups), default=0)
    # Narrow, so that a telephone shows it without shrinking the numbers.
    wanted = 1.6 + 0.62 * widest
    tight = style.width() < wanted * style.scale()  # signs are above their numbers
    sizes: Any = {"line": 0.245, "frame": 0.75, "most": max(5.0, wanted), "rest": 0.3}
    sizes |= {"line": 0.34, "frame": 1.3} if tight else {}
    sizes |= {"height_ratios": [length + 1 for length in lengths]}
    titles = [plan.title for plan in plans]
    with style.stacked(titles, lengths, outputs, **sizes) as (figure, panels):
        for group, axes in zip(groups, panels, strict=True):
            _matrix(axes, group, tight=tight)
        signs = ", ".join(verdict.label for verdict in Transfer)
        text = "gain in accuracy over this control, points, and by both measures:"
        figure.supxlabel(f"{text}\n{signs}")


def _matrix(axes: Axes, comparisons: pd.DataFrame, *, tight: bool) -> None:
    names = comparisons.drop_duplicates("row").set_index("row")["display_name"]
    states = source_help.rivals_of([comparisons])
    for y, (_, pairs) in enumerate(comparisons.groupby("row", sort=False)):
        by_rival = {pair.rival: pair for pair in pairs.itertuples()}
        for x, state in enumerate(states):
            _cell(axes, x, y, by_rival.get(state), tight=tight)
    heads = [title.replace("-", "-\n").replace(" ", "\n") for title in states.values()]
    axes.set_xticks(range(len(states)), heads, rotation=90 if tight else 0)
    axes.set_yticks(range(len(names)), [style.figure_name(name) for name in names])
    axes.set_xlim(-0.5, max(1, len(states)) - 0.5)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)


def _cell(axes: Axes, x: int, y: int, pair: Any | None, *, tight: bool) -> None:
    verdict, text, ink = Transfer.INCONCLUSIVE, DASH, style.MUTED
    if pair is not None and not math.isnan(pair.gain):
        verdict, reason = source_help.pair_verdict(pair)
        gain, (_, ink) = in_points(pair.gain, sign=True), _CELLS[verdict]
        text = f"{verdict.sign}\n{gain}" if tight else f"{verdict.sign} {gain}"
        if reason in _SILENT:
            text, ink = f"({gain})", style.MUTED
    corner, fill = (x - 0.47, y - 0.45), _CELLS[verdict][0]
    axes.add_patch(Rectangle(corner, 0.94, 0.9, facecolor=fill, edgecolor="#e4e6e9"))
    axes.text(x, y, text, color=ink, ha="center", va="center")
