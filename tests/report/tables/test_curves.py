"""Curves: which scores they take, their averages, and their tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report_data import METHODS, make_layout, score_rows

from cdspp.core.artifacts import SCORE_COLUMNS, write_rows
from cdspp.core.errors import DataError
from cdspp.core.wording import DASH
from cdspp.report.tables.curves import (
    Curve,
    build_curve_tables,
    build_curves,
    curve_tables,
    write_curve_tables,
)
from cdspp.report.tables.table import Table

TASKS = ("amazon_caltech", "amazon_dslr")


def make_curve(
    identifier: str = "labels",
    *,
    parameter: str = "labels",
    values: tuple[float, ...] = (1, 3, 9),
    main: float | None = 3,
    methods: tuple[str, ...] = ("svm-t", "cdspp"),
    tasks: tuple[str, ...] = TASKS,
    dropped: tuple[tuple[float, str], ...] = (),
    **changes: Any,
) -> dict[str, Any]:
    """Build the entry of a curve in a layout; `changes` are of its methods."""
    return {
        "id": identifier,
        "parameter": parameter,
        "tasks": list(tasks),
        "trials": 3,
        "n_classes": 10,
        "methods": [
            {
                "id": name,
                "printed": METHODS[name][0],
                "supervised": METHODS[name][1],
                "shortened": False,
                "trials": 3,
                **changes.get(name.replace("-", "_"), {}),
            }
            for name in methods
        ],
        "points": [
            {
                "value": value,
                "setting": "main" if value == main else f"{identifier}-{value:g}",
                "tasks": [task for task in tasks if (value, task) not in dropped],
            }
            for value in values
        ],
        "dropped": [{"value": value, "task": task} for value, task in dropped],
    }


def curve_scores(
    layout: dict[str, Any], *, collapsed: tuple[Any, ...] = ("", 0)
) -> dict[str, Any]:
    """Add scores of every point to those of the main run: (value + trial) percent.

    CDSPP is ten points better; a method that `collapsed` at values has 1 percent. Rows
    of what was dropped and of a fourth trial are there, too, and must not count.
    """
    rows: dict[str, list[Any]] = score_rows(layout)
    for entry in layout["curves"]:
        for point in entry["points"]:
            for task in entry["tasks"] if point["setting"] != "main" else ():
                for method in entry["methods"]:
                    for trial in (1, 2, 3, 4):
                        value = (point["value"] + trial) / 100
                        value += 0.1 * (method["id"] == "cdspp")
                        name, *places = collapsed
                        if method["id"] == name and point["value"] in places:
                            value = 0.01
                        cell = (point["setting"], task, method["id"], trial, 1)
                        record = (*cell, "ok", 420, value, value)
                        for name, item in zip(rows, record, strict=True):
                            rows[name].append(item)
    return {name: np.asarray(values) for name, values in rows.items()}


def curve_layout(*curves: dict[str, Any]) -> dict[str, Any]:
    return {**make_layout(tasks=TASKS), "curves": list(curves)}


def build(*curves: dict[str, Any]) -> tuple[Curve, Table]:
    """Build the first of `curves` and its table, from drawn scores."""
    layout = curve_layout(*curves)
    built = build_curves(curve_scores(layout), layout)
    return built[0], build_curve_tables(built, layout)[0]


def shown(table: Table, method: str, task: str) -> list[str]:
    """Return the texts of a line behind method and task."""
    lines = [[cell.text for cell in line.cells] for line in table.lines]
    return next(line[2:] for line in lines if line[:2] == [method, task])


def test_a_curve_takes_the_scores_of_its_own_settings() -> None:
    curve, _ = build(make_curve())
    assert curve.values == (1.0, 3.0, 9.0)
    assert [row.key for row in curve.rows] == ["svm-t", "cdspp"]
    assert curve.accuracy.shape == (2, 2, 3, 3)
    np.testing.assert_allclose(curve.accuracy[0, 0, 0], [0.02, 0.03, 0.04])
    np.testing.assert_allclose(curve.accuracy[1, 1, 2], [0.20, 0.21, 0.22])


def test_the_value_of_the_main_run_counts_its_first_trials() -> None:
    layout = curve_layout(make_curve())
    scores = curve_scores(layout)
    curve = build_curves(scores, layout)[0]
    cell = (scores["setting"] == "main") & (scores["task"] == TASKS[1])
    cell &= (scores["method"] == "cdspp") & (scores["iteration"] == 5)
    assert curve.main == 3.0
    assert curve.accuracy[1, 1, 1].tolist() == scores["accuracy"][cell][:3].tolist()
    assert build(make_curve(main=None))[0].main is None


def test_a_method_of_fewer_trials_counts_those_alone() -> None:
    curve, table = build(make_curve(cdspp={"trials": 2}))
    assert np.isfinite(curve.accuracy).sum(axis=3).tolist() == [
        [[3, 3, 3], [3, 3, 3]],
        [[2, 2, 2], [2, 2, 2]],
    ]
    assert table.lines[1].cells[0].note == "2 trials"


def test_what_was_dropped_counts_for_its_task_and_the_average() -> None:
    curve, table = build(make_curve(dropped=((9, TASKS[1]),)))
    assert curve.dropped == ((9.0, TASKS[1]),)
    assert shown(table, "CDSPP", "amazon → caltech")[2] == "21.0 (1.0)"
    assert shown(table, "CDSPP", "amazon → dslr")[2] == DASH
    assert shown(table, "CDSPP", "Average")[2] == DASH
    assert "no test sample: 9 (amazon → dslr); there is no average" in table.caption


def test_the_average_is_that_of_the_tasks_trial_by_trial() -> None:
    curve, table = build(make_curve())
    tasks, accuracy = curve.with_average()
    assert tasks == (*TASKS, "average")
    np.testing.assert_allclose(accuracy[:, 2], curve.accuracy.mean(axis=1))
    assert shown(table, "CDSPP", "Average")[0] == "13.0 (1.0)"
    single, _ = build(make_curve(tasks=TASKS[:1]))
    assert single.with_average()[0] == TASKS[:1]


def test_missing_scores_leave_dashes() -> None:
    layout = curve_layout(make_curve())
    none = {name: np.asarray([]) for name in SCORE_COLUMNS}
    curves = build_curves(none, layout)
    assert curves[0].accuracy.shape == (2, 2, 3, 3)
    table = build_curve_tables(curves, layout)[0]
    assert {c.text for line in table.lines for c in line.cells[2:]} == {DASH}


def test_the_best_of_a_task_and_value_is_bold() -> None:
    _, table = build(make_curve())
    bold = [line.cells[2].bold for line in table.lines]
    assert bold == [False, True] * 3
    _, table = build(make_curve(cdspp={"shortened": True}))
    assert not any(line.cells[2].bold for line in table.lines)


@pytest.mark.parametrize(
    ("parameter", "telling"),
    [
        ("labels", "Columns: labelled target samples per class."),
        ("n_components", "number of classes (10): for larger d the curve is flat"),
        ("max_iter", "Each T is a fit of its own"),
        ("pca_components", "Columns: pca components."),
    ],
)
def test_captions_say_what_a_reader_must_know(parameter: str, telling: str) -> None:
    _, table = build(make_curve("some", parameter=parameter))
    assert telling in table.caption
    assert "over 3 trials" in table.caption
    assert "At 3 these are the first trials of the main run." in table.caption


def test_published_splits_of_the_main_run_are_told() -> None:
    layout = curve_layout(make_curve(), make_curve("alpha", parameter="alpha"))
    layout["protocol"] = "published"
    tables = build_curve_tables(build_curves(curve_scores(layout), layout), layout)
    assert ["published splits" in table.caption for table in tables] == [True, False]


def test_names_are_known_before_any_score() -> None:
    layout = curve_layout(make_curve(), make_curve("alpha", parameter="alpha"))
    names = ["curve-labels_digits", "curve-alpha_digits"]
    assert curve_tables(layout) == names
    tables = build_curve_tables(build_curves(curve_scores(layout), layout), layout)
    assert [table.name for table in tables] == names
    assert curve_tables(make_layout()) == []
    assert build_curves(curve_scores(layout), make_layout()) == []


def test_the_csv_is_tidy(tmp_path: Path) -> None:
    layout = curve_layout(make_curve(values=(0.5, 9), main=None))
    scores, output = tmp_path / "scores.parquet", tmp_path / "curve-labels_digits.csv"
    write_rows(scores, SCORE_COLUMNS, curve_scores(layout))
    write_curve_tables(scores=scores, layout=layout, outputs=[output])
    with output.open(encoding="utf-8", newline="") as stream:
        records = list(csv.DictReader(stream))
    assert len(records) == 2 * 3 * 2
    assert records[0].pop("mean").startswith("0.025")
    assert records[0].pop("sd").startswith("0.01")
    assert records[0] == {
        "benchmark": "digits",
        "curve": "labels",
        "parameter": "labels",
        "task": "amazon_caltech",
        "row": "svm-t",
        "printed": "SVM_t",
        "value": "0.5",
        "trials": "3",
    }


def test_a_table_of_another_name_is_refused(tmp_path: Path) -> None:
    layout = curve_layout(make_curve())
    scores, output = tmp_path / "scores.parquet", tmp_path / "curve-alpha_digits.csv"
    write_rows(scores, SCORE_COLUMNS, curve_scores(layout))
    with pytest.raises(DataError, match="curve-labels_digits"):
        write_curve_tables(scores=scores, layout=layout, outputs=[output])
