"""Gains over doing without the source, on scores written down by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.report_data import make_plan
from support.score_data import NAN, Cells, as_frame, write_cells

from cdspp.analysis.gains import GAIN_COLUMNS, gather_gains
from cdspp.analysis.summary import summarise
from cdspp.report.tables.benchmark import build_benchmark_tables
from cdspp.study.plan import BenchmarkPlan

Gains = Mapping[str, Sequence[float]]
Gather = Callable[[BenchmarkPlan, Cells], pd.DataFrame]
HISS = {"id": "hiss", "source": "noise", "methods": ["cdspp"]}


def gain_plan(*tasks: str, **options: Any) -> BenchmarkPlan:
    """Build a plan; the settings of changed sources are "placebo" and "hiss"."""
    usual = {"benchmark": "toy", "methods": ("svm-t", "cdspp"), "trials": 3}
    changed = {"controls": ("target-only", "placebo"), "settings": [HISS]}
    return make_plan(tasks=tasks, **{**usual, **changed, **options})


@pytest.fixture
def gains_of(tmp_path: Path) -> Gather:
    """Return a function that writes scores of benchmarks and gathers their gains."""

    def gather(*known: tuple[BenchmarkPlan, Cells]) -> pd.DataFrame:
        paths = [
            write_cells(tmp_path / f"{plan.benchmark}.parquet", cells)
            for plan, cells in known
        ]
        return gather_gains(paths, [plan for plan, _ in known])

    return gather


def gain_over(gains: pd.DataFrame, rival: str = "svm-t", tasks: str = "all") -> Any:
    """Return what cdspp gains over a rival."""
    wanted = {"row": "cdspp", "rival": rival, "tasks": tasks}
    (found,) = gains[(gains[list(wanted)] == wanted).all(axis=1)].itertuples()
    return found


def two_rows(gains: Gains) -> Cells:
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
    gain = gain_over(gains_of((gain_plan("a_x", "a_y"), cells)))
    # a_x gains 0.2 over three trials, a_y 0.4 over one: tasks weigh the same.
    assert gain.gain == pytest.approx(0.3)
    assert (gain.n_tasks, gain.blocks, gain.trials) == (2, 2, 1)


FEW = {"a_x": 0.1, "a_y": 0.3, "a_z": 0.2}
MANY = {f"{source}_{task[-1]}": FEW[task] for source in "abcdefgh" for task in FEW}
KNOWN: dict[str, tuple[Gains, dict[str, float]]] = {
    "an interval draws target domains": (
        {task: [gain, gain] for task, gain in FEW.items()},
        {"n_tasks": 3, "blocks": 3, "low": 0.1, "high": 0.3},
    ),
    "an interval draws no tasks": (
        {task: [gain, gain] for task, gain in MANY.items()},
        {"n_tasks": 24, "blocks": 3, "low": 0.1, "high": 0.3},
    ),
    "a target domain weighs by its tasks": (
        {"a_x": [0.0, 0.0], "b_x": [0.0, 0.0], "a_y": [0.3, 0.3]},
        {"gain": 0.1, "low": 0.0, "high": 0.3},
    ),
    "a single target domain gives no interval": (
        {"a_x": [0.1, 0.2], "b_x": [0.3, 0.4]},
        {"gain": 0.25, "low": NAN, "high": NAN},
    ),
    "what is negative hurts, and surely in every trial": (
        {
            "a_x": [-0.1, -0.2, -0.3],  # hurts, surely
            "a_y": [-0.3, 0.1, 0.1],  # hurts on average
            "a_z": [0.1, 0.1, 0.1],
            "a_w": [0.1, 0.1, -0.1],
        },
        {"hurt": 2 / 4, "hurt_sure": 1 / 4},
    ),
    "one trial says nothing about sure": (
        {"a_x": [-0.1], "a_y": [0.1]},
        {"hurt": 1 / 2, "hurt_sure": NAN},
    ),
}


@pytest.mark.parametrize(("gains", "expected"), KNOWN.values(), ids=KNOWN)
def test_the_gain_over_an_svm_is_known(
    gains_of: Gather, gains: Gains, expected: Mapping[str, float]
) -> None:
    found = gain_over(gains_of((gain_plan(*gains), two_rows(gains))))
    values = {name: getattr(found, name) for name in expected}
    assert values == pytest.approx(expected, nan_ok=True)


def test_tasks_within_a_domain_are_told_apart_where_there_are_others(
    gains_of: Gather,
) -> None:
    gains = {"x_x": [0.3], "y_y": [0.1], "x_y": [-0.1], "y_x": [-0.1]}
    found = gains_of((gain_plan(*gains), two_rows(gains)))
    assert list(found["tasks"]) == ["all", "between domains", "within a domain"]
    columns = ["gain", "accuracy", "n_tasks", "hurt", "blocks"]
    np.testing.assert_allclose(
        found[columns].to_numpy(float),
        [[0.05, 0.55, 4, 0.5, 2], [-0.1, 0.4, 2, 1.0, 2], [0.2, 0.7, 2, 0.0, 2]],
    )


@pytest.mark.parametrize("tasks", [("x_y", "y_x"), ("x_x", "y_y")])
def test_tasks_of_one_kind_are_counted_once(
    tasks: Sequence[str], gains_of: Gather
) -> None:
    found = gains_of((gain_plan(*tasks), two_rows(dict.fromkeys(tasks, [0.1]))))
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
    found = gains_of((gain_plan("a_x", methods=("svm-t", "dama", "cdspp")), cells))
    assert list(zip(found["row"], found["rival"], strict=True)) == [
        ("dama", "svm-t"),
        ("dama", "target-only"),
        ("cdspp", "svm-t"),
        ("cdspp", "target-only"),
        ("cdspp", "placebo"),
        ("cdspp", "noise"),
    ]
    assert list(found["gain"]) == pytest.approx([0.1, -0.2, 0.2, -0.1, 0.05, 0.1])


def test_a_trace_of_rounding_does_not_hurt(gains_of: Gather) -> None:
    cells = {
        ("main", "svm-t"): {"a_x": [0.2, 0.2]},
        ("main", "cdspp"): {"a_x": [0.3, 0.1]},
    }
    assert np.mean([0.3 - 0.2, 0.1 - 0.2]) < 0
    assert gain_over(gains_of((gain_plan("a_x"), cells))).hurt == 0


def test_the_baseline_is_no_method_and_a_method_without_scores_is_left_out(
    gains_of: Gather,
) -> None:
    cells, methods = two_rows({"a_x": [0.1, 0.1]}), ("svm-t", "dama", "cdspp")
    found = gains_of((gain_plan("a_x", methods=methods), cells))
    assert list(found["row"]) == ["cdspp"]
    short = gains_of((gain_plan("a_x", methods=methods, shortened={"cdspp": 3}), cells))
    assert list(short["display_name"]) == ["CDSPP†"]


def test_tasks_that_lack_the_rival_are_not_counted(gains_of: Gather) -> None:
    cells = {
        **two_rows({"a_x": [0.1, 0.3], "a_y": [0.5, 0.5]}),
        ("placebo", "cdspp"): {"a_x": [0.5, 0.5]},
    }
    gain = gain_over(gains_of((gain_plan("a_x", "a_y"), cells)), "placebo")
    assert (gain.n_tasks, gain.gain) == (1, pytest.approx(0.2))
    assert gain.accuracy == pytest.approx(0.85)


def test_the_accuracy_is_that_of_the_table_of_accuracies(gains_of: Gather) -> None:
    cells = {
        ("main", "svm-t"): {"a_x": [0.5, 0.5], "a_y": [0.5, 0.5]},
        ("main", "cdspp"): {"a_x": [0.6, NAN], "a_y": [0.8, 0.2]},
    }
    plan = gain_plan("a_x", "a_y", trials=2)
    found = gain_over(gains_of((plan, cells)))
    data = build_benchmark_tables(summarise(as_frame(cells), plan))[0].data
    average = data[(data["row"] == "cdspp") & (data["task"] == "average")]
    assert found.accuracy == average["mean"].item() == pytest.approx(0.7)


def test_all_benchmarks_pool_tasks_of_methods_that_ran_on_each(
    gains_of: Gather,
) -> None:
    first = gain_plan("a_x", "b_x", "a_y", methods=("svm-t", "dama", "cdspp"))
    second = gain_plan("a_x", benchmark="second", methods=("svm-t", "cdspp"))
    gains = {"a_x": [0.1, 0.1], "b_x": [0.1, 0.1], "a_y": [0.2, 0.2]}
    cells = {**two_rows(gains), ("main", "dama"): {"a_x": [0.5, 0.5]}}
    found = gains_of((first, cells), (second, two_rows({"a_x": [-0.4, -0.4]})))
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


def test_benchmarks_of_one_data_set_share_their_target_domains(
    gains_of: Gather,
) -> None:
    gains = {"a_x": [0.1, 0.1], "a_y": [0.2, 0.2]}
    first = gain_plan(*gains, dataset="photographs")
    second = gain_plan(*gains, benchmark="second", dataset="photographs")
    pooled = gains_of((first, two_rows(gains)), (second, two_rows(gains))).iloc[-1]
    assert (pooled.n_tasks, pooled.blocks) == (4, 2)


def test_one_benchmark_is_not_pooled(gains_of: Gather) -> None:
    gains = {"a_x": [0.1, 0.2], "a_y": [0.3, 0.4]}
    found = gains_of((gain_plan(*gains), two_rows(gains)))
    assert set(found["benchmark"]) == {"toy"}
    assert list(gather_gains([], []).columns) == list(found.columns) == [*GAIN_COLUMNS]
