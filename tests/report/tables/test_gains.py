"""The table of gains, as it is printed and as records."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.gain_data import as_columns, gain_layout, write_cells
from support.report_data import make_layout, write_scores

from cdspp.analysis.gains import Worth, build_worth, gather_worth
from cdspp.core.errors import DataError
from cdspp.report.tables.gains import build_gains_table, gains_tables, write_gains
from cdspp.report.tables.table import to_html, to_latex, to_markdown

WORTH = Worth(
    benchmark="toy",
    title="Toy",
    tasks="all",
    row="cdspp",
    printed="CDSPP",
    rival="svm-t",
    gain=0.05,
    low=0.01,
    high=0.09,
    blocks=4,
    hurt=0.25,
    hurt_sure=0.125,
    n_tasks=16,
    trials=10,
    accuracy=0.8,
)
ALONE = replace(WORTH, rival="target-only", gain=-0.01, low=-0.02, high=0.004)


def shown(*worths: Worth) -> list[dict[str, str]]:
    """Return the lines of the table, cells with their notes by heading."""
    table = build_gains_table(worths)
    texts = [
        [
            f"{cell.text} [{cell.note}]" if cell.note else cell.text
            for cell in line.cells
        ]
        for line in table.lines
    ]
    return [dict(zip(table.columns, line, strict=True)) for line in texts]


def test_a_line_shows_gains_with_intervals_harm_and_accuracy() -> None:
    assert shown(WORTH, ALONE) == [
        {
            "Benchmark": "Toy",
            "Method": "CDSPP",
            "Over SVM_t": "+5.0 [1.0 to 9.0]",
            "Over target-only": "−1.0 [−2.0 to 0.4]",
            "Hurts": "4 of 16 [2 clear]",
            "Accuracy": "80.0",
        }
    ]


def test_rivals_that_nobody_met_have_no_column_and_a_missing_one_is_a_dash() -> None:
    noise = replace(WORTH, row="dama", printed="DAMA", rival="noise")
    first, second = shown(WORTH, noise)
    assert list(first) == [
        "Benchmark",
        "Method",
        "Over SVM_t",
        "Over noise",
        "Accuracy",
    ]
    assert (first["Over noise"], second["Over SVM_t"]) == ("–", "–")


def test_accuracies_without_same_domain_tasks_stand_beside_the_others() -> None:
    between = replace(WORTH, tasks="between domains", gain=0.5, accuracy=0.6)
    within = replace(WORTH, tasks="within a domain", gain=0.7, accuracy=0.9)
    (line,) = shown(WORTH, between, within)
    assert line["Over SVM_t"] == "+5.0 [1.0 to 9.0]"
    assert (line["Accuracy"], line["Accuracy, between domains"]) == ("80.0", "60.0")
    table = build_gains_table([WORTH, between, within])
    assert "from a domain to itself" in table.caption
    assert "from a domain to itself" not in build_gains_table([WORTH]).caption


@pytest.mark.parametrize(("blocks", "shows"), [(1, False), (2, False), (3, True)])
def test_an_interval_is_shown_from_three_target_domains_on(
    blocks: int, shows: bool
) -> None:
    (line,) = shown(replace(WORTH, blocks=blocks))
    assert line["Over SVM_t"] == ("+5.0 [1.0 to 9.0]" if shows else "+5.0")


@pytest.mark.parametrize(("trials", "shows"), [(1, False), (5, False), (6, True)])
def test_clear_harm_is_told_from_six_trials_on(trials: int, shows: bool) -> None:
    (line,) = shown(replace(ALONE, trials=trials))
    assert line["Hurts"] == ("4 of 16 [2 clear]" if shows else "4 of 16")


def test_fewer_trials_and_tasks_than_the_others_are_noted() -> None:
    short = {"row": "stn", "printed": "STN†"}
    lines = shown(
        WORTH,
        ALONE,
        replace(WORTH, **short, trials=3),
        replace(ALONE, **short, trials=1, n_tasks=8),
    )
    assert lines[0]["Method"] == "CDSPP"
    assert lines[1]["Method"] == "STN† [3 trials]"
    assert lines[1]["Over target-only"] == "−1.0 [−2.0 to 0.4, 8 tasks, 1 trial]"


def test_benchmarks_are_blocks_that_name_tasks_and_target_domains() -> None:
    pooled = replace(WORTH, benchmark="all-benchmarks", title="All benchmarks")
    other = replace(WORTH, benchmark="other", title="Other", n_tasks=1, blocks=1)
    table = build_gains_table([WORTH, other, replace(pooled, n_tasks=17, blocks=5)])
    assert [line.block for line in table.lines] == [
        "Toy: 16 tasks, 4 target domains",
        "Other: 1 task, 1 target domain",
        "All benchmarks: 17 tasks, 5 target domains",
    ]
    assert "All benchmarks" in table.caption
    assert "All benchmarks" not in build_gains_table([WORTH, other]).caption
    html = to_html(table)
    assert "16 tasks, 4 target domains" in html
    assert 'data-value="0.050000"' in html


def test_every_form_can_be_written_and_the_csv_has_all_kinds_of_tasks(
    tmp_path: Path,
) -> None:
    layouts = [
        make_layout(),
        make_layout(benchmark="docs", title="Docs", tasks=["a_b", "b_b"]),
    ]
    scores = [
        write_scores(tmp_path / f"{layout['benchmark']}.parquet", layout)
        for layout in layouts
    ]
    outputs = [tmp_path / f"gains.{suffix}" for suffix in ("csv", "md", "tex")]
    assert gains_tables(layouts) == ["gains"]
    write_gains(scores=scores, layouts=layouts, outputs=outputs)
    with outputs[0].open(encoding="utf-8", newline="") as stream:
        records = list(csv.DictReader(stream))
    worths = gather_worth(scores, layouts)
    assert [float(r["gain"]) for r in records] == [worth.gain for worth in worths]
    docs = {r["tasks"] for r in records if r["benchmark"] == "docs"}
    assert docs == {"all", "between domains", "within a domain"}
    text = outputs[1].read_text(encoding="utf-8")
    assert text == to_markdown(build_gains_table(worths))
    assert "nan" not in text
    latex = outputs[2].read_text(encoding="utf-8")
    assert latex.count("{") == latex.count("}")
    assert r"Over SVM\_t" in latex
    with pytest.raises(DataError, match="gains"):
        write_gains(scores=scores, layouts=layouts, outputs=[tmp_path / "gain.csv"])


def test_a_study_without_scores_has_an_empty_table(tmp_path: Path) -> None:
    assert gains_tables([]) == []
    layout = gain_layout("a_x")
    path = write_cells(tmp_path / "toy.parquet", {("main", "svm-t"): {"a_x": [0.5]}})
    table = build_gains_table(gather_worth([path], [layout]))
    assert table.columns == ("Benchmark", "Method")
    assert table.lines == ()
    assert to_latex(table).startswith("% needs")


def test_a_method_that_only_met_the_empty_source_is_shown() -> None:
    cells = {
        ("main", "cdspp"): {"a_x": [0.6, 0.7]},
        ("hiss", "cdspp"): {"a_x": [0.7, 0.7]},
    }
    worths = build_worth(as_columns(cells), gain_layout("a_x", placebos=True))
    (line,) = shown(*worths)
    assert line["Over noise"] == "−5.0"
    assert not re.search("SVM|target-only", " ".join(line))
