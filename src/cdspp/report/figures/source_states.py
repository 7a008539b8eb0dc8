"""The matrix below the opening chart: every method by every source state."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from cdspp.analysis.source_help import matrix, rivals_of
from cdspp.analysis.verdicts import COLLAPSED, EQUAL, HELPS, HURTS, TOO_FEW, UNDECIDED
from cdspp.core.wording import DASH, in_points
from cdspp.report.figures.style import (
    INK,
    MUTED,
    canvas,
    figure_name,
    plain_text,
)
from cdspp.study.plan import BenchmarkPlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_source_states"]

# Narrow, so that a telephone shows it without shrinking the numbers.
_WIDTH, _COLUMN, _NAMES = 5.0, 0.62, 1.6
_LINE = 0.245
_FRAME = 0.75
# Fill and ink by the verdict on a pair; in grey the signs tell the light ones apart.
_LOOK = {
    HELPS: ("#0b5394", "white"),
    HURTS: ("#f4b183", INK),
    EQUAL: ("#d5d9de", INK),
    UNDECIDED: ("white", INK),
    TOO_FEW: ("white", MUTED),
    COLLAPSED: ("white", MUTED),
}
_SIGNS = {HELPS: "▲", HURTS: "▼", EQUAL: "="}
_WORDS = {HELPS: "better", HURTS: "worse", EQUAL: "equal"}


def draw_source_states(
    comparisons: Sequence[pd.DataFrame],
    plans: Sequence[BenchmarkPlan],
    outputs: Sequence[str | os.PathLike[str]],
) -> None:
    """Draw methods by source states: the gain of the real source, averaged over tasks.

    Parameters
    ----------
    comparisons : sequence of DataFrame
        What `cdspp.analysis.source_help.compare_with_rivals` says of each benchmark.
    plans : sequence of BenchmarkPlan
        The benchmarks.
    outputs : sequence of path
        Files to write (svg, png).
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
    with canvas(width, height, outputs) as figure:
        grid = figure.subplots(
            len(groups),
            1,
            squeeze=False,
            gridspec_kw={"height_ratios": [n + 1 for n in lengths]},
        )[:, 0]
        for group, plan, axes in zip(groups, plans, grid, strict=True):
            _matrix(axes, group)
            axes.set_title(plain_text(plan.title), fontweight="bold", fontsize=9.5)
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
    axes.set_yticks(range(len(names)), [figure_name(name) for name in names])
    axes.set_xlim(-0.5, max(1, len(states)) - 0.5)
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.tick_params(labelsize=8.5)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(axes: Axes, x: int, y: int, pair: Any | None) -> None:
    from matplotlib.patches import Rectangle

    word, text = TOO_FEW, DASH
    if pair is not None and not math.isnan(pair.gain):
        word, gain = pair.pair, in_points(pair.gain, sign=True)
        text = f"{_SIGNS.get(word, '')} {gain}".strip()
        text = f"({gain})" if word in (TOO_FEW, COLLAPSED) else text
    fill, ink = _LOOK[word]
    corner = (x - 0.47, y - 0.45)
    axes.add_patch(Rectangle(corner, 0.94, 0.9, facecolor=fill, edgecolor="#e4e6e9"))
    axes.text(x, y, text, color=ink, ha="center", va="center", fontsize=8.5)
