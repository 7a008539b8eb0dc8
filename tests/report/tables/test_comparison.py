"""The table of a comparison on one's own rows."""

from __future__ import annotations

import pandas as pd

from cdspp.analysis.decision import Comparison
from cdspp.core.wording import DASH
from cdspp.report.tables.source_help import comparison_table

NAN = float("nan")
SHOWN = {"cdspp": "CDSPP", "pa": "PA"}


def test_a_method_without_an_accuracy_or_a_gain_has_dashes() -> None:
    means = [
        ("cdspp", "real", 5, 0.82),
        ("cdspp", "real", 3, 0.8),
        ("pa", "real", 5, NAN),
    ]
    accuracies = pd.DataFrame(means, columns=["method", "state", "labels", "mean"])
    accuracies["display_name"] = accuracies["method"].map(SHOWN)
    gains = [
        ("cdspp", "none", 0.1, 0.05, 0.15, "helps"),
        ("pa", "none", *[NAN] * 3, ""),
    ]
    names = ["method", "state", "gain", "low", "high", "pair"]
    verdicts = {"method": ["cdspp", "pa"], "verdict": ["helps", "collapsed"]}
    frames = pd.DataFrame(gains, columns=names), pd.DataFrame(verdicts)
    table = comparison_table(Comparison(accuracies, *frames, "use", "cdspp", None, ""))
    assert [[cell.text for cell in line.cells] for line in table.lines] == [
        ["CDSPP", "82.0", "helps", "+10.0"],
        ["PA", DASH, "collapsed", DASH],
    ]
