"""The computation-time table: known sums, what is missing, and the printed seconds."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.report_data import make_layout, write_fit_records

from cdspp.analysis.fit_records import FitRecord
from cdspp.core.errors import DataError
from cdspp.report.tables.table import (
    Cell,
    Table,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)
from cdspp.report.tables.times import (
    Time,
    build_times_table,
    measure_times,
    paper_times,
    read_times,
    times_tables,
    write_times,
)

TASKS = ("print_sketch", "sketch_photo")


def layout_of(*methods: str, **options: Any) -> dict[str, Any]:
    """Build a layout of two tasks."""
    return make_layout(tasks=TASKS, methods=methods or ("svm-t", "cdspp"), **options)


def record(
    method: str,
    task: str,
    seconds: Sequence[float | None],
    *,
    first: int = 1,
    setting: str = "main",
) -> FitRecord:
    """Build the record of one block; None stands for a trial that failed."""
    trials = [
        {
            "trial": number,
            "status": "failed" if value is None else "ok",
            "cpu_seconds": 99.0 if value is None else value,
        }
        for number, value in enumerate(seconds, start=first)
    ]
    return FitRecord("digits", setting, task, method, {"trials": trials})


def times_of(
    records: Sequence[FitRecord], layout: Mapping[str, Any], **options: Any
) -> dict[str, Time]:
    """Measure the methods of one benchmark."""
    return {t.row.key: t for t in measure_times(records, [layout], **options)}


def cell(table: Table, printed: str, column: str) -> Cell:
    """Return a cell by the names of its line and column."""
    (line,) = [line for line in table.lines if line.cells[0].text == printed]
    return line.cells[table.columns.index(column)]


def test_the_first_three_trials_of_every_task_are_added_up() -> None:
    records = [
        record("cdspp", TASKS[0], [1.0, 2.0, 3.0, 50.0]),
        record("cdspp", TASKS[1], [10.0, 10.0, 10.0]),
        record("svm-t", TASKS[0], [0.5, 0.5, 0.5]),
        record("svm-t", TASKS[1], [5.0, 5.0, 5.0]),
    ]
    times = times_of(records, layout_of())
    assert times["cdspp"].seconds == pytest.approx(6 + 30)
    assert times["svm-t"].ratio == pytest.approx(16.5 / 36)
    assert times["cdspp"].ratio == 1.0


def test_blocks_are_joined_in_the_order_of_their_trials() -> None:
    records = [
        record("cdspp", task, seconds, first=first)
        for task in TASKS
        for first, seconds in ((3, [4.0, 50.0]), (1, [1.0, 1.0]))
    ]
    assert times_of(records, layout_of())["cdspp"].seconds == pytest.approx(2 * 6)


def test_fewer_trials_are_scaled_to_three_and_told() -> None:
    records = [
        record("cdspp", TASKS[0], [2.0]),
        record("cdspp", TASKS[1], [1.0, 1.0, 1.0]),
    ]
    time = times_of(records, layout_of())["cdspp"]
    assert time.seconds == pytest.approx(6 + 3)
    assert time.caveats == ["1 trial"]


def test_failed_trials_are_not_measured_but_counted() -> None:
    records = [record("cdspp", task, [None, 1.0, 1.0, 4.0]) for task in TASKS]
    time = times_of(records, layout_of())["cdspp"]
    assert time.seconds == pytest.approx(2 * 6)
    assert time.caveats == ["2 failed"]


def test_a_task_without_a_trial_leaves_no_sum() -> None:
    time = times_of([record("cdspp", TASKS[0], [1.0] * 3)], layout_of())["cdspp"]
    assert math.isnan(time.seconds)
    assert time.caveats == ["1 of 2 tasks"]


def test_other_settings_do_not_count() -> None:
    records = [record("cdspp", task, [1.0] * 3, setting="noise") for task in TASKS]
    assert times_of(records, layout_of())["cdspp"].tasks == 0


def test_each_block_of_rows_has_its_least_in_bold_and_never_a_shortened_run() -> None:
    layout = layout_of("svm-t", "hfa", "dama", "stn", "cdspp", shortened={"stn": 1})
    seconds = {"svm-t": 1.0, "hfa": 9.0, "dama": 4.0, "stn": 2.0, "cdspp": 3.0}
    records = [
        record(method, task, [value] * 3)
        for method, value in seconds.items()
        for task in TASKS
    ]
    table = build_times_table(measure_times(records, [layout]))
    bold = [line.cells[0].text for line in table.lines if line.cells[1].bold]
    assert bold == ["SVM_t*", "CDSPP"]
    assert cell(table, "STN†", "Digits, s").text == "12.0"


def test_a_cell_holds_seconds_and_the_multiple_of_the_reference() -> None:
    records = [
        record(method, task, [value] * 3)
        for method, value in (("svm-t", 0.5), ("cdspp", 2.0))
        for task in TASKS
    ]
    table = build_times_table(measure_times(records, [layout_of()]))
    assert cell(table, "SVM_t*", "Digits, s").text == "3.00"
    assert cell(table, "SVM_t*", "Digits, s").note == "0.25 ×"
    assert cell(table, "CDSPP", "Digits, s").note == ""


def test_printed_seconds_stand_beside_those_of_the_benchmark_that_has_them(
    tmp_path: Path,
) -> None:
    layout = {**layout_of("shfa", "dama", "cdspp"), "printed": "office-home-a"}
    other = make_layout(benchmark="docs", title="Docs", methods=("cdspp",))
    (tmp_path / "computation_time.csv").write_text(
        "method,benchmark,seconds_all_tasks\n"
        "DAMA,office-home,500\nSHFA,office-home,Inf\nCDSPP,office-home,250\n"
    )
    (tmp_path / "benchmarks.yaml").write_text("office-home-a: {time: office-home}\n")
    paper = paper_times(tmp_path, [layout, other])
    table = build_times_table(measure_times([], [layout, other], paper))
    assert table.columns == ("Method", "Digits, s", "Digits, paper, s", "Docs, s")
    assert cell(table, "DAMA", "Digits, paper, s").text == "500"
    assert cell(table, "DAMA", "Digits, paper, s").note == "2.00 ×"
    assert cell(table, "SHFA", "Digits, paper, s").text == "inf"
    assert 'data-value="inf"' not in to_html(table)


def test_the_paper_folder_of_the_project_names_its_times(repository: Path) -> None:
    layouts = [
        {"benchmark": "photographs", "printed": "office-caltech"},
        {"benchmark": "rooms", "printed": "office-home-resnet50-vgg16"},
        {"benchmark": "digits"},
    ]
    paper = paper_times(repository / "resources/paper", layouts)
    assert list(paper) == ["photographs", "rooms"]
    assert paper["photographs"]["CDSPP"] == 161
    assert paper["rooms"]["CDLS"] == 272


def test_a_benchmark_without_a_method_has_a_dash() -> None:
    layouts = [layout_of(), make_layout(benchmark="docs", title="Docs", methods=())]
    more = make_layout(benchmark="more", title="More", methods=("dama",))
    table = build_times_table(measure_times([], [*layouts, more]))
    assert cell(table, "CDSPP", "More, s").text == "–"
    assert "nan" not in to_markdown(table) + to_latex(table) + to_csv(table)


def test_the_csv_is_tidy(tmp_path: Path) -> None:
    layout = layout_of()
    paths = write_fit_records(tmp_path, layout, failed="svm-t")
    (times,) = times_tables([layout])
    output = tmp_path / f"{times}.csv"
    (tmp_path / "computation_time.csv").write_text("method,benchmark,seconds\n")
    (tmp_path / "benchmarks.yaml").write_text("{}\n")
    write_times(records=paths, layouts=[layout], paper=tmp_path, outputs=[output])
    rows = list(csv.DictReader(io.StringIO(output.read_text())))
    assert [(row["row"], row["seconds"], row["failed"]) for row in rows] == [
        ("svm-t", "3.0", "2"),
        ("cdspp", "3.0", "0"),
    ]
    assert rows[0]["paper_seconds"] == ""
    assert read_times(paths, [layout])[0].row.display_name == "SVM_t"


def test_without_the_paper_s_times_the_table_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no table of computation times"):
        paper_times(tmp_path, [])


def test_names_are_known_before_any_fit() -> None:
    assert times_tables([layout_of()]) == ["times"]
    assert times_tables([]) == []
    assert build_times_table([]).name == "times"
