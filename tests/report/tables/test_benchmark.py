"""What stands in the cells of the tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.report_data import DIGIT_TASKS, FEW, make_layout, write_scores

from cdspp.analysis.resampling import Gain
from cdspp.analysis.source_help import (
    answer,
    compare,
    overall_answer,
    read_comparisons,
    verdict,
)
from cdspp.analysis.summary import Summary, mean_sd, read_summary
from cdspp.core.errors import DataError
from cdspp.report.tables.benchmark import (
    benchmark_tables,
    build_benchmark_tables,
    build_overview,
    overall_tables,
    write_benchmark_tables,
    write_overview,
)
from cdspp.report.tables.table import (
    Cell,
    Line,
    Table,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)

TASK = DIGIT_TASKS[0]


@pytest.fixture
def summarised(tmp_path: Path) -> Callable[..., Summary]:
    """Return a function that draws scores for a layout and reads them."""

    def make(layout, **options):
        path = write_scores(
            tmp_path / f"{layout['benchmark']}.parquet", layout, **options
        )
        return read_summary(path, layout)

    return make


def table_of(summary: Summary, kind: str) -> Table:
    """Build one table of a benchmark."""
    tables = {table.name: table for table in build_benchmark_tables(summary)}
    return tables[f"{kind}_{summary.layout['benchmark']}"]


def cells(table: Table, printed: str) -> tuple[Cell, ...]:
    """Return the cells of the line that starts with this name."""
    (line,) = [line for line in table.lines if line.cells[0].text == printed]
    return line.cells


def markdown_rows(text: str) -> list[list[str]]:
    """Split a Markdown table into its cells."""
    grid = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split(" | ")] for line in grid]


def test_a_cell_holds_mean_and_deviation_in_percent(
    summarised: Callable[..., Summary],
) -> None:
    summary = summarised(make_layout())
    table = table_of(summary, "accuracy")
    mean, sd = mean_sd(summary.accuracy[summary.find("svm-t"), 0])
    assert cells(table, "SVM_t*")[1].text == f"{100 * mean:.1f} ({100 * sd:.1f})"
    assert table.columns == (
        "Method",
        *(t.replace("_", " → ") for t in DIGIT_TASKS),
        "Average",
    )


def test_the_average_is_taken_within_each_trial(
    summarised: Callable[..., Summary],
) -> None:
    summary = summarised(make_layout())
    by_trial = summary.accuracy[summary.find("cdspp")].mean(axis=0)
    mean, sd = 100 * by_trial.mean(), 100 * by_trial.std(ddof=1)
    found = cells(table_of(summary, "accuracy"), "CDSPP")
    assert found[-1].text == f"{mean:.1f} ({sd:.1f})"


def test_rows_stand_in_blocks_supervised_first_controls_last(
    summarised: Callable[..., Summary],
) -> None:
    layout = make_layout(methods=("cdspp", "svm-t", "cdspp-pca", "cdspp-sup"))
    table = table_of(summarised(layout), "accuracy")
    assert [(line.block, line.cells[0].text) for line in table.lines] == [
        ("Supervised", "SVM_t*"),
        ("Supervised", "CDSPP_sup*"),
        ("Semi-supervised", "CDSPP"),
        ("Semi-supervised", "CDSPP+PCA"),
        ("Controls", "target-only"),
        ("Controls", "placebo"),
        ("Controls", "noise"),
    ]


@pytest.mark.parametrize(
    ("trials", "note"), [(4, "4 trials"), (1, "1 trial"), (10, "")]
)
def test_the_best_complete_method_is_bold_and_never_a_control_or_short_run(
    summarised: Callable[..., Summary], trials: int, note: str
) -> None:
    layout = make_layout(shortened={"cdspp": trials})
    summary = summarised(layout, source_helps=0.2)
    table = table_of(summary, "accuracy")
    for column in range(1, len(table.columns)):
        bold = [line.cells[0].text for line in table.lines if line.cells[column].bold]
        assert bold == ["CDSPP+PCA"]
    label = [line.cells[0] for line in table.lines if "†" in line.cells[0].text]
    assert [(cell.text, cell.note) for cell in label] == [("CDSPP†", note)]


def test_other_settings_stand_in_a_block_of_their_own_and_are_never_bold(
    summarised: Callable[..., Summary],
) -> None:
    layout = make_layout(tasks=[TASK])
    variant = {"key": "cdspp, placebo", "setting": "placebo", "method": "cdspp"}
    layout["controls"].pop(1)
    summary = summarised({**make_layout(tasks=[TASK]), "controls": layout["controls"]})
    assert summary.find("cdspp, placebo") is None
    summary = summarised({**layout, "variants": [variant]})
    line = table_of(summary, "accuracy").lines[-1]
    assert (line.block, line.cells[0].text) == ("Other settings", "cdspp, placebo")
    assert not line.cells[1].bold


def test_a_tie_in_print_is_bold_twice(summarised: Callable[..., Summary]) -> None:
    layout = make_layout(tasks=[TASK], methods=("svm-t", "cdspp"), trials=1)
    summary = summarised(layout)
    summary.accuracy[0, 0, 0], summary.accuracy[1, 0, 0] = 0.90004, 0.89996
    table = table_of(summary, "accuracy")
    assert [line.cells[1].text for line in table.lines][:2] == ["90.0 (–)", "90.0 (–)"]
    assert [line.cells[1].bold for line in table.lines] == [True, True] + 3 * [False]


def test_fewer_trials_are_never_bold_even_if_not_called_shortened(
    summarised: Callable[..., Summary],
) -> None:
    layout = make_layout(shortened={"cdspp": 4})
    layout["methods"][2]["shortened"] = False
    table = table_of(summarised(layout, source_helps=0.2), "accuracy")
    assert cells(table, "CDSPP+PCA")[1].bold
    assert not cells(table, "CDSPP")[1].bold


def test_failed_trials_are_counted_in_the_cell_and_keep_it_out_of_bold(
    summarised: Callable[..., Summary],
) -> None:
    summary = summarised(make_layout(), source_helps=0.2, failed=[("cdspp", TASK, 3)])
    table = table_of(summary, "accuracy")
    found = cells(table, "CDSPP")
    assert found[1].note == found[-1].note == "9 of 10 trials"
    assert found[2].note == ""
    assert not found[1].bold
    assert cells(table, "CDSPP+PCA")[1].bold
    assert found[2].bold or cells(table, "CDSPP+PCA")[2].bold
    assert "[9 of 10 trials]" in to_markdown(table)
    assert "9 of 10 trials" in to_latex(table)


def test_a_cell_without_any_trial_is_a_dash(summarised: Callable[..., Summary]) -> None:
    missing = [("noise", TASK, trial) for trial in range(1, 11)]
    table = table_of(summarised(make_layout(), missing=missing), "accuracy")
    assert cells(table, "noise")[1].text == cells(table, "noise")[-1].text == "–"
    rows = {row[0]: row for row in markdown_rows(to_markdown(table))}
    assert rows["noise"][1] == "–"
    assert r"noise & -- &" in to_latex(table)
    assert "nan" not in to_csv(table) + to_html(table)


def test_csv_is_tidy_and_exact(summarised: Callable[..., Summary]) -> None:
    summary = summarised(make_layout())
    records = list(csv.DictReader(io.StringIO(to_csv(table_of(summary, "accuracy")))))
    assert len(records) == 7 * 5
    (record,) = [r for r in records if (r["row"], r["task"]) == ("placebo", TASK)]
    mean, sd = mean_sd(summary.accuracy[summary.find("placebo"), 0])
    assert (float(record["mean"]), float(record["sd"])) == (mean, sd)
    assert (record["kind"], record["trials"]) == ("controls", "10")


def test_latex_has_rules_between_blocks_subscripts_and_balanced_braces(
    summarised: Callable[..., Summary],
) -> None:
    text = to_latex(table_of(summarised(make_layout()), "accuracy"))
    assert text.count(r"\midrule") == 3
    assert r"SVM\textsubscript{t}*" in text
    assert r"print $\rightarrow$ sketch" in text
    assert re.search(r"CDSPP & \\textbf\{\d\d\.\d \(\d\.\d\)\}", text)
    assert text.count("{") == text.count("}")
    assert r"\begin{tabular}{lrrrrr}" in text


def test_titles_are_escaped_in_every_form(summarised: Callable[..., Summary]) -> None:
    layout = make_layout(title="50% <b>|Office_& co|</b>")
    table = build_overview([summarised(layout)])
    assert "<b>" not in to_html(table)
    cells = (Cell("<i>", note="<u>"), Cell("<s>_t", name=True), Cell("<q>"))
    text = to_html(replace(table, lines=(Line(cells),)))
    assert not re.search("<[iusq]>", text)
    assert text.count("&lt;") == 6
    assert "50% &lt;b&gt;|Office_&amp; co|" in to_html(table)
    assert r"50\% <b>|Office\_\& co|" in to_latex(table)
    assert r"50% <b>\|Office_& co\|</b>" in to_markdown(table)


def test_iterations_are_rows_of_the_methods_that_iterate(
    summarised: Callable[..., Summary],
) -> None:
    summary = summarised(make_layout())
    table = table_of(summary, "iterations")
    assert len(table.lines) == 5 * 5
    first = table.lines[0].cells
    mean, sd = mean_sd(summary.curves[summary.find("cdspp"), 0, :, 0])
    assert [cell.text for cell in first[:3]] == [
        "CDSPP",
        "1",
        f"{100 * mean:.1f} ({100 * sd:.1f})",
    ]


def test_many_iterations_are_thinned_in_print_and_complete_in_csv(
    summarised: Callable[..., Summary],
) -> None:
    layout = make_layout(tasks=[TASK], methods=("cdspp",), controls=())
    summary = summarised(layout)
    long = 0.5 + 0.001 * summary.curves[..., :1] * range(1, 101)
    grown = type(summary)(
        **{**vars(summary), "iterations": range(1, 101), "curves": long}
    )
    table = table_of(grown, "iterations")
    shown = [line.cells[1].text for line in table.lines]
    assert (len(shown), shown[0], shown[-1]) == (12, "1", "100")
    assert len(table.records) == 100


def test_source_help_shows_paired_gains_over_every_rival(
    summarised: Callable[..., Summary],
) -> None:
    summary = summarised(make_layout(), source_helps=0.06)
    table = table_of(summary, "source-help")
    assert len(table.lines) == 5 * 4
    rivals = [line.cells[1].text for line in table.lines[:4]]
    assert rivals == ["SVM_t", "target-only", "placebo", "noise"]
    first = summary.accuracy[summary.find("cdspp"), 0]
    gain = 100 * (first - summary.accuracy[summary.find("svm-t"), 0]).mean()
    assert table.lines[0].cells[4].text == f"+{gain:.1f}"
    assert table.lines[0].cells[4].bold
    assert table.columns[6:] == ("p", "Loses")
    # Every trial gains: of 2**10 patterns of signs only two are as far from zero.
    assert [cell.text for cell in table.lines[0].cells[6:]] == ["0.002", "0 of 10"]


def test_written_comparisons_are_read_back_unchanged(
    summarised: Callable[..., Summary], tmp_path: Path
) -> None:
    summary = summarised(make_layout(), missing=[("noise", TASK, 1)])
    path = tmp_path / "source-help_digits.csv"
    path.write_text(to_csv(table_of(summary, "source-help")), encoding="utf-8")
    assert read_comparisons(path) == compare(summary)


def test_the_source_helps_only_where_it_beats_the_strongest_control(
    summarised: Callable[..., Summary],
) -> None:
    helped = compare(summarised(make_layout(), source_helps=0.06))
    assert answer(helped).startswith(
        "The source helps on 4 of 4 tasks. On average over tasks, the gain of CDSPP"
    )
    assert "the strongest control, is" in answer(helped)
    useless = compare(summarised(make_layout(), source_helps=0.0))
    assert answer(useless).startswith("No evidence that the source helps")
    assert overall_answer({"Digits": helped, "Docs": useless}) == (
        "It helps on 4 of 4 tasks of Digits; no evidence that it helps on Docs."
    )


def test_beating_the_baseline_alone_is_no_help_and_losing_to_the_target_alone_hurts(
    summarised: Callable[..., Summary],
) -> None:
    hurt = compare(summarised(make_layout(tasks=[TASK]), source_helps=-0.05))
    assert verdict(hurt) == "hurts"
    over_baseline = [c.gain.low > 0 for c in hurt if c.rival_key == "svm-t"]
    assert over_baseline == [True]
    assert "it hurts on 1 of 1 task" in answer(hurt)


def test_without_controls_or_trials_the_question_stays_open(
    summarised: Callable[..., Summary],
) -> None:
    bare = compare(summarised(make_layout(controls=())))
    assert answer(bare) == "Not asked: no control was run."
    single = compare(summarised(make_layout(trials=1)))
    assert answer(single) == "Too few trials so far to tell."
    assert answer([]) == "Not asked: no control was run."
    assert overall_answer({}) == "Nothing was run yet."


def test_an_interval_that_touches_zero_is_no_evidence(
    summarised: Callable[..., Summary],
) -> None:
    (first, *_) = compare(summarised(make_layout(tasks=[TASK])))
    touching = type(first)(
        **{**vars(first), "control": True, "gain": Gain(0.01, 0.0, 0.02, 0, 10)}
    )
    assert verdict([touching]) == "open"


def test_the_overview_has_a_row_for_every_method_of_any_benchmark(
    summarised: Callable[..., Summary],
) -> None:
    first = make_layout(methods=FEW[:2], controls=())
    second = make_layout(benchmark="docs", title="Docs", tasks=["docs_code"])
    table = build_overview([summarised(first), summarised(second)])
    assert table.columns == ("Method", "Digits", "Docs")
    found = {line.cells[0].text: line.cells[1].text for line in table.lines}
    assert found["CDSPP"] == found["noise"] == "–"
    assert found["SVM_t*"] != "–"


def test_table_names_are_known_before_any_score() -> None:
    layout = make_layout()
    kinds = ["accuracy", "class-accuracy", "iterations", "source-help"]
    assert benchmark_tables(layout) == [f"{kind}_digits" for kind in kinds]
    assert overall_tables([layout]) == ["overview"]


@pytest.mark.parametrize(
    "change",
    [
        {"controls": ()},
        {"methods": ("cdspp",)},
        {"methods": ("cdspp",), "controls": ()},
        {"methods": ()},
        {"trials": 1},
        {"tasks": ("docs_code",)},
    ],
)
def test_shorter_studies_give_exactly_the_declared_tables(
    summarised: Callable[..., Summary], change: dict[str, Any]
) -> None:
    layout = make_layout(**change)
    tables = build_benchmark_tables(summarised(layout))
    assert [table.name for table in tables] == benchmark_tables(layout)
    for table in tables:
        for form in (to_csv, to_markdown, to_latex, to_html):
            assert "nan" not in form(table)


def test_equal_scores_give_equal_files(tmp_path: Path) -> None:
    layout = make_layout()
    scores = write_scores(tmp_path / "digits.parquet", layout)
    forms = ("csv", "md", "tex")
    names = [f"{n}.{form}" for n in benchmark_tables(layout) for form in forms]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        outputs = [folder / name for name in names]
        write_benchmark_tables(scores=scores, layout=layout, outputs=outputs)
        overview = [folder / f"overview.{form}" for form in forms]
        write_overview(scores=[scores], layouts=[layout], outputs=overview)
    for name in [*names, "overview.csv", "overview.md", "overview.tex"]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_an_unknown_table_is_named_with_the_known_ones(tmp_path: Path) -> None:
    layout = make_layout()
    scores = write_scores(tmp_path / "digits.parquet", layout)
    with pytest.raises(DataError, match=r"acuracy_digits\.csv.*accuracy_digits"):
        write_benchmark_tables(
            scores=scores, layout=layout, outputs=[tmp_path / "acuracy_digits.csv"]
        )
