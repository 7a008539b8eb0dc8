"""Gains over doing without the source, on scores written down by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.gain_data import NAN, gain_plan, write_cells

from cdspp.analysis.gains import GAIN_COLUMNS, gather_gains
from cdspp.analysis.summary import read_summary
from cdspp.report.tables.benchmark import build_benchmark_tables
from cdspp.study.plan import BenchmarkPlan

Cells = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
Gather = Callable[[Cells, BenchmarkPlan], pd.DataFrame]


@pytest.fixture
def gains_of(tmp_path: Path) -> Gather:
    """Return a function that writes scores and gathers their gains."""

    def gather(cells: Cells, plan: BenchmarkPlan) -> pd.DataFrame:
        path = write_cells(tmp_path / f"{plan.benchmark}.parquet", cells)
        return gather_gains([path], [plan])

    return gather


def gain_over(gains: pd.DataFrame, rival: str = "svm-t", tasks: str = "all") -> Any:
    """Return what cdspp gains over a rival."""
    (found,) = [
        gain
        for gain in gains.itertuples()
        if (gain.row, gain.rival, gain.tasks) == ("cdspp", rival, tasks)
    ]
    return found


def two_rows(gains: Mapping[str, Sequence[float]]) -> Cells:
    """Give cdspp these gains over an SVM at one half."""
    return {
        ("main", "svm-t"): {t: [0.5] * len(values) for t, values in gains.items()},
        ("main", "cdspp"): {t: [0.5 + g for g in v] for t, v in gains.items()},
    }


def test_a_task_counts_by_the_mean_over_the_trials_that_both_have(
    gains_of: Gather,
) -> None:
    cells = {
        ("main", "svm-t"): {"a_x": [0.5, 0.5, 0.5], "a_y": [0.4, NAN, NAN]},
        ("main", "cdspp"): {"a_x": [0.6, 0.6, 0.9], "a_y": [0.8, 0.1, 0.1]},
    }
    gain = gain_over(gains_of(cells, gain_plan("a_x", "a_y")))
    # a_x gains 0.2 over three trials, a_y 0.4 over one: tasks weigh the same.
    assert gain.gain == pytest.approx(0.3)
    assert (gain.n_tasks, gain.blocks, gain.trials) == (2, 2, 1)


def test_the_interval_draws_target_domains_not_tasks(gains_of: Gather) -> None:
    targets = {"x": 0.1, "y": 0.3, "z": 0.2}
    few = {f"a_{t}": [gain, gain] for t, gain in targets.items()}
    many = {f"{s}_{t}": [g, g] for s in "abcdefgh" for t, g in targets.items()}
    one = gain_over(gains_of(two_rows(few), gain_plan(*few)))
    eight = gain_over(gains_of(two_rows(many), gain_plan(*many)))
    assert (one.blocks, one.n_tasks) == (3, 3)
    assert (eight.blocks, eight.n_tasks) == (3, 24)
    assert (one.low, one.high) == pytest.approx((0.1, 0.3))
    assert (eight.low, eight.high) == pytest.approx((one.low, one.high))


def test_a_target_domain_weighs_by_its_tasks(gains_of: Gather) -> None:
    gains = {"a_x": [0.0, 0.0], "b_x": [0.0, 0.0], "a_y": [0.3, 0.3]}
    gain = gain_over(gains_of(two_rows(gains), gain_plan(*gains)))
    assert gain.gain == pytest.approx(0.1)
    assert (gain.low, gain.high) == pytest.approx((0.0, 0.3))


def test_a_single_target_domain_gives_no_interval(gains_of: Gather) -> None:
    gains = {"a_x": [0.1, 0.2], "b_x": [0.3, 0.4]}
    gain = gain_over(gains_of(two_rows(gains), gain_plan(*gains)))
    assert gain.gain == pytest.approx(0.25)
    assert math.isnan(gain.low)
    assert math.isnan(gain.high)


def test_tasks_within_a_domain_are_told_apart_where_there_are_others(
    gains_of: Gather,
) -> None:
    gains = {"x_x": [0.3], "y_y": [0.1], "x_y": [-0.1], "y_x": [-0.1]}
    found = gains_of(two_rows(gains), gain_plan(*gains))
    expected = {
        "all": (0.05, 0.55, 4, 0.5),
        "between domains": (-0.1, 0.4, 2, 1.0),
        "within a domain": (0.2, 0.7, 2, 0.0),
    }
    for tasks, (mean, accuracy, n_tasks, hurt) in expected.items():
        gain = gain_over(found, tasks=tasks)
        assert gain.gain == pytest.approx(mean)
        assert gain.accuracy == pytest.approx(accuracy)
        assert (gain.n_tasks, gain.hurt, gain.blocks) == (n_tasks, hurt, 2)


@pytest.mark.parametrize("tasks", [("x_y", "y_x"), ("x_x", "y_y")])
def test_tasks_of_one_kind_are_counted_once(
    tasks: Sequence[str], gains_of: Gather
) -> None:
    found = gains_of(two_rows(dict.fromkeys(tasks, [0.1])), gain_plan(*tasks))
    assert list(found["tasks"]) == ["all"]


def test_only_methods_that_ran_on_an_empty_source_are_compared_with_it(
    gains_of: Gather,
) -> None:
    cells = {
        **two_rows({"a_x": [0.2, 0.2]}),
        ("main", "dama"): {"a_x": [0.6, 0.6]},
        ("placebo", "cdspp"): {"a_x": [0.65, 0.65]},
        ("hiss", "cdspp"): {"a_x": [0.6, 0.6]},
        ("main", "target-only"): {"a_x": [0.8, 0.8]},
    }
    found = gains_of(cells, gain_plan("a_x", methods=("svm-t", "dama", "cdspp")))
    assert list(zip(found["row"], found["rival"], strict=True)) == [
        ("dama", "svm-t"),
        ("dama", "target-only"),
        ("cdspp", "svm-t"),
        ("cdspp", "target-only"),
        ("cdspp", "placebo"),
        ("cdspp", "noise"),
    ]
    assert list(found["gain"]) == pytest.approx([0.1, -0.2, 0.2, -0.1, 0.05, 0.1])


def test_transfer_hurts_where_the_gain_is_negative_and_surely_in_every_trial(
    gains_of: Gather,
) -> None:
    gains = {
        "a_x": [-0.1, -0.2, -0.3],  # hurts, surely
        "a_y": [-0.3, 0.1, 0.1],  # hurts on average
        "a_z": [0.1, 0.1, 0.1],
        "a_w": [0.1, 0.1, -0.1],
    }
    gain = gain_over(gains_of(two_rows(gains), gain_plan(*gains)))
    assert (gain.hurt, gain.hurt_sure) == (2 / 4, 1 / 4)


def test_one_trial_says_nothing_about_sure(gains_of: Gather) -> None:
    gains = {"a_x": [-0.1], "a_y": [0.1]}
    gain = gain_over(gains_of(two_rows(gains), gain_plan(*gains)))
    assert gain.hurt == 0.5
    assert math.isnan(gain.hurt_sure)


def test_a_trace_of_rounding_does_not_hurt(gains_of: Gather) -> None:
    cells = {
        ("main", "svm-t"): {"a_x": [0.2, 0.2]},
        ("main", "cdspp"): {"a_x": [0.3, 0.1]},
    }
    assert np.mean([0.3 - 0.2, 0.1 - 0.2]) < 0
    assert gain_over(gains_of(cells, gain_plan("a_x"))).hurt == 0


def test_the_baseline_is_no_method_and_a_method_without_scores_is_left_out(
    gains_of: Gather,
) -> None:
    cells, methods = two_rows({"a_x": [0.1, 0.1]}), ("svm-t", "dama", "cdspp")
    assert list(gains_of(cells, gain_plan("a_x", methods=methods))["row"]) == ["cdspp"]
    short = gains_of(cells, gain_plan("a_x", methods=methods, shortened={"cdspp": 3}))
    assert list(short["display_name"]) == ["CDSPP†"]


def test_tasks_that_lack_the_rival_are_not_counted(gains_of: Gather) -> None:
    cells = {
        **two_rows({"a_x": [0.1, 0.3], "a_y": [0.5, 0.5]}),
        ("placebo", "cdspp"): {"a_x": [0.5, 0.5]},
    }
    gain = gain_over(gains_of(cells, gain_plan("a_x", "a_y")), "placebo")
    assert (gain.n_tasks, gain.gain) == (1, pytest.approx(0.2))
    assert gain.accuracy == pytest.approx(0.85)


def test_the_accuracy_is_that_of_the_table_of_accuracies(tmp_path: Path) -> None:
    cells = {
        ("main", "svm-t"): {"a_x": [0.5, 0.5], "a_y": [0.5, 0.5]},
        ("main", "cdspp"): {"a_x": [0.6, NAN], "a_y": [0.8, 0.2]},
    }
    plan = gain_plan("a_x", "a_y", trials=2)
    path = write_cells(tmp_path / "toy.parquet", cells)
    (found,) = gather_gains([path], [plan]).itertuples()
    data = build_benchmark_tables(read_summary(path, plan))[0].data
    average = data[(data["row"] == "cdspp") & (data["task"] == "average")]
    assert found.accuracy == average["mean"].item() == pytest.approx(0.7)


def test_all_benchmarks_pool_tasks_of_methods_that_ran_on_each(tmp_path: Path) -> None:
    first = gain_plan("a_x", "b_x", "a_y", methods=("svm-t", "dama", "cdspp"))
    second = gain_plan("a_x", benchmark="second", methods=("svm-t", "cdspp"))
    gains = {"a_x": [0.1, 0.1], "b_x": [0.1, 0.1], "a_y": [0.2, 0.2]}
    cells = {**two_rows(gains), ("main", "dama"): {"a_x": [0.5, 0.5]}}
    scores = [
        write_cells(tmp_path / "first.parquet", cells),
        write_cells(tmp_path / "second.parquet", two_rows({"a_x": [-0.4, -0.4]})),
    ]
    found = gather_gains(scores, [first, second])
    assert list(zip(found["benchmark"], found["row"], strict=True)) == [
        ("toy", "dama"),
        ("toy", "cdspp"),
        ("second", "cdspp"),
        ("all-benchmarks", "cdspp"),
    ]
    pooled = found.iloc[-1]
    assert pooled.title == "All benchmarks"
    # Domain x of the second benchmark is another block than x of the first.
    assert (pooled.n_tasks, pooled.blocks) == (4, 3)
    assert pooled.gain == pytest.approx((0.1 + 0.1 + 0.2 - 0.4) / 4)
    assert pooled.accuracy == pytest.approx((0.6 + 0.6 + 0.7 + 0.1) / 4)
    assert pooled.hurt == 1 / 4


def test_benchmarks_of_one_data_set_share_their_target_domains(tmp_path: Path) -> None:
    gains = {"a_x": [0.1, 0.1], "a_y": [0.2, 0.2]}
    path = write_cells(tmp_path / "scores.parquet", two_rows(gains))
    first = gain_plan(*gains, dataset="photographs")
    second = gain_plan(*gains, benchmark="second", dataset="photographs")
    cells = write_cells(tmp_path / "second.parquet", two_rows(gains))
    pooled = gather_gains([path, cells], [first, second]).iloc[-1]
    assert (pooled.n_tasks, pooled.blocks) == (4, 2)


def test_one_benchmark_is_not_pooled(gains_of: Gather) -> None:
    gains = {"a_x": [0.1, 0.2], "a_y": [0.3, 0.4]}
    found = gains_of(two_rows(gains), gain_plan(*gains))
    assert set(found["benchmark"]) == {"toy"}
    assert list(gather_gains([], []).columns) == list(found.columns) == [*GAIN_COLUMNS]
