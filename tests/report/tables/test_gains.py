"""The table of gains, as it is printed and as records."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from cdspp.analysis.gains import GAIN_COLUMNS
from cdspp.report.tables.gains import build_gains_table
from cdspp.report.tables.table import Table, to_html, to_latex

GAIN = {
    "benchmark": "toy",
    "title": "Toy",
    "tasks": "all",
    "row": "cdspp",
    "display_name": "CDSPP",
    "rival": "svm-t",
    "gain": 0.05,
    "low": 0.01,
    "high": 0.09,
    "blocks": 4,
    "hurt": 0.25,
    "hurt_sure": 0.125,
    "n_tasks": 16,
    "trials": 10,
    "accuracy": 0.8,
}
ALONE = {**GAIN, "rival": "target-only", "gain": -0.01, "low": -0.02, "high": 0.004}


def table_of(*gains: dict[str, Any]) -> Table:
    return build_gains_table(pd.DataFrame(gains, columns=list(GAIN_COLUMNS)))


def shown(*gains: dict[str, Any]) -> list[dict[str, str]]:
    """Return the lines of the table, cells with their notes by heading."""
    table = table_of(*gains)
    return [
        {
            heading: f"{cell.text} [{cell.note}]" if cell.note else cell.text
            for heading, cell in zip(table.columns, line.cells, strict=True)
        }
        for line in table.lines
    ]


def test_a_line_shows_gains_with_intervals_harm_and_accuracy() -> None:
    assert shown(GAIN, ALONE) == [
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
    noise = dict(GAIN, row="dama", display_name="DAMA", rival="noise")
    first, second = shown(GAIN, noise)
    columns = ["Benchmark", "Method", "Over SVM_t", "Over noise", "Accuracy"]
    assert list(first) == columns
    assert (first["Over noise"], second["Over SVM_t"]) == ("–", "–")


def test_accuracies_without_same_domain_tasks_stand_beside_the_others() -> None:
    between = dict(GAIN, tasks="between domains", gain=0.5, accuracy=0.6)
    within = dict(GAIN, tasks="within a domain", gain=0.7, accuracy=0.9)
    (line,) = shown(GAIN, between, within)
    assert line["Over SVM_t"] == "+5.0 [1.0 to 9.0]"
    assert (line["Accuracy"], line["Accuracy, between domains"]) == ("80.0", "60.0")
    table = table_of(GAIN, between, within)
    assert "from a domain to itself" in table.caption
    assert "from a domain to itself" not in table_of(GAIN).caption


@pytest.mark.parametrize(("blocks", "shows"), [(1, False), (2, False), (3, True)])
def test_an_interval_is_shown_from_three_target_domains_on(
    blocks: int, shows: bool
) -> None:
    (line,) = shown(dict(GAIN, blocks=blocks))
    assert line["Over SVM_t"] == ("+5.0 [1.0 to 9.0]" if shows else "+5.0")


@pytest.mark.parametrize(("trials", "shows"), [(1, False), (5, False), (6, True)])
def test_clear_harm_is_told_from_six_trials_on(trials: int, shows: bool) -> None:
    (line,) = shown(dict(ALONE, trials=trials))
    assert line["Hurts"] == ("4 of 16 [2 clear]" if shows else "4 of 16")


def test_fewer_trials_and_tasks_than_the_others_are_noted() -> None:
    short = {"row": "stn", "display_name": "STN†", "trials": 3}
    alone = ALONE | short | {"trials": 1, "n_tasks": 8}
    first, second = shown(GAIN, ALONE, GAIN | short, alone)
    assert first["Method"] == "CDSPP"
    assert second["Method"] == "STN† [3 trials]"
    assert second["Over target-only"] == "−1.0 [−2.0 to 0.4, 8 tasks, 1 trial]"


def test_benchmarks_are_blocks_that_name_tasks_and_target_domains() -> None:
    pooled = dict(GAIN, benchmark="all-benchmarks", title="All benchmarks")
    other = dict(GAIN, benchmark="other", title="Other", n_tasks=1, blocks=1)
    table = table_of(GAIN, other, dict(pooled, n_tasks=17, blocks=5))
    assert [line.block for line in table.lines] == [
        "Toy: 16 tasks, 4 target domains",
        "Other: 1 task, 1 target domain",
        "All benchmarks: 17 tasks, 5 target domains",
    ]
    assert "All benchmarks" in table.caption
    assert "All benchmarks" not in table_of(GAIN, other).caption
    html = to_html(table)
    assert "16 tasks, 4 target domains" in html
    assert 'data-value="0.050000"' in html


def test_a_study_without_scores_has_an_empty_table() -> None:
    table = table_of()
    assert table.columns == ("Benchmark", "Method")
    assert table.lines == ()
    assert to_latex(table).startswith("% needs")


def test_a_method_that_only_met_the_empty_source_is_shown() -> None:
    (line,) = shown(dict(GAIN, rival="noise", gain=-0.05))
    assert line["Over noise"].startswith("−5.0")
    assert not re.search("SVM|target-only", " ".join(line))
