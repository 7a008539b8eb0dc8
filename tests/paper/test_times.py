"""Computation times: known sums, what is missing, and the printed seconds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from support.report_data import make_plan
from support.score_data import NAN, Cells, as_results

from cdspp.core.errors import DataError
from cdspp.paper.times import measure_times, paper_times

TASKS = ("a_b", "b_a")

CDSPP = ("main", "cdspp")


def times_of(cells: Cells) -> dict[str, Any]:
    """Measure the methods of a benchmark of two tasks."""
    plan = make_plan(tasks=TASKS, methods=("svm-t", "cdspp"))
    times = measure_times(as_results(cells), [plan])
    return {time.row: time for time in times.itertuples()}


def test_three_trials_take_three_times_the_mean_of_all_in_every_task() -> None:
    times = times_of(
        {
            CDSPP: {"a_b": [1.0, 2.0, 2.0, 3.0], "b_a": [10.0, 10.0, 10.0]},
            ("main", "svm-t"): {"a_b": [0.5, 0.5, 0.5], "b_a": [5.0, 5.0, 5.0]},
        }
    )
    assert times["cdspp"].seconds == pytest.approx(6 + 30)
    assert times["svm-t"].ratio == pytest.approx(16.5 / 36)
    assert times["cdspp"].ratio == 1.0


def test_fewer_trials_are_scaled_to_three_and_told() -> None:
    time = times_of({CDSPP: {"a_b": [2.0], "b_a": [1.0, 1.0, 1.0]}})["cdspp"]
    assert time.seconds == pytest.approx(6 + 3)
    assert (time.trials, time.failed, time.tasks, time.n_tasks) == (1, 0, 2, 2)


def test_a_method_that_ran_elsewhere_has_no_seconds() -> None:
    plan = make_plan(tasks=TASKS, methods=("cdspp",))
    results = as_results({CDSPP: dict.fromkeys(TASKS, [1.0, 1.0, 1.0])})
    (time,) = measure_times(results.assign(cpu_seconds=NAN), [plan]).itertuples()
    assert math.isnan(time.seconds)
    assert (time.trials, time.failed, time.tasks) == (0, 0, 0)


def test_failed_trials_are_not_measured_but_counted() -> None:
    time = times_of({CDSPP: dict.fromkeys(TASKS, [NAN, 1.0, 1.0, 4.0])})["cdspp"]
    assert time.seconds == pytest.approx(2 * 6)
    assert (time.trials, time.failed) == (3, 2)


def test_a_task_without_a_trial_leaves_no_sum() -> None:
    time = times_of({CDSPP: {"a_b": [1.0] * 3}})["cdspp"]
    assert math.isnan(time.seconds)
    assert (time.tasks, time.n_tasks) == (1, 2)


def test_other_settings_do_not_count() -> None:
    noise = {("noise", "cdspp"): dict.fromkeys(TASKS, [1.0] * 3)}
    assert times_of(noise)["cdspp"].tasks == 0


def test_the_paper_folder_of_the_project_names_its_times(repository: Path) -> None:
    named = {"photographs": "office-caltech", "rooms": "office-home-resnet50-vgg16"}
    plans = [
        make_plan(benchmark=name, paper={"printed": named.get(name)})
        for name in ("photographs", "rooms", "digits")
    ]
    paper = paper_times(repository / "resources/paper", plans)
    assert list(paper) == ["photographs", "rooms"]
    assert paper["photographs"]["CDSPP"] == 161
    assert paper["rooms"]["CDLS"] == 272


def test_times_of_the_paper_that_are_missing_or_none_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(DataError, match="computation_time.csv: expected a CSV"):
        paper_times(tmp_path, [])
    wrong = tmp_path / "computation_time.csv"
    wrong.write_text("method,seconds\nTIT,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="columns method, benchmark, seconds"):
        paper_times(tmp_path, [])
