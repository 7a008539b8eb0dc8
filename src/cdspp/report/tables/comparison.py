"""The table of a comparison on one's own rows: every method in every source state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cdspp.analysis.verdicts import HELPS, HURTS, TOO_FEW
from cdspp.core.names import REAL
from cdspp.core.wording import DASH, STATE_TITLES
from cdspp.report.tables.table import Cell, Line, Table, effect_cell, fraction_cell

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
    gains = {(gain.method, gain.state): gain for gain in found.gains.itertuples()}
    verdicts = dict(found.verdicts[["method", "verdict"]].itertuples(index=False))
    whole = found.accuracies[found.accuracies["state"] == REAL]
    most = whole.groupby("method", sort=False)["labels"].idxmax()
    lines = []
    for entry in whole.loc[most].itertuples():
        word = verdicts.get(entry.method, "no source")
        cells = (
            Cell(entry.display_name, name=True),
            fraction_cell(entry.mean),
            Cell(word, bold=word in (HELPS, HURTS)),
            *(_gain(gains.get((entry.method, state))) for state in states),
        )
        lines.append(Line(cells))
    over = [f"Over {STATE_TITLES.get(state, state)}" for state in states]
    return Table(
        name="comparison",
        title="Every method in every source state",
        caption=_CAPTION,
        columns=("Method", "Accuracy", "Verdict", *over),
        lines=tuple(lines),
        data=found.gains,
    )


def _gain(gain: Any | None) -> Cell:
    if gain is None:
        return Cell(DASH)
    # An interval of too few repeats is none.
    low = math.nan if gain.pair == TOO_FEW else gain.low
    return effect_cell(gain.gain, low, gain.high, bold=gain.pair in (HELPS, HURTS))
