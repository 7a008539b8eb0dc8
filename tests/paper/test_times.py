"""Computation times: known sums, what is missing, printed seconds, the table."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.report_data import RESOURCES, make_plan
from support.score_data import NAN, Cells, as_results

from cdspp.paper.times import build_times_table, measure_times, paper_times
from cdspp.report.tables.table import Cell, Table, to_html

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


def cell(table: Table, name: str, column: str) -> Cell:
    """Return a cell by the names of its line and column."""
    (line,) = [line for line in table.lines if line.cells[0].text == name]
    return line.cells[table.columns.index(column)]


def table_of(cells: Cells, *methods: str, **options: Any) -> Table:
    """Build the table of a benchmark of two tasks."""
    plan = make_plan(tasks=TASKS, methods=methods or ("svm-t", "cdspp"), **options)
    return build_times_table(measure_times(as_results(cells), [plan]))


def equal_trials(seconds: Mapping[str, float]) -> Cells:
    """Give methods these seconds in each of three trials of both tasks."""
    return {
        ("main", method): dict.fromkeys(TASKS, [value] * 3)
        for method, value in seconds.items()
    }


def test_each_block_of_rows_has_its_least_in_bold_and_never_a_shortened_run() -> None:
    seconds = {"svm-t": 1.0, "hfa": 9.0, "dama": 4.0, "stn": 2.0, "cdspp": 3.0}
    table = table_of(equal_trials(seconds), *seconds, shortened={"stn": 1})
    bold = [line.cells[0].text for line in table.lines if line.cells[1].bold]
    assert bold == ["SVM_t*", "CDSPP"]
    assert cell(table, "STN†", "Digits, s").text == "12.0"


def test_a_cell_holds_seconds_and_the_multiple_of_the_reference() -> None:
    table = table_of(equal_trials({"svm-t": 0.5, "cdspp": 2.0}))
    assert cell(table, "SVM_t*", "Digits, s").text == "3.00"
    assert cell(table, "SVM_t*", "Digits, s").note == "0.25 ×"
    assert cell(table, "CDSPP", "Digits, s").note == ""


def test_printed_seconds_stand_beside_those_of_the_benchmark_that_has_them(
    tmp_path: Path,
) -> None:
    plan = make_plan(
        methods=("shfa", "dama", "cdspp"),
        paper={"printed": "office-home-vgg16-resnet50"},
    )
    other = make_plan(benchmark="docs", methods=("cdspp",))
    (tmp_path / "computation_time.csv").write_text(
        "method,benchmark,seconds_all_tasks\n"
        "DAMA,office-home,500\nSHFA,office-home,Inf\nCDSPP,office-home,250\n"
    )
    shutil.copy(RESOURCES / "paper/protocol.yaml", tmp_path)
    paper = paper_times(tmp_path, [plan, other])
    table = build_times_table(measure_times(as_results({}), [plan, other], paper))
    assert table.columns == ("Method", "Digits, s", "Digits, paper, s", "Docs, s")
    assert cell(table, "DAMA", "Digits, paper, s").text == "500"
    assert cell(table, "DAMA", "Digits, paper, s").note == "2.00 ×"
    assert cell(table, "SHFA", "Digits, paper, s").text == "inf"
    assert 'data-value="inf"' not in to_html(table)


def test_benchmarks_of_one_title_keep_their_own_columns() -> None:
    few = {"tasks": TASKS, "methods": ("cdspp",)}
    plans = [make_plan(**few), make_plan(benchmark="more", title="Digits", **few)]
    seconds = as_results(equal_trials({"cdspp": 2.0}))
    table = build_times_table(measure_times(seconds, plans))
    assert table.columns == ("Method", "Digits, s", "Digits, s")
    assert [cell.text for cell in table.lines[0].cells] == ["CDSPP", "12.0", "–"]


def test_what_is_missing_is_told_in_small_print() -> None:
    table = table_of(
        {
            ("main", "svm-t"): {"a_b": [1.0]},
            ("main", "cdspp"): {"a_b": [2.0], "b_a": [1.0, NAN, 1.0]},
        }
    )
    assert cell(table, "SVM_t*", "Digits, s").note == "1 of 2 tasks, 1 trial"
    assert cell(table, "CDSPP", "Digits, s").note == "1 trial, 1 failed"
    assert cell(table, "CDSPP", "Digits, s").text == "9.00"
    data = table.data.set_index("row")
    assert data["seconds"].isna().to_dict() == {"svm-t": True, "cdspp": False}
    assert "supervised" not in data
