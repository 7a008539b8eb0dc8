"""The page of a comparison on one's own rows: the answer, the matrix, the numbers."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from cdspp.core.names import ALONE, MATCHED, REAL
from cdspp.core.whole_files import atomic
from cdspp.core.wording import in_points
from cdspp.report.page.page import environment
from cdspp.report.tables.source_help import comparison_table
from cdspp.report.tables.table import to_fragment
from cdspp.stages.source_states import BRIDGE_STATES

if TYPE_CHECKING:
    from cdspp.analysis.decision import Comparison

__all__ = ["write_comparison"]

_DRAWN = {REAL: "with the source", ALONE: "without", MATCHED: "without, matched"}
# Ends of the axis and height of a line, in units of the chart.
_LEFT, _RIGHT, _LINE = 250, 690, 22


def write_comparison(
    found: Comparison, rows: list[str], output: str | os.PathLike[str]
) -> None:
    """Write a comparison as a single HTML file; `rows` tell what was read, by file."""
    template = environment().get_template("comparison.html.j2")
    page = template.render(
        answer=found.finding,
        next_step=found.next_step.strip("`"),
        rows=rows,
        shuffled=found.gains["state"].isin(BRIDGE_STATES).any(),
        chart=_chart(found),
        table=Markup(to_fragment(comparison_table(found))),
    )
    with atomic(output) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _chart(found: Comparison) -> dict[str, Any]:
    """Return the marks, with the source and without, and the axis below them."""
    accuracies, own = found.accuracies, set(found.verdicts["method"])
    whole = accuracies[accuracies["labels"] == accuracies["labels"].max()]
    drawn = whole[whole["state"].isin(_DRAWN) & whole["mean"].notna()]
    least = math.floor(10 * drawn["low"].min()) / 10 if len(drawn) else 0.0
    scale = (_RIGHT - _LEFT) / (1.0 - min(least, 0.9))

    def place(accuracy: float) -> float:
        return round(_LEFT + scale * (accuracy - least), 1)

    marks: list[dict[str, Any]] = []
    for row in drawn.itertuples():
        with_source = row.method in own and row.state == REAL
        how = _DRAWN[row.state] if row.method in own else _DRAWN[ALONE]
        marks.append(
            {
                "y": _LINE * (len(marks) + 1),
                "name": f"{row.display_name}, {how}",
                "x": place(row.mean),
                "low": place(row.low),
                "high": place(row.high),
                "mean": in_points(row.mean),
                "kind": "real" if with_source else "alone",
                "rival": row.state != MATCHED and not with_source,
            }
        )
    rivals = [mark for mark in marks if mark["rival"]]
    best = max(rivals, key=lambda mark: mark["x"], default=None)
    ticks = range(round(10 * least), 11, 2 if least < 0.5 else 1)
    return {
        "marks": marks,
        "best": best,
        "height": _LINE * (len(marks) + 2),
        "ticks": [{"x": place(tick / 10), "text": 10 * tick} for tick in ticks],
    }
