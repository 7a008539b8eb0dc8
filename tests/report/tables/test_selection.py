"""Default, selected and hindsight: which scores and records each is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.report_data import scores_frame
from support.score_data import TASKS, curve_entry, curve_plan, curve_scores

from cdspp.core.names import MAIN, SELECTED
from cdspp.report.tables.selection import compare_selections, without_grid
from cdspp.study.plan import CHOOSING, BenchmarkPlan, Row

SELECTING = Row("selected/svm-t", "SVM_t", SELECTED, "svm-t", 3, kind=CHOOSING)
OVER_C = curve_entry("c", parameter="C", values=[1, 10], methods=["svm-t"])
CHOSEN = [{"C": 10}, {"C": 1}, {"C": 10}]


def found(plan: BenchmarkPlan, chosen: list[Any]) -> Any:
    """Return the only row, half of the rows being right wherever SVM_t has selected."""
    rows = [
        (SELECTED, task, "svm-t", trial, 1, "ok", False, 420, *[0.5] * 3)
        for task in TASKS
        for trial in (1, 2, 3)
    ]
    scores = pd.concat([curve_scores(plan), scores_frame(rows)], ignore_index=True)
    named = {"benchmark": plan.benchmark, "setting": SELECTED, "method": "svm-t"}
    results = pd.DataFrame([named | {"selected": options} for options in chosen])
    table = compare_selections(scores, plan, pd.DataFrame(), results)
    assert len(table) == 1
    main = scores[(scores["setting"] == MAIN) & (scores["method"] == "svm-t")]
    return table.iloc[0], main[main["trial"] <= 3]["accuracy"].mean()


def selecting(*curves: dict[str, Any]) -> BenchmarkPlan:
    plan = curve_plan(*curves, methods=("svm-t", "cdspp"))
    return replace(plan, rows=(*plan.rows, SELECTING))


def test_each_form_is_averaged_over_the_trials_that_all_have() -> None:
    row, main = found(selecting(OVER_C), CHOSEN)
    assert (row["state"], row["trials"]) == ("none", 3)
    assert row["default"] == pytest.approx(main)
    assert row["selected"] == 0.5
    assert row["chosen"] == "1: 1, 10: 2"


def test_hindsight_is_the_best_value_of_the_curve_over_what_is_selected() -> None:
    row, main = found(selecting(OVER_C), CHOSEN)
    at_ten = np.mean([0.11, 0.12, 0.13])
    assert row["hindsight"] == pytest.approx(max(main, at_ten))
    assert row["hindsight_value"] == ("10" if at_ten > main else "1")


@pytest.mark.parametrize(("curves", "chosen"), [((curve_entry(),), CHOSEN), ((), [{}])])
def test_another_curve_or_none_gives_no_hindsight(
    curves: tuple[dict[str, Any], ...], chosen: list[Any]
) -> None:
    row, _ = found(selecting(*curves), chosen)
    assert np.isnan(row["hindsight"])
    assert row["hindsight_value"] == ""


def test_methods_without_a_grid_are_named() -> None:
    assert without_grid(selecting(OVER_C)) == ["CDSPP"]
