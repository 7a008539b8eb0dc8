"""The page of a comparison on one's own rows: the bet, its gains, and the controls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from cdspp.analysis.best_bet import TARGET_ONLY
from cdspp.core.files import atomic
from cdspp.core.names import PathLike
from cdspp.report.page.page import environment, unbroken
from cdspp.report.tables.source_help import comparison_table
from cdspp.report.tables.table import to_fragment
from cdspp.stages.source_states import BRIDGE_STATES

if TYPE_CHECKING:
    from cdspp.analysis.comparison import Comparison

_LEFT, _RIGHT = 250, 690  # ends of the axis, in units of the chart


def write_comparison(found: Comparison, rows: list[str], output: PathLike) -> None:
    """Write a comparison as a single HTML file; `rows` describe what was read."""
    table, finding, shuffled = "", "", False
    if said := found.explanation:
        table = Markup(to_fragment(comparison_table(said, found.accuracies)))
        finding = said.finding
        shuffled = said.gains["state"].isin(BRIDGE_STATES).any()
    template = environment().get_template("comparison.html.j2")
    page = template.render(
        lines=found.lines,
        next_steps=found.next_steps,
        grid=found.grid(),
        rows=rows,
        bet=found.best_bet,
        reference=TARGET_ONLY,
        chart=_chart(found),
        table=table,
        finding=finding,
        shuffled=shuffled,
    )
    with atomic(output) as temporary:
        temporary.write_text(unbroken(page), encoding="utf-8")


def _chart(found: Comparison) -> dict[str, Any]:
    """Return the candidates that have a gain, and the axis below them in points."""
    drawn = found.candidates[found.candidates["expected_gain"].notna()]
    ends = [0.0, *drawn["low"], *drawn["high"]]
    step = 5 if 100 * (max(ends) - min(ends)) <= 40 else 10
    least: int = step * math.floor(100 * min(ends) / step)
    most: int = step * math.ceil(100 * max(ends) / step)
    width: int = max(most - least, 1)

    def place(gain: float) -> float:
        share: float = (100 * gain - least) / width
        return round(_LEFT + (_RIGHT - _LEFT) * share, 1)

    return {
        "rows": list(drawn.itertuples()),
        "place": place,
        "ticks": range(least, most + 1, step),
    }
