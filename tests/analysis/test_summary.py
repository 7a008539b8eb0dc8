"""Known values and properties of the statistics over trials."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.report_data import (
    CONTROLS,
    DIGIT_TASKS,
    draw_summary,
    make_plan,
    place_of,
    score_rows,
    write_scores,
)

from cdspp.analysis.summary import mean_sd, n_present, read_scores, summarise


def test_mean_and_deviation_are_those_of_the_standard_library() -> None:
    values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert mean_sd(values) == pytest.approx((5.0, math.sqrt(32 / 7)))
    assert mean_sd(values)[1] == pytest.approx(statistics.stdev(values))
    assert n_present([*values, float("nan")]) == 8


def test_a_summary_takes_the_last_iteration_whatever_the_order_of_rows() -> None:
    plan = make_plan(tasks=["print_sketch"], trials=2)
    rows = score_rows(plan)
    shuffled = rows.sample(frac=1, random_state=0)
    summary, other = summarise(rows, plan), summarise(shuffled, plan)
    np.testing.assert_array_equal(summary.accuracy, other.accuracy)
    row = place_of(summary, "cdspp")
    chosen = (rows["method"] == "cdspp") & (rows["setting"] == "main")
    last = chosen & (rows["iteration"] == 5)
    np.testing.assert_array_equal(summary.accuracy[row, 0], rows["accuracy"][last])
    np.testing.assert_array_equal(
        summary.by_iteration[row, 0, :, -1], summary.accuracy[row, 0]
    )


def test_failed_and_missing_cells_are_nan_and_unknown_ones_ignored() -> None:
    plan = make_plan(trials=3)
    task = plan.tasks[1]
    rows = score_rows(plan, failed=[("cdspp", task, 2)], missing=[("svm-t", task, 1)])
    summary = summarise(rows, replace(plan, tasks=plan.tasks[:2]))
    assert summary.tasks == plan.tasks[:2]
    lost = np.argwhere(np.isnan(summary.accuracy)).tolist()
    assert lost == [
        [place_of(summary, "svm-t"), 1, 0],
        [place_of(summary, "cdspp"), 1, 1],
    ]


def test_an_average_needs_every_task_of_a_trial() -> None:
    plan = make_plan(tasks=["a_b", "b_a"], trials=2)
    summary = draw_summary(plan, missing=[("cdspp", "b_a", 2)])
    row = place_of(summary, "cdspp")
    average = summary.with_average(summary.accuracy)[1][row, -1]
    assert average[0] == pytest.approx(summary.accuracy[row, :, 0].mean())
    assert np.isnan(average[1])


def test_trials_beyond_those_of_a_row_do_not_count() -> None:
    methods = {"methods": ("svm-t", "dama", "cdspp")}
    scores = score_rows(make_plan(trials=5, **methods))
    plan = make_plan(trials=5, shortened={"dama": 2}, **methods)
    summary = summarise(scores, plan)
    for key, trials in (("dama", 2), ("cdspp", 5)):
        row = summary.accuracy[place_of(summary, key)]
        assert np.isfinite(row).all(axis=0).tolist() == [k < trials for k in range(5)]
    fewer = summarise(scores, make_plan(trials=3, **methods))
    assert fewer.accuracy.shape[-1] == 3


def test_only_methods_with_several_iterations_iterate(tmp_path: Path) -> None:
    plan = make_plan()
    scores = read_scores(write_scores(tmp_path / "digits.parquet", plan))
    summary = summarise(scores, plan)
    keys = [summary.rows[row].key for row in summary.iterative()]
    assert keys == ["cdspp", "cdspp-pca", *CONTROLS]


def test_a_summary_knows_the_fits_that_collapsed_and_says_no_of_those_missing() -> None:
    plan = make_plan(trials=3)
    task = plan.tasks[0]
    lost = {"missing": [("cdspp", task, 2)], "failed": [("cdspp", task, 3)]}
    summary = draw_summary(plan, collapsed=["cdspp"], **lost)
    assert summary.collapsed.dtype == bool
    assert summary.collapsed.shape == summary.accuracy.shape
    row = place_of(summary, "cdspp")
    assert summary.collapsed[row, 0].tolist() == [True, False, False]
    assert summary.collapsed[row, 1:].all()
    assert not np.delete(summary.collapsed, row, axis=0).any()
    no_scores = score_rows(make_plan(tasks=()))
    assert not summarise(no_scores, plan).collapsed.any()


def test_a_setting_of_some_tasks_can_be_left_out() -> None:
    entry = {"id": "few", "methods": ["cdspp"], "options": {"alpha": 2}, "tasks": 1}
    plan = make_plan(settings=[entry])
    rows = score_rows(plan)
    other = (rows["setting"] == "few") & (rows["task"] != DIGIT_TASKS[0])
    summary = summarise(rows[~other], plan)
    few = place_of(summary, "cdspp, few")
    assert few is not None
    assert np.isfinite(summary.accuracy[few, 0]).all()
    whole = summary.of_all_tasks()
    assert "cdspp, few" not in [row.key for row in whole.rows]
    assert len(whole.by_iteration) == len(summary.by_iteration) - 1
    assert len(whole.collapsed) == len(whole.rows)
