"""The page of a comparison on one's own rows: the answer, the matrix, the numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from cdspp.core.names import ALONE, MATCHED, REAL, PathLike
from cdspp.core.whole_files import atomic
from cdspp.report.page.page import environment, unbroken
from cdspp.report.tables.source_help import comparison_table
from cdspp.report.tables.table import to_fragment
from cdspp.stages.source_states import BRIDGE_STATES

if TYPE_CHECKING:
    from cdspp.analysis.decision import Comparison

__all__ = ["write_comparison"]

_DRAWN = {REAL: "with the source", ALONE: "without", MATCHED: "without, matched"}
_LEFT, _RIGHT = 250, 690  # ends of the axis, in units of the chart


def write_comparison(found: Comparison, rows: list[str], output: PathLike) -> None:
    """Write a comparison as a single HTML file; `rows` tell what was read, by file."""
    template = environment().get_template("comparison.html.j2")
    page = template.render(
        answer=found.finding,
        next_step=found.next_step,
        rows=rows,
        shuffled=found.gains["state"].isin(BRIDGE_STATES).any(),
        chart=_chart(found),
        table=Markup(to_fragment(comparison_table(found))),
    )
    with atomic(output) as temporary:
        temporary.write_text(unbroken(page), encoding="utf-8")


def _chart(found: Comparison) -> dict[str, Any]:
    """Return what is marked, with the source and without, and the axis below it."""
    accuracies = found.accuracies
    whole = accuracies[accuracies["labels"] == accuracies["labels"].max()]
    drawn = whole[whole["state"].isin(_DRAWN) & whole["mean"].notna()]
    own = drawn["method"].isin(found.verdicts["method"])
    real = own & (drawn["state"] == REAL)
    rivals = drawn[~real & (drawn["state"] != MATCHED)]
    least = math.floor(10 * drawn["low"].min()) / 10 if len(drawn) else 0.0
    scale = (_RIGHT - _LEFT) / (1.0 - min(least, 0.9))

    def place(accuracy: float) -> float:
        return round(_LEFT + scale * (accuracy - least), 1)

    how = drawn["state"].where(own, ALONE).map(_DRAWN)
    shown = drawn.assign(real=real, name=drawn["display_name"] + ", " + how)
    return {
        "rows": list(shown.itertuples()),
        "best": place(rivals["mean"].max()) if len(rivals) else None,
        "place": place,
        "ticks": range(round(10 * least), 11, 2 if least < 0.5 else 1),
    }
