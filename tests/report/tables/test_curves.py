"""The tables of curves: cells, bold, captions, data."""

from __future__ import annotations

from typing import Any

import pytest
from support.score_data import TASKS, curve_entry, curve_plan, curve_scores

from cdspp.analysis.summary import arrange_curves
from cdspp.core.wording import DASH
from cdspp.report.tables.benchmark import build_curve_table
from cdspp.report.tables.table import Table


def tables_of(*curves: dict[str, Any], **options: Any) -> list[Table]:
    """Build the tables of curves, from drawn scores."""
    plan = curve_plan(*curves, **options)
    return [
        build_curve_table(c, plan) for c in arrange_curves(curve_scores(plan), plan)
    ]


def shown(table: Table, method: str, task: str) -> list[str]:
    """Return the texts of a line behind method and task."""
    lines = [[cell.text for cell in line.cells] for line in table.lines]
    return next(line[2:] for line in lines if line[:2] == [method, task])


def test_a_line_has_the_means_of_a_method_on_a_task() -> None:
    (table,) = tables_of(curve_entry(values=[1, 9]))
    assert table.columns == ("Method", "Task", "1", "9")
    assert shown(table, "CDSPP", "amazon → caltech") == ["13.0 (1.0)", "21.0 (1.0)"]
    assert shown(table, "CDSPP", "Average") == ["13.0 (1.0)", "21.0 (1.0)"]


def test_a_method_of_some_tasks_has_their_number_at_the_average() -> None:
    plan = curve_plan(curve_entry(), fewer_tasks={"cdspp": 1})
    scores = curve_scores(plan)
    other = (scores["method"] == "cdspp") & (scores["task"] == TASKS[1])
    curves = arrange_curves(scores[~other], plan)
    (table,) = [build_curve_table(c, plan) for c in curves]
    notes = [[cell.note for cell in line.cells[2:]] for line in table.lines]
    assert notes == [[""] * 3] * 5 + [["1 of 2 tasks"] * 3]


def test_collapsed_fits_are_told_and_never_bold() -> None:
    plan = curve_plan(curve_entry())
    scores = curve_scores(plan, collapsed=("cdspp", 9))
    (table,) = [build_curve_table(c, plan) for c in arrange_curves(scores, plan)]
    cells = [line.cells[4] for line in table.lines if line.cells[0].text == "CDSPP"]
    assert [cell.note for cell in cells] == ["degenerate fits"] * 3
    scores = scores.assign(accuracy=scores["accuracy"] + scores["collapsed"])
    (table,) = [build_curve_table(c, plan) for c in arrange_curves(scores, plan)]
    cells = [line.cells[4] for line in table.lines if line.cells[0].text == "CDSPP"]
    assert not any(cell.bold for cell in cells)


def test_what_was_dropped_is_a_dash_and_told() -> None:
    (table,) = tables_of(curve_entry(), smallest={"dslr": 9})
    assert shown(table, "CDSPP", "amazon → caltech")[2] == "21.0 (1.0)"
    assert shown(table, "CDSPP", "amazon → dslr")[2] == DASH
    assert shown(table, "CDSPP", "Average")[2] == DASH
    assert "no test sample: 9 (amazon → dslr); no average" in table.caption


def test_the_best_of_a_task_and_value_is_bold() -> None:
    (table,) = tables_of(curve_entry())
    assert [line.cells[2].bold for line in table.lines] == [False, True] * 3
    (table,) = tables_of(curve_entry(), shortened={"cdspp": 3})
    assert not any(line.cells[2].bold for line in table.lines)


@pytest.mark.parametrize("protocol", ["seeded", "published"])
def test_the_value_of_the_main_run_is_told(protocol: str) -> None:
    iterations = curve_entry(
        "rounds", parameter="max_iter", values=[1, 5], methods=["cdspp"]
    )
    labels, by_iteration = tables_of(curve_entry(), iterations, protocol=protocol)
    told = "are the first trials of the main run."
    assert f"At 5 these {told}" in by_iteration.caption
    assert (f"At 3 these {told}" in labels.caption) == (protocol == "seeded")


def test_the_data_are_tidy() -> None:
    (table,) = tables_of(curve_entry(values=[0.5, 9]))
    assert len(table.data) == 2 * 3 * 2
    first = table.data.iloc[0].to_dict()
    assert (first.pop("mean"), first.pop("sd")) == pytest.approx((0.025, 0.01))
    assert first == {
        "benchmark": "digits",
        "curve": "labels",
        "parameter": "labels",
        "task": "amazon_caltech",
        "row": "svm-t",
        "display_name": "SVM_t",
        "value": 0.5,
        "trials": 3,
    }
