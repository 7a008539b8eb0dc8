"""The computation-time table: bold, multiples, what is missing, printed seconds."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.report_data import RESOURCES, make_plan
from support.score_data import NAN, Cells, as_results

from cdspp.paper.times import build_times_table, measure_times, paper_times
from cdspp.report.tables.table import Cell, Table, to_html

TASKS = ("a_b", "b_a")


def cell(table: Table, name: str, column: str) -> Cell:
    """Return a cell by the names of its line and column."""
    (line,) = [line for line in table.lines if line.cells[0].text == name]
    return line.cells[table.columns.index(column)]


def times_of(cells: Cells, *methods: str, **options: Any) -> Table:
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
    table = times_of(equal_trials(seconds), *seconds, shortened={"stn": 1})
    bold = [line.cells[0].text for line in table.lines if line.cells[1].bold]
    assert bold == ["SVM_t*", "CDSPP"]
    assert cell(table, "STN†", "Digits, s").text == "12.0"


def test_a_cell_holds_seconds_and_the_multiple_of_the_reference() -> None:
    table = times_of(equal_trials({"svm-t": 0.5, "cdspp": 2.0}))
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


def test_what_is_missing_is_told_in_small_print() -> None:
    table = times_of(
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
