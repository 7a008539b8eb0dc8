"""Printed against reproduced: what was compared, and one line for what was not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.score_data import cell_of, summary_of

from cdspp.paper.printed import (
    Printed,
    build_printed_counts,
    build_printed_table,
    compare_printed,
    read_printed,
)


@pytest.fixture(scope="module")
def printed(repository: Path) -> Printed:
    return read_printed(repository / "resources" / "paper")


def test_the_table_shows_what_was_compared_and_counts_the_rest(
    printed: Printed,
) -> None:
    known = cell_of(printed.cells, "nus-imagenet", "CDSPP", "tags_images").printed_mean
    accuracies = {
        "svm-t": {"tags_images": [known] * 2},
        "cdspp": {"tags_images": [known - 0.02]},
    }
    summary = summary_of("nus-imagenet", accuracies, shortened={"cdspp": 1})
    table = build_printed_table(compare_printed(printed, [summary]))
    title = "NUS-WIDE tags to ImageNet pictures"
    block = [line for line in table.lines if line.block == title]
    texts = [[cell.text for cell in line.cells] for line in block]
    assert [text[1] for text in texts] == ["SVM_t*", "CDSPP†", "–"]
    assert (texts[1][3], texts[1][6]) == ("close", "−2.0")
    assert block[1].cells[5].note == "1 trial"
    assert texts[2][3] == "not run, 14 cells: method is not in this study"
    assert "Cells compared: 2 of 793; exact: 0, agrees: " in table.caption


def test_a_method_that_knows_the_test_shares_says_so(printed: Printed) -> None:
    summary = summary_of("nus-imagenet", {"cdspp": {"tags_images": [0.7]}})
    told = {"display_name": "CDSPP (oracle class shares)", "kind": "informed"}
    rows = tuple(
        replace(row, **told) if row.key == "cdspp" else row for row in summary.rows
    )
    cells = compare_printed(printed, [replace(summary, rows=rows)])
    for table in (build_printed_table(cells), build_printed_counts(cells)):
        names = {cell.text for line in table.lines for cell in line.cells}
        assert "CDSPP (oracle class shares)" in names


def test_verdicts_are_counted_by_method(printed: Printed) -> None:
    tasks = ("en_sp", "fr_sp")
    known = [cell_of(printed.cells, "mrc", "SVM_t", task) for task in tasks]
    first, second = (cell.printed_mean for cell in known)
    sd = known[0].printed_sd
    exact = [first + k * sd * 3 / 10**0.5 for k in (-1, 1)] * 5
    accuracies = {
        "svm-t": {"en_sp": exact, "fr_sp": [second + 0.1] * 10},
        "cdspp": {"en_sp": [0.7], "fr_sp": [0.7]},
    }
    summary = summary_of("mrc", accuracies, shortened={"cdspp": 1})
    table = build_printed_counts(compare_printed(printed, [summary]))
    texts = [[cell.text for cell in line.cells] for line in table.lines]
    assert texts[0] == ["SVM_t*", "1 of 2", "–", "–", "1 of 2", "–"]
    assert table.lines[1].cells[0].note == "1 trial"
    assert "two standard errors" in table.caption
