"""Every method against itself in every other source state, on hand-made scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.report_data import DIGIT_TASKS, draw_comparisons, make_plan
from support.score_data import NAN, Cells, TrialSets, as_frame

from cdspp.analysis.source_help import (
    COMPARISON_COLUMNS,
    by_task,
    gains_over_comparators,
    matrix,
    of_method,
    read_comparisons,
)
from cdspp.analysis.transfer import DEGENERATE, TOO_FEW
from cdspp.report.tables.source_help import build_task_table
from cdspp.report.tables.table import to_csv
from cdspp.study.plan import BenchmarkPlan

REAL, NO_SOURCE = ("main", "cdspp"), ("main", "target-only")
NOISE, SVM = ("noise", "cdspp"), ("main", "svm-t")
VALUES = np.array([0.70, 0.72, 0.74, 0.76, 0.78])
OVER_NONE = np.array([0.02, 0.03, 0.04, 0.05, 0.06])
OVER_NOISE = np.array([-0.01, 0.01, 0.02, 0.0, 0.04])
BOTH: dict[str, Any] = {"states": ("none", "noise"), "methods": ("svm-t", "cdspp")}


def plan_of(*tasks: str, **options: Any) -> BenchmarkPlan:
    return make_plan(tasks=tasks, **{**BOTH, "trials": 5, **options})


def one_task(**rows: Sequence[float]) -> Cells:
    """Return scores of one task whose gains are those above, with changes."""
    known = {"real": VALUES, "alone": VALUES - OVER_NONE, "noise": VALUES - OVER_NOISE}
    found = {**known, "svm": np.full(5, 0.5), **rows}
    keys = {"real": REAL, "alone": NO_SOURCE, "noise": NOISE, "svm": SVM}
    return {keys[name]: {"a_b": list(values)} for name, values in found.items()}


def against(found: pd.DataFrame, comparator: str, task: str = "a_b") -> Any:
    """Return the comparison of the reference with a comparator on a task."""
    wanted = {"row": "cdspp", "comparator": comparator, "task": task}
    (row,) = found[(found[list(wanted)] == wanted).all(axis=1)].itertuples()
    return row


def verdicts(found: pd.DataFrame, row: str = "cdspp") -> dict[str, str]:
    """Return the verdict on each task, or why it is not tested."""
    told = of_method(found, row)[["task", "verdict", "reason"]].drop_duplicates()
    assert told["task"].is_unique
    silent = TOO_FEW, DEGENERATE
    return {
        t: why if why in silent else v for t, v, why in told.itertuples(index=False)
    }


def test_methods_meet_the_baseline_and_their_states_in_order_the_average_last() -> None:
    plan = make_plan(
        tasks=("a_b", "b_a"),
        methods=("svm-t", "dama", "cdspp"),
        states=("none", "swapped-classes", "noise"),
        own_states={"dama": ["none", "noise"]},
    )
    found = draw_comparisons(plan)
    assert list(zip(found["row"], found["task"], found["comparator"], strict=True)) == [
        (row, task, comparator)
        for row, states in (
            ("dama", ("none", "noise")),
            ("cdspp", ("none", "swapped-classes", "noise")),
        )
        for task in ("a_b", "b_a", "average")
        for comparator in ("svm-t", *states)
    ]
    names = found[found["row"] == "dama"].iloc[:3]
    assert names["comparator_name"].tolist() == ["SVM_t", "no source", "noise"]
    assert names["state"].tolist() == [False, True, True]


def test_a_gain_worked_by_hand() -> None:
    row = against(gains_over_comparators(as_frame(one_task()), plan_of("a_b")), "none")
    # Differences 2 to 6 points: mean 4, variance 2.5, standard error sqrt(0.5) points.
    error = math.sqrt(0.5) / 100
    assert (row.gain, row.trials, row.losses) == (pytest.approx(0.04), 5, 0)
    assert (row.accuracy, row.comparator_accuracy) == pytest.approx((0.74, 0.70))
    half = 2.776445 * error
    assert (row.low, row.high) == pytest.approx((0.04 - half, 0.04 + half), abs=1e-8)
    assert row.p_above == pytest.approx(stats.t(4).sf(0.04 / error))
    assert row.p_below == pytest.approx(1 - row.p_above)
    assert row.pair == "positive transfer"


def test_a_verdict_is_the_same_in_all_rows_of_its_task() -> None:
    found = gains_over_comparators(as_frame(one_task()), plan_of("a_b"))
    told = found[["verdict", "p_helps", "p_hurts", "strongest", "detectable"]]
    assert len(told.drop_duplicates()) == 1
    (row,) = told.drop_duplicates().itertuples()
    noise = against(found, "noise")
    assert (row.verdict, row.strongest) == ("inconclusive", "noise")
    assert row.p_helps == noise.p_above > 0.05
    assert row.p_hurts == against(found, "none").p_below
    # Over noise the mean is 1.2 points, the variance 3.7; the error over none is less.
    error = math.sqrt(3.7 / 5) / 100
    quantiles = stats.t(4).ppf([0.95, 0.8])
    assert row.detectable == pytest.approx(quantiles.sum() * error, abs=1e-8)
    assert (noise.losses, noise.pair) == (1, "inconclusive")


def test_the_baseline_is_no_state_and_decides_nothing() -> None:
    found = gains_over_comparators(as_frame(one_task(svm=[0.9] * 5)), plan_of("a_b"))
    assert against(found, "svm-t").pair == "negative transfer"
    plain = gains_over_comparators(as_frame(one_task()), plan_of("a_b"))
    columns = ["verdict", "p_helps", "p_hurts", "strongest", "detectable"]
    pd.testing.assert_frame_equal(found[columns], plain[columns])


def test_the_tasks_are_corrected_together_and_the_average_is_judged_alone() -> None:
    scores = as_frame(
        {
            cell: {"a_b": v["a_b"], "b_a": v["a_b"]}
            for cell, v in one_task(noise=VALUES - OVER_NONE).items()
        }
    )
    found = gains_over_comparators(scores, plan_of("a_b", "b_a"))
    p = against(found, "none").p_above
    told = {task: group["p_helps"].iloc[0] for task, group in by_task(found).items()}
    expected = {"a_b": 2 * p, "b_a": 2 * p, "average": p}
    assert told == pytest.approx(expected)


def test_a_trial_that_either_side_lacks_is_left_out_and_of_the_average_too() -> None:
    gap = [NAN, *VALUES[1:]]
    cells = one_task()
    both = {cell: {**values, "b_a": values["a_b"]} for cell, values in cells.items()}
    both[NOISE] = {"a_b": list(gap - OVER_NOISE), "b_a": list(VALUES)}
    found = gains_over_comparators(as_frame(both), plan_of("a_b", "b_a"))
    trials = {task: against(found, "noise", task).trials for task in by_task(found)}
    assert trials == {"a_b": 4, "b_a": 5, "average": 4}
    assert against(found, "noise").gain == pytest.approx(OVER_NOISE[1:].mean())
    assert against(found, "none", "average").trials == 5
    expected = {"a_b": TOO_FEW, "b_a": "inconclusive"}
    assert verdicts(found) == {**expected, "average": TOO_FEW}


def test_a_method_on_fewer_tasks_has_no_average_and_too_few_trials_elsewhere() -> None:
    plan = make_plan(
        tasks=("a_b", "b_a"),
        methods=("svm-t", "dama", "cdspp"),
        fewer_tasks={"dama": 1},
        **{"states": ("none", "noise")},
    )
    found = of_method(draw_comparisons(plan), "dama")
    lost = found[found["task"] != "a_b"]
    assert lost["gain"].isna().all()
    assert set(lost["trials"]) == {0}
    assert set(lost["verdict"]) == set(lost["pair"]) == {"inconclusive"}
    assert set(lost["reason"]) == {TOO_FEW}
    ran = found[found["task"] == "a_b"]
    assert ran["gain"].notna().all()
    # The only task with a verdict is corrected for itself alone.
    assert ran["p_helps"].iloc[0] == ran[ran["state"]]["p_above"].max()


def test_without_a_source_the_reference_is_target_only_and_others_are_themselves() -> (
    None
):
    plan = plan_of("a_b", methods=("dama", "cdspp"), states=("none",))
    cells = {
        REAL: {"a_b": [0.8] * 5},
        NO_SOURCE: {"a_b": [0.7] * 5},
        ("main", "dama"): {"a_b": [0.6] * 5},
        ("none", "dama"): {"a_b": [0.5] * 5},
    }
    found = gains_over_comparators(as_frame(cells), plan)
    told = found[["row", "comparator", "comparator_accuracy"]].to_numpy().tolist()
    assert told == [["dama", "none", 0.5], ["cdspp", "none", 0.7]]


@pytest.mark.parametrize(
    "other", [{"target_only": False}, {"shortened": {"target-only": 3}}]
)
def test_where_target_only_is_another_fit_the_reference_has_its_own(
    other: dict[str, Any],
) -> None:
    cells = {
        REAL: {"a_b": [0.8] * 5},
        NO_SOURCE: {"a_b": [0.7] * 3},
        ("none", "cdspp"): {"a_b": [0.75] * 5},
    }
    found = gains_over_comparators(
        as_frame(cells), plan_of("a_b", states=("none",), **other)
    )
    row = against(found, "none")
    assert (row.comparator_accuracy, row.trials) == (pytest.approx(0.75), 5)


TEN = {"trials": 10, **BOTH}


def ten_trials(collapsed: TrialSets, *tasks: str) -> pd.DataFrame:
    """Compare ten trials of the source helping a lot, some of which collapsed."""
    luck = np.tile([0.0, 0.01], 5)
    levels = {REAL: 0.8, NO_SOURCE: 0.7, NOISE: 0.7, SVM: 0.6}
    cells = {
        cell: {task: list(level + luck * (cell == REAL)) for task in tasks or ("a_b",)}
        for cell, level in levels.items()
    }
    return gains_over_comparators(
        as_frame(cells, collapsed), plan_of(*(tasks or ("a_b",)), **TEN)
    )


@pytest.mark.parametrize(
    "cell", [REAL, NO_SOURCE, NOISE], ids=["real", "none", "noise"]
)
def test_more_than_a_tenth_of_collapsed_trials_gives_no_statement(
    cell: tuple[str, str],
) -> None:
    assert verdicts(ten_trials({cell: {"a_b": [4]}})) == {"a_b": "positive transfer"}
    found = ten_trials({cell: {"a_b": [4, 7]}})
    assert verdicts(found) == {"a_b": DEGENERATE}
    assert found["p_helps"].isna().all()
    silent = {"svm-t", "none", "noise"} if cell == REAL else {against_name(cell)}
    assert set(found[found["degenerate"]]["comparator"]) == silent
    assert against(found, "none").gain == pytest.approx(0.105)


def against_name(cell: tuple[str, str]) -> str:
    return "none" if cell == NO_SOURCE else cell[0]


def test_a_collapsed_baseline_silences_its_own_pair_alone() -> None:
    found = ten_trials({SVM: {"a_b": [1, 2, 3]}})
    assert against(found, "svm-t").degenerate
    assert against(found, "svm-t").pair == "inconclusive"
    assert verdicts(found) == {"a_b": "positive transfer"}


def test_a_collapsed_task_leaves_others_their_verdict_and_counts_in_the_average() -> (
    None
):
    some = ten_trials({NOISE: {"a_b": [1, 2]}}, "a_b", "b_a")
    assert verdicts(some) == {
        "a_b": DEGENERATE,
        "b_a": "positive transfer",
        "average": "positive transfer",
    }
    more = ten_trials({NOISE: {"a_b": [1, 2, 3]}}, "a_b", "b_a")
    assert verdicts(more)["average"] == DEGENERATE


def test_the_share_of_collapsed_trials_is_of_those_that_both_have() -> None:
    five = {NOISE: [0.7] * 5 + [NAN] * 5, NO_SOURCE: [0.7] * 10, REAL: [0.8] * 10}
    cells = {cell: {"a_b": values} for cell, values in five.items()}
    plan = plan_of("a_b", **TEN)
    found = gains_over_comparators(as_frame(cells, {NOISE: {"a_b": [1]}}), plan)
    assert against(found, "noise").degenerate
    assert against(found, "none").pair == "positive transfer"
    beyond = gains_over_comparators(as_frame(cells, {REAL: {"a_b": [9]}}), plan)
    assert set(beyond[beyond["state"]]["pair"]) == {"positive transfer"}


def by_domain(gains: dict[str, float | None]) -> pd.DataFrame:
    """Compare a reference that gains so much over no source on each task."""
    cells = {
        REAL: {task: [0.7] * 5 for task in gains},
        NO_SOURCE: {
            task: [NAN if gain is None else 0.7 - gain] * 5
            for task, gain in gains.items()
        },
    }
    return gains_over_comparators(as_frame(cells), plan_of(*gains, states=("none",)))


FOUR = {"a_w": 0.01, "a_x": 0.02, "a_y": 0.03, "a_z": 0.03, "b_z": 0.05}


def test_from_four_target_domains_on_there_is_an_interval_over_their_means() -> None:
    found = by_domain(FOUR)
    average = against(found, "none", "average")
    # Domains gain 1, 2, 3 and 4 points: z counts once. Mean 2.5, variance 5 / 3.
    half = 3.182446 * math.sqrt(5 / 3 / 4) / 100
    ends = (0.025 - half, 0.025 + half)
    assert (average.domain_low, average.domain_high) == pytest.approx(ends, abs=1e-8)
    assert average.gain == pytest.approx(0.028)
    tasks = found[found["task"] != "average"]
    assert tasks[["domain_low", "domain_high"]].isna().all(axis=None)


@pytest.mark.parametrize(
    "gains",
    [
        {task: gain for task, gain in FOUR.items() if task != "a_w"},
        {**FOUR, "a_w": None},
        {**FOUR, "b_z": None},
    ],
    ids=["three", "one without trials", "one without all of its tasks"],
)
def test_with_fewer_target_domains_there_is_none(gains: dict[str, Any]) -> None:
    average = against(by_domain(gains), "none", "average")
    assert math.isnan(average.domain_low)
    assert math.isnan(average.domain_high)


def test_written_comparisons_are_read_back_unchanged(tmp_path: Path) -> None:
    plan = make_plan(title="NA", benchmark="na", own_states={"cdspp-pca": ()})
    found = draw_comparisons(plan, missing=[("noise", DIGIT_TASKS[0], 1)])
    path = tmp_path / "source-help_na.csv"
    path.write_text(to_csv(build_task_table(found, plan)), encoding="utf-8")
    assert list(found.columns) == [*COMPARISON_COLUMNS]
    pd.testing.assert_frame_equal(read_comparisons(path), found, check_dtype=False)


def bridged(alone: float, shuffled: float = 0.5) -> tuple[BenchmarkPlan, pd.DataFrame]:
    """Return the comparisons of a study in which paired rows give 74 %."""
    plan = make_plan(
        tasks=("a_b",),
        methods=("svm-t", "cdspp", "paired-map"),
        states=("none", "shuffled-pairs"),
        own_states={"cdspp": ["none"]},
        trials=5,
        bridge={"paired_rows": 5},
    )
    around = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
    values = {("main", "paired-map"): 0.74, ("none", "paired-map"): 0.5}
    values |= {("shuffled-pairs", "paired-map"): shuffled, NO_SOURCE: alone, SVM: 0.4}
    values |= {REAL: alone}
    own = {
        key: {"a_b": [*(value + around * (1 + i / 9))]}
        for i, (key, value) in enumerate(values.items())
    }
    return plan, gains_over_comparators(as_frame(own), plan)


@pytest.mark.parametrize(
    ("alone", "shuffled", "word"),
    [
        (0.6, 0.5, "positive transfer"),
        (0.74, 0.5, "inconclusive"),
        (0.6, 0.74, "inconclusive"),
    ],
)
def test_a_bridge_helps_only_where_target_and_shuffled_bridges_do_less(
    alone: float, shuffled: float, word: str
) -> None:
    _, found = bridged(alone, shuffled)
    assert verdicts(found, "paired-map")["a_b"] == word


def test_methods_with_a_bridge_change_no_word_of_the_others() -> None:
    _, found = bridged(alone=0.6)
    whole = matrix(found, corrected=True)
    apart = matrix(found[found["bridge"] == ""], corrected=True)
    kept = whole[whole["bridge"] == ""].reset_index(drop=True)
    apart = apart.reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, apart, check_dtype=False)
