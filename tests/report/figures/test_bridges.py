"""The figure of bridges: accuracy by pairs and by labels, beside rows without them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from support.score_data import curve_entry, curve_plan, curve_scores

from cdspp.analysis.summary import arrange_curves, summarise
from cdspp.report.figures.benchmark import draw_bridges

METHODS = ("svm-t", "cdspp", "shared-columns-plus", "paired-map-plus")
BRIDGE = {"shared_columns": "same-names", "paired_rows": 40}
PAIRS = curve_entry("pairs", parameter="paired_rows", values=[10, 20, 40])
PAIRS["methods"] = ["paired-map-plus"]
LABELS = curve_entry(methods=list(METHODS))


def drawn(
    watch: Callable[..., list[Figure]], tmp_path: Path, *curves: dict[str, Any]
) -> Figure:
    plan = curve_plan(*curves, methods=METHODS, bridge=BRIDGE, states=("none", "noise"))
    scores = curve_scores(plan)
    found, output = watch(), tmp_path / "bridges.svg"
    draw_bridges([(summarise(scores, plan), arrange_curves(scores, plan))], [output])
    assert output.is_file()
    return found[0]


def names(figure: Figure) -> set[str]:
    [legend] = figure.legends
    return {text.get_text().replace("$", "") for text in legend.get_texts()}


def test_lines_across_are_of_the_main_setting_and_say_what_they_use(
    watch: Callable[..., list[Figure]], tmp_path: Path
) -> None:
    figure = drawn(watch, tmp_path, PAIRS, LABELS)
    left, right = figure.axes
    assert [t.get_text() for t in left.get_xticklabels()] == ["0", "10", "20", "40"]
    assert [t.get_text() for t in right.get_xticklabels()] == ["1", "3", "9"]
    across = [line for line in left.lines if line.get_xdata()[0] == 0]
    assert len(across) == 4  # the baseline, the reference, it alone, shared columns
    assert all(len({*line.get_ydata()}) == 1 for line in across)
    assert names(figure) == {
        *("SVM_\\mathrm{t}: no source", "CDSPP: labels only", "target-only: no source"),
        *("semi-supervised shared columns", "semi-supervised paired map"),
    }
