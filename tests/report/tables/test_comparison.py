"""The table of a comparison on one's own rows."""

from __future__ import annotations

import pandas as pd

from cdspp.analysis.explanation import Explanation
from cdspp.core.wording import DASH
from cdspp.report.tables.source_help import comparison_table

NAN = float("nan")
SHOWN = {"cdspp": "CDSPP", "pa": "PA"}


def test_a_method_without_an_accuracy_or_a_gain_has_dashes() -> None:
    means = [
        ("cdspp", "real", 0.82),
        ("cdspp", "none", 0.72),
        ("pa", "real", NAN),
    ]
    accuracies = pd.DataFrame(means, columns=["method", "state", "mean"])
    accuracies["display_name"] = accuracies["method"].map(SHOWN)
    gains = [
        ("cdspp", "none", 0.1, 0.05, 0.15, "helps"),
        ("pa", "none", *[NAN] * 3, ""),
    ]
    names = ["method", "state", "gain", "low", "high", "pair"]
    verdicts = {"method": ["cdspp", "pa"], "verdict": ["helps", "collapsed"]}
    frames = pd.DataFrame(gains, columns=names), pd.DataFrame(verdicts)
    found = Explanation(*frames, "use", "cdspp", None, "")
    table = comparison_table(found, accuracies)
    assert [[cell.text for cell in line.cells] for line in table.lines] == [
        ["CDSPP", "82.0", "helps", "+10.0"],
        ["PA", DASH, "collapsed", DASH],
    ]
