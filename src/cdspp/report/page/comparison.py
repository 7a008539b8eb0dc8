"""The page of a comparison on a user's rows: best bet, its gains, and the controls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from cdspp.analysis.best_bet import TARGET_ONLY
from cdspp.core.names import PathLike
from cdspp.report.page.page import environment, write_page
from cdspp.report.tables.source_help import comparison_table
from cdspp.report.tables.table import to_fragment
from cdspp.stages.source_states import BRIDGE_STATES

if TYPE_CHECKING:
    from cdspp.analysis.comparison import Comparison

_LEFT, _RIGHT = 250, 690  # ends of the axis, in units of the chart


def write_comparison(comparison: Comparison, rows: list[str], output: PathLike) -> None:
    """Write a comparison as a single HTML file; `rows` describe what was read."""
    table, shuffled = "", False
    explanation = comparison.explanation
    if explanation:
        shown = comparison_table(explanation, comparison.accuracies)
        table = Markup(to_fragment(shown))
        shuffled = explanation.gains["state"].isin(BRIDGE_STATES).any()
    page = (
        environment()
        .get_template("comparison.html.j2")
        .render(
            comparison=comparison,
            rows=rows,
            reference=TARGET_ONLY,
            chart=_chart(comparison),
            table=table,
            shuffled=shuffled,
        )
    )
    write_page(page, output)


def _chart(comparison: Comparison) -> dict[str, Any]:
    """Return the candidates that have a gain, and the axis below them in points."""
    drawn = comparison.candidates[comparison.candidates["expected_gain"].notna()]
    ends = [0.0, *drawn["low"], *drawn["high"]]
    step = 5 if 100 * (max(ends) - min(ends)) <= 40 else 10
    least: int = step * math.floor(100 * min(ends) / step)
    most: int = step * math.ceil(100 * max(ends) / step)
    width: int = max(most - least, 1)

    def place(gain: float) -> float:
        share: float = (100 * gain - least) / width
        return round(_LEFT + (_RIGHT - _LEFT) * share, 1)

    ticks = range(least, most + 1, step)
    return {"rows": list(drawn.itertuples()), "place": place, "ticks": ticks}
