"""Computation times: known sums, what is missing, and the printed seconds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from support.report_data import make_plan
from support.time_data import TASKS, joined, outcomes, time_plan

from cdspp.analysis.times import measure_times, paper_times
from cdspp.core.errors import DataError
from cdspp.study.plan import BenchmarkPlan


def times_of(records: list[Any], plan: BenchmarkPlan) -> dict[str, Any]:
    """Measure the methods of one benchmark."""
    times = measure_times(joined(*records), [plan])
    return {time.row: time for time in times.itertuples()}


def test_the_first_three_trials_of_every_task_are_added_up() -> None:
    records = [
        outcomes("cdspp", TASKS[0], [1.0, 2.0, 3.0, 50.0]),
        outcomes("cdspp", TASKS[1], [10.0, 10.0, 10.0]),
        outcomes("svm-t", TASKS[0], [0.5, 0.5, 0.5]),
        outcomes("svm-t", TASKS[1], [5.0, 5.0, 5.0]),
    ]
    times = times_of(records, time_plan())
    assert times["cdspp"].seconds == pytest.approx(6 + 30)
    assert times["svm-t"].ratio == pytest.approx(16.5 / 36)
    assert times["cdspp"].ratio == 1.0


def test_blocks_are_joined_in_the_order_of_their_trials() -> None:
    records = [
        outcomes("cdspp", task, seconds, first=first)
        for task in TASKS
        for first, seconds in ((3, [4.0, 50.0]), (1, [1.0, 1.0]))
    ]
    assert times_of(records, time_plan())["cdspp"].seconds == pytest.approx(2 * 6)


def test_fewer_trials_are_scaled_to_three_and_told() -> None:
    records = [
        outcomes("cdspp", TASKS[0], [2.0]),
        outcomes("cdspp", TASKS[1], [1.0, 1.0, 1.0]),
    ]
    time = times_of(records, time_plan())["cdspp"]
    assert time.seconds == pytest.approx(6 + 3)
    assert (time.trials, time.failed, time.tasks, time.n_tasks) == (1, 0, 2, 2)


def test_failed_trials_are_not_measured_but_counted() -> None:
    records = [outcomes("cdspp", task, [None, 1.0, 1.0, 4.0]) for task in TASKS]
    time = times_of(records, time_plan())["cdspp"]
    assert time.seconds == pytest.approx(2 * 6)
    assert (time.trials, time.failed) == (3, 2)


def test_a_task_without_a_trial_leaves_no_sum() -> None:
    time = times_of([outcomes("cdspp", TASKS[0], [1.0] * 3)], time_plan())["cdspp"]
    assert math.isnan(time.seconds)
    assert (time.tasks, time.n_tasks) == (1, 2)


def test_other_settings_do_not_count() -> None:
    records = [outcomes("cdspp", task, [1.0] * 3, setting="noise") for task in TASKS]
    assert times_of(records, time_plan())["cdspp"].tasks == 0


def test_the_paper_folder_of_the_project_names_its_times(repository: Path) -> None:
    named = {"photographs": "office-caltech", "rooms": "office-home-resnet50-vgg16"}
    plans = [
        make_plan(benchmark=name, printed=named.get(name))
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
