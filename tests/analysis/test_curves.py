"""Curves: which scores they take, what is dropped, and their averages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.score_data import TASKS, curve_entry, curve_plan, curve_scores

from cdspp.analysis.summary import CurveScores, arrange_curves
from cdspp.study.plan import BenchmarkPlan


def arranged(plan: BenchmarkPlan) -> CurveScores:
    """Return the first curve of a plan."""
    return arrange_curves(curve_scores(plan), plan)[0]


def test_a_curve_takes_the_scores_of_its_own_settings() -> None:
    curve = arranged(curve_plan(curve_entry()))
    assert curve.values == (1.0, 3.0, 9.0)
    assert [row.key for row in curve.plan.rows] == ["svm-t", "cdspp"]
    assert curve.accuracy.shape == (2, 2, 3, 3)
    np.testing.assert_allclose(curve.accuracy[0, 0, 0], [0.02, 0.03, 0.04])
    np.testing.assert_allclose(curve.accuracy[1, 1, 2], [0.20, 0.21, 0.22])


def test_the_value_of_the_main_run_counts_its_first_trials() -> None:
    plan = curve_plan(curve_entry())
    scores = curve_scores(plan)
    curve = arrange_curves(scores, plan)[0]
    cell = (scores["setting"] == "main") & (scores["task"] == TASKS[1])
    cell &= (scores["method"] == "cdspp") & (scores["iteration"] == 5)
    assert curve.main == 3.0
    assert curve.accuracy[1, 1, 1].tolist() == scores["accuracy"][cell][:3].tolist()
    assert arranged(curve_plan(curve_entry(values=[1, 9]))).main is None


def test_more_than_a_tenth_of_collapsed_trials_make_a_value_unusable() -> None:
    plan = curve_plan(curve_entry(tasks=1, trials=20), trials=20)
    curve = arranged(plan)
    accuracy = np.full((2, 1, 3, 20), 0.5)
    collapsed = np.zeros(accuracy.shape, dtype=bool)
    collapsed[0, 0, 1, :2] = collapsed[1, 0, 2, :3] = True
    found = replace(curve, accuracy=accuracy, collapsed=collapsed).unusable()
    assert np.argwhere(found).tolist() == [[1, 0, 2]]


def test_what_was_dropped_counts_for_its_task_and_the_average() -> None:
    curve = arranged(curve_plan(curve_entry(), smallest={"dslr": 9}))
    assert curve.plan.dropped == ((9, TASKS[1]),)
    _, accuracy = curve.with_average()
    missing = np.isnan(accuracy).all(axis=3)
    assert missing[1].tolist() == [[False] * 3, [False, False, True]] + [
        [False, False, True]
    ]


def test_the_average_is_that_of_the_tasks_trial_by_trial() -> None:
    curve = arranged(curve_plan(curve_entry()))
    tasks, accuracy = curve.with_average()
    assert tasks == (*TASKS, "average")
    np.testing.assert_allclose(accuracy[:, 2], curve.accuracy.mean(axis=1))
    single = arranged(curve_plan(curve_entry(tasks=1)))
    assert single.with_average()[0] == TASKS[:1]


def test_without_curves_there_are_none_and_without_scores_nothing_but_nan() -> None:
    plan = curve_plan(curve_entry())
    none = curve_scores(plan)[:0]
    assert np.isnan(arrange_curves(none, plan)[0].accuracy).all()
    assert arrange_curves(none, curve_plan()) == []
