"""Known values and properties of the statistics over trials."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report_data import DIGIT_TASKS, make_layout, score_rows, write_scores

from cdspp.analysis.summary import Summary, mean_sd, read_summary, summarise


def columns(rows: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """Turn lists into the arrays that a score file gives."""
    return {name: np.asarray(values) for name, values in rows.items()}


def test_the_deviation_divides_by_n_minus_one() -> None:
    mean, sd = mean_sd([0.90, 0.92, 0.94, 0.96])
    assert mean == pytest.approx(0.93)
    assert sd == pytest.approx(math.sqrt(0.002 / 3))


def test_missing_trials_are_left_out_and_one_trial_has_no_deviation() -> None:
    mean, sd = mean_sd([0.5, float("nan")])
    assert mean == 0.5
    assert math.isnan(sd)
    assert all(math.isnan(value) for value in mean_sd([]))


def test_mean_and_deviation_are_those_of_the_standard_library() -> None:
    values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert mean_sd(values) == pytest.approx((5.0, math.sqrt(32 / 7)))
    assert mean_sd(values)[1] == pytest.approx(statistics.stdev(values))


def test_a_summary_takes_the_last_iteration_whatever_the_order_of_rows() -> None:
    layout = make_layout(tasks=["print_sketch"], trials=2)
    rows = columns(score_rows(layout))
    order = np.random.default_rng(0).permutation(len(rows["trial"]))
    shuffled = {name: values[order] for name, values in rows.items()}
    summary, other = summarise(rows, layout), summarise(shuffled, layout)
    np.testing.assert_array_equal(summary.accuracy, other.accuracy)
    row = summary.find("cdspp")
    chosen = (rows["method"] == "cdspp") & (rows["setting"] == "main")
    last = chosen & (rows["iteration"] == 5)
    np.testing.assert_array_equal(summary.accuracy[row, 0], rows["accuracy"][last])
    np.testing.assert_array_equal(
        summary.curves[row, 0, :, -1], summary.accuracy[row, 0]
    )


def test_a_control_is_the_same_method_in_another_setting() -> None:
    layout = make_layout(tasks=["print_sketch"], trials=2)
    rows = columns(score_rows(layout))
    summary = summarise(rows, layout)
    chosen = (rows["setting"] == "placebo") & (rows["iteration"] == 5)
    found = summary.accuracy[summary.find("placebo"), 0]
    np.testing.assert_array_equal(found, rows["accuracy"][chosen])


def test_failed_and_missing_cells_are_nan_and_unknown_ones_ignored() -> None:
    layout = make_layout(trials=3)
    task = layout["tasks"][1]
    rows = columns(
        score_rows(layout, failed=[("cdspp", task, 2)], missing=[("svm-t", task, 1)])
    )
    summary = summarise(rows, {**layout, "tasks": layout["tasks"][:2]})
    assert summary.tasks == tuple(layout["tasks"][:2])
    lost = np.argwhere(np.isnan(summary.accuracy)).tolist()
    assert lost == [[summary.find("svm-t"), 1, 0], [summary.find("cdspp"), 1, 1]]


def test_an_average_needs_every_task_of_a_trial() -> None:
    layout = make_layout(tasks=["a_b", "b_a"], trials=2)
    rows = columns(score_rows(layout, missing=[("cdspp", "b_a", 2)]))
    summary = summarise(rows, layout)
    row = summary.find("cdspp")
    average = summary.with_average(summary.accuracy)[row, -1]
    assert average[0] == pytest.approx(summary.accuracy[row, :, 0].mean())
    assert np.isnan(average[1])


def test_only_methods_with_several_iterations_iterate(tmp_path: Path) -> None:
    layout = make_layout()
    summary = read_summary(write_scores(tmp_path / "digits.parquet", layout), layout)
    keys = [summary.rows[row].key for row in summary.iterative()]
    assert keys == ["cdspp", "cdspp-pca", "target-only", "placebo", "noise"]


def test_a_method_that_is_also_a_control_stands_with_the_controls_only() -> None:
    layout = make_layout()
    own = {"id": "target-only", "printed": "target-only", "trials": 10}
    layout["methods"].append(own)
    summary = summarise(columns(score_rows(make_layout())), layout)
    assert [row.key for row in summary.rows].count("target-only") == 1
    assert summary.rows[summary.find("target-only")].control
    assert np.isfinite(summary.accuracy).all()


def test_no_scores_at_all_give_an_empty_summary() -> None:
    layout = make_layout()
    nothing = columns(score_rows({**layout, "tasks": []}))
    summary = summarise(nothing, layout)
    assert isinstance(summary, Summary)
    assert np.isnan(summary.accuracy).all()
    assert summary.iterative() == []


def test_a_setting_of_some_tasks_can_be_left_out() -> None:
    layout = make_layout()
    extra = {"key": "few", "printed": "CDSPP, few", "setting": "few", "method": "cdspp"}
    layout["variants"] = [extra]
    rows = columns(score_rows(make_layout()))
    chosen = (rows["method"] == "cdspp") & (rows["task"] == DIGIT_TASKS[0])
    chosen &= rows["setting"] == "main"
    more = {name: values[chosen] for name, values in rows.items()}
    more["setting"] = np.full(chosen.sum(), "few")
    both = {name: np.concatenate([rows[name], more[name]]) for name in rows}
    summary = summarise(both, layout)
    few = summary.find("few")
    assert few is not None
    assert np.isfinite(summary.accuracy[few, 0]).all()
    assert summary.of_all_tasks().find("few") is None
    assert len(summary.of_all_tasks().curves) == len(summary.curves) - 1
