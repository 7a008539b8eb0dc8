"""What stands in the cells of the tables."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.report_data import (
    CONTROLS,
    DIGIT_TASKS,
    FEW,
    draw_summary,
    make_plan,
    place_of,
)

from cdspp.analysis.summary import Summary, mean_sd
from cdspp.core.names import SELECTED
from cdspp.core.wording import STATE_TITLES
from cdspp.report.tables.benchmark import build_benchmark_tables, build_overview
from cdspp.report.tables.table import (
    Cell,
    Table,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)
from cdspp.study.plan import CHOOSING, BenchmarkPlan

TASK = DIGIT_TASKS[0]


def table_of(summary: Summary, kind: str) -> Table:
    """Build one table of a benchmark."""
    tables = {table.name: table for table in build_benchmark_tables(summary)}
    return tables[f"{kind}_{summary.plan.benchmark}"]


def accuracy_table(plan: BenchmarkPlan, **options: Any) -> Table:
    """Build the table of accuracies from drawn scores."""
    return table_of(draw_summary(plan, **options), "accuracy")


def cells(table: Table, name: str) -> tuple[Cell, ...]:
    """Return the cells of the line that starts with this name."""
    (line,) = [line for line in table.lines if line.cells[0].text == name]
    return line.cells


def test_a_cell_holds_mean_and_deviation_in_percent() -> None:
    summary = draw_summary(make_plan())
    table = table_of(summary, "accuracy")
    mean, sd = mean_sd(summary.accuracy[place_of(summary, "svm-t"), 0])
    assert cells(table, "SVM_t*")[1].text == f"{100 * mean:.1f} ({100 * sd:.1f})"
    titles = (task.replace("_", " → ") for task in DIGIT_TASKS)
    assert table.columns == ("Method", *titles, "Average")
    said = "Digits: 10 trials, 20 source and 3 target labels per class."
    assert said in table.caption


def test_the_average_is_taken_within_each_trial() -> None:
    summary = draw_summary(make_plan())
    by_trial = summary.accuracy[place_of(summary, "cdspp")].mean(axis=0)
    mean, sd = 100 * by_trial.mean(), 100 * by_trial.std(ddof=1)
    found = cells(table_of(summary, "accuracy"), "CDSPP")
    assert found[-1].text == f"{mean:.1f} ({sd:.1f})"


def test_rows_stand_in_blocks_supervised_first_controls_last() -> None:
    plan = make_plan(methods=("cdspp", "svm-t", "cdspp-pca", "cdspp-sup"))
    table = accuracy_table(plan)
    assert [(line.block, line.cells[0].text) for line in table.lines] == [
        ("Supervised", "SVM_t*"),
        ("Supervised", "CDSPP_sup*"),
        ("Semi-supervised", "CDSPP"),
        ("Semi-supervised", "CDSPP+PCA"),
        ("Controls", CONTROLS[0]),
        *(("Controls", f"CDSPP, {STATE_TITLES[name]}") for name in CONTROLS[1:]),
    ]
    # Other methods in other states are shown by their gains, not here.
    assert len(plan.rows) > len(table.lines)


def test_a_method_that_selects_its_options_is_a_line_that_is_never_bold() -> None:
    plan = make_plan(methods=("svm-t", "cdspp"))
    [row] = [row for row in plan.rows if row.key == "cdspp"]
    name = f"{row.display_name}, {SELECTED}"
    row = replace(row, key=f"cdspp, {SELECTED}", display_name=name, kind=CHOOSING)
    row = replace(row, setting=SELECTED, n_trials=3)
    summary = draw_summary(replace(plan, rows=(*plan.rows, row)))
    summary.accuracy[-1, :, :3] = 0.99
    table = table_of(summary, "accuracy")
    last = table.lines[-1]
    assert (last.block, last.cells[0].text) == ("With selected hyper-parameters", name)
    assert (last.cells[0].note, last.cells[1].text) == ("3 trials", "99.0 (0.0)")
    assert bold_rows(table) == []
    assert name in {line.cells[0].text for line in build_overview([summary]).lines}


def bold_rows(table: Table, column: int = 1) -> list[str]:
    return [line.cells[0].text for line in table.lines if line.cells[column].bold]


def with_accuracy(plan: BenchmarkPlan, **values: float) -> Table:
    """Return the table of accuracies in which rows have these in every trial."""
    summary = draw_summary(plan)
    for name, value in values.items():
        place = place_of(summary, name.replace("_", "-"))
        ran = np.isfinite(summary.accuracy[place])
        summary.accuracy[place] = np.where(ran, value, np.nan)
    return table_of(summary, "accuracy")


def test_the_highest_number_of_a_column_is_bold() -> None:
    table = with_accuracy(make_plan(), cdspp_pca=0.99)
    for column in range(1, len(table.columns)):
        assert bold_rows(table, column) == ["CDSPP+PCA"]
    assert "Bold: the highest number of the column" in table.legend


@pytest.mark.parametrize(
    ("higher", "plan"),
    [
        ("target-only", {}),
        ("noise", {}),
        ("tit", {"shortened": {"tit": 4}}),
        ("paired-map", {"bridge": {"paired_rows": 10}}),
    ],
    ids=["control", "state", "fewer trials", "bridge"],
)
def test_nothing_is_bold_where_a_higher_number_stands_in_the_column(
    higher: str, plan: dict[str, Any]
) -> None:
    methods = ("svm-t", "cdspp", "cdspp-pca", "tit", "paired-map")
    names = {"cdspp_pca": 0.95, higher.replace("-", "_"): 0.99}
    table = with_accuracy(make_plan(methods=methods, **plan), **names)
    for column in range(1, len(table.columns)):
        assert bold_rows(table, column) == []
        assert "Bold" not in table.legend
        shown = [line.cells[column].value for line in table.lines]
        assert max(shown) == pytest.approx(0.99)
    for text in map(str.lower, (to_markdown(table), to_latex(table), to_html(table))):
        assert not re.search(r"\*\*\d|textbf\{\d|<strong>\d", text)


@pytest.mark.parametrize(("trials", "note"), [(4, "4 trials"), (1, "1 trial")])
def test_a_short_run_is_never_bold_and_says_its_trials(trials: int, note: str) -> None:
    table = with_accuracy(make_plan(shortened={"cdspp": trials}), cdspp=0.99)
    assert bold_rows(table) == []
    assert cells(table, "CDSPP†")[0].note == note


def test_a_setting_has_a_block_and_of_fewer_trials_is_asked_for_these() -> None:
    other = {"id": "alpha-2", "methods": ["cdspp"], "options": {"alpha": 2}}
    plan = make_plan(tasks=[TASK], settings=[other | {"trials": 3}])
    table = accuracy_table(plan)
    line = table.lines[-1]
    assert (line.block, line.cells[0].text) == ("Other settings", "CDSPP, alpha-2")
    assert not line.cells[1].bold
    found = cells(table, "CDSPP, alpha-2")
    assert (found[0].note, found[1].note) == ("3 trials", "")
    row = table.data[table.data["row"] == "cdspp, alpha-2"]
    assert row[["trials", "expected_trials"]].to_numpy().tolist() == [[3, 3]]
    assert cells(table, "CDSPP, noise")[0].note == ""


def test_a_tie_in_print_is_bold_twice() -> None:
    plan = make_plan(tasks=[TASK], methods=("svm-t", "cdspp"), trials=1)
    summary = draw_summary(plan)
    summary.accuracy[0, 0, 0], summary.accuracy[1, 0, 0] = 0.90004, 0.89996
    table = table_of(summary, "accuracy")
    assert [line.cells[1].text for line in table.lines][:2] == ["90.0 (–)", "90.0 (–)"]
    assert [line.cells[1].bold for line in table.lines] == [True, True] + 6 * [False]


def test_failed_trials_are_counted_in_the_cell_and_keep_it_out_of_bold() -> None:
    failed = [("cdspp", TASK, 3)]
    table = accuracy_table(make_plan(), source_helps=0.2, failed=failed)
    found = cells(table, "CDSPP")
    assert found[1].note == found[-1].note == "9 of 10 trials"
    assert found[2].note == ""
    assert bold_rows(table) == []
    assert bold_rows(table, 2) == ["CDSPP"]
    assert "[9 of 10 trials]" in to_markdown(table)
    assert "9 of 10 trials" in to_latex(table)


def test_a_cell_without_any_trial_is_a_dash() -> None:
    missing = [("noise", TASK, trial) for trial in range(1, 11)]
    table = accuracy_table(make_plan(), missing=missing)
    assert (
        cells(table, "CDSPP, noise")[1].text
        == cells(table, "CDSPP, noise")[-1].text
        == "–"
    )
    assert "\n| CDSPP, noise | – |" in to_markdown(table)
    assert r"CDSPP, noise & -- &" in to_latex(table)
    assert "nan" not in to_csv(table) + to_html(table)


def test_collapsed_rows_are_marked_and_out_of_every_comparison() -> None:
    plan = make_plan(methods=(*FEW, "dama"))
    summary = draw_summary(plan, collapsed=("cdspp",))
    table = table_of(summary, "accuracy")
    assert {cell.note for cell in cells(table, "CDSPP")[1:]} == {"degenerate fits"}
    high = replace(summary, accuracy=summary.accuracy.copy())
    high.accuracy[place_of(summary, "cdspp")] = 0.99
    assert not any(c.bold for c in cells(table_of(high, "accuracy"), "CDSPP")[1:])
    lines = [line.cells[0] for line in table_of(summary, "iterations").lines]
    assert [(c.text, c.note) for c in lines if c.note] == [("CDSPP", "degenerate fits")]


def test_csv_is_tidy_and_exact() -> None:
    summary = draw_summary(make_plan())
    data = table_of(summary, "accuracy").data
    assert len(data) == 10 * 5
    (row,) = data[(data["row"] == "noise") & (data["task"] == TASK)].itertuples()
    assert (row.mean, row.sd) == mean_sd(
        summary.accuracy[place_of(summary, "noise"), 0]
    )
    assert (row.kind, row.trials) == ("controls", 10)


def test_iterations_are_rows_of_the_methods_that_iterate() -> None:
    summary = draw_summary(make_plan())
    table = table_of(summary, "iterations")
    assert len(table.lines) == 8 * 5
    mean, sd = mean_sd(summary.by_iteration[place_of(summary, "cdspp"), 0, :, 0])
    first = [cell.text for cell in table.lines[0].cells[:3]]
    assert first == ["CDSPP", "1", f"{100 * mean:.1f} ({100 * sd:.1f})"]


def test_many_iterations_are_thinned_in_print_and_complete_in_csv() -> None:
    plan = make_plan(tasks=[TASK], methods=("cdspp",), states=())
    summary = draw_summary(plan)
    long = 0.5 + 0.001 * summary.by_iteration[..., :1] * np.arange(1, 101)
    grown = replace(summary, iterations=np.arange(1, 101), by_iteration=long)
    table = table_of(grown, "iterations")
    shown = [line.cells[1].text for line in table.lines]
    assert (len(shown), shown[0], shown[-1]) == (12, "1", "100")
    assert len(table.data) == 100


def test_the_overview_has_a_row_for_every_method_of_any_benchmark() -> None:
    first = make_plan(methods=FEW[:2], states=())
    second = make_plan(benchmark="docs", tasks=["docs_code"])
    table = build_overview([draw_summary(first), draw_summary(second)])
    assert table.columns == ("Method", "Digits", "Docs")
    found = {line.cells[0].text: line.cells[1].text for line in table.lines}
    assert found["CDSPP"] == found["CDSPP, noise"] == "–"
    assert found["SVM_t*"] != "–"
