"""The table of a comparison on one's own rows: every method in every source state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cdspp.analysis.verdicts import HELPS, HURTS, TOO_FEW
from cdspp.core.names import REAL
from cdspp.core.wording import DASH, STATE_TITLES, in_points
from cdspp.report.tables.table import Cell, Line, Table, effect_cell

if TYPE_CHECKING:
    from cdspp.analysis.decision import Comparison

__all__ = ["comparison_table"]

_CAPTION = (
    "Accuracy on held-out labelled target rows, percent; then the gain of the real "
    "source over each state, and over the method without a source that is hardest to "
    "beat, in points with a 95 % interval of Student's t over rows. Bold: better or "
    "worse by a one-sided test at 5 %. The verdict, on the method's own states, is "
    "corrected for the number of methods (Holm)."
)


def comparison_table(found: Comparison) -> Table:
    """Build the table of a comparison: a line a method, a column a source state."""
    states = list(dict.fromkeys(found.gains["state"]))
    whole = found.accuracies[found.accuracies["state"] == REAL]
    return Table(
        name="comparison",
        title="Every method in every source state",
        caption=_CAPTION,
        columns=(
            "Method",
            "Accuracy",
            "Verdict",
            *(f"Over {STATE_TITLES.get(state, state)}" for state in states),
        ),
        lines=tuple(
            _line(found, str(method), group, states)
            for method, group in whole.groupby("method", sort=False)
        ),
        data=found.gains,
    )


def _line(found: Comparison, method: str, group: Any, states: list[str]) -> Line:
    best = group.loc[group["labels"].idxmax()]
    gains = found.gains[found.gains["method"] == method].set_index("state")
    verdicts = found.verdicts.set_index("method")["verdict"]
    word = str(verdicts.get(method, "no source"))
    return Line(
        (
            Cell(best["display_name"], name=True),
            Cell(in_points(best["mean"]), value=best["mean"]),
            Cell(word, bold=word in (HELPS, HURTS)),
            *(
                _gain(gains.loc[state]) if state in gains.index else Cell(DASH)
                for state in states
            ),
        )
    )


def _gain(gain: Any) -> Cell:
    if math.isnan(gain["gain"]):
        return Cell(DASH)
    # An interval of too few repeats is none.
    low = math.nan if gain["pair"] == TOO_FEW else gain["low"]
    bold = gain["pair"] in (HELPS, HURTS)
    return effect_cell(gain["gain"], low, gain["high"], bold=bold)
