"""The matrix below the opening chart: every method by every source state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from cdspp.analysis.source_help import matrix, rivals_of
from cdspp.analysis.verdicts import COLLAPSED, EQUAL, HELPS, HURTS, TOO_FEW, UNDECIDED
from cdspp.core.wording import DASH, in_points
from cdspp.report.figures import style
from cdspp.study.plan import BenchmarkPlan

__all__ = ["draw_source_states"]

# Narrow, so that a telephone shows it without shrinking the numbers.
_WIDTH, _COLUMN, _NAMES = 5.0, 0.62, 1.6
_LINE = 0.245
_FRAME = 0.75
# Fill and ink by the verdict on a pair; in grey the signs tell the light ones apart.
_LOOK = {
    HELPS: ("#0b5394", "white"),
    HURTS: ("#f4b183", style.INK),
    EQUAL: ("#d5d9de", style.INK),
    UNDECIDED: ("white", style.INK),
    TOO_FEW: ("white", style.MUTED),
    COLLAPSED: ("white", style.MUTED),
}
_SIGNS = {HELPS: "▲", HURTS: "▼", EQUAL: "="}
_WORDS = {HELPS: "better", HURTS: "worse", EQUAL: "equal"}


def draw_source_states(
    comparisons: Sequence[pd.DataFrame],
    plans: Sequence[BenchmarkPlan],
    outputs: style.Outputs,
) -> None:
    """Draw methods by source states: the gain of the real source, averaged over tasks.

    `comparisons` are what `cdspp.analysis.source_help.compare_with_rivals` says of each
    benchmark.
    """
    # A method that ran in no state has nothing to show here.
    matrices = [
        matrix(found, corrected=plan.holm_over_methods)
        for found, plan in zip(comparisons, plans, strict=True)
    ]
    groups = [found[found["state"]] for found in matrices]
    lengths = [max(1, group["row"].nunique()) for group in groups]
    height = sum(_LINE * length + _FRAME for length in lengths) + 0.3
    widest = max((len(rivals_of([group])) for group in groups), default=0)
    width = max(_WIDTH, _NAMES + _COLUMN * widest)
    with style.canvas(width, height, outputs) as figure:
        titles = [plan.title for plan in plans]
        panels = style.stacked(figure, titles, [length + 1 for length in lengths])
        for group, axes in zip(groups, panels, strict=True):
            _matrix(axes, group)
        signs = ", ".join(f"{sign} {_WORDS[word]}" for word, sign in _SIGNS.items())
        figure.supxlabel(f"gain over this state, points: {signs}", fontsize=8.5)


def _matrix(axes: Axes, comparisons: pd.DataFrame) -> None:
    names = comparisons.drop_duplicates("row").set_index("row")["display_name"]
    states = rivals_of([comparisons])
    for y, (_, found) in enumerate(comparisons.groupby("row", sort=False)):
        known = {pair.rival: pair for pair in found.itertuples()}
        for x, state in enumerate(states):
            _cell(axes, x, y, known.get(state))
    heads = [title.replace(" ", "\n") for title in states.values()]
    axes.set_xticks(range(len(states)), heads)
    axes.set_yticks(range(len(names)), [style.figure_name(name) for name in names])
    axes.set_xlim(-0.5, max(1, len(states)) - 0.5)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.tick_params(labelsize=8.5)
    axes.spines[:].set_visible(False)


def _cell(axes: Axes, x: int, y: int, pair: Any | None) -> None:
    word, text = TOO_FEW, DASH
    if pair is not None and not math.isnan(pair.gain):
        word, gain = pair.pair, in_points(pair.gain, sign=True)
        text = f"{_SIGNS.get(word, '')} {gain}".strip()
        text = f"({gain})" if word in (TOO_FEW, COLLAPSED) else text
    fill, ink = _LOOK[word]
    corner = (x - 0.47, y - 0.45)
    axes.add_patch(Rectangle(corner, 0.94, 0.9, facecolor=fill, edgecolor="#e4e6e9"))
    axes.text(x, y, text, color=ink, ha="center", va="center", fontsize=8.5)
