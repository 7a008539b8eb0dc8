"""The gist of a study for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.report_data import make_plan
from support.written_study import WrittenStudy

from cdspp.core.errors import DataError
from cdspp.report.page.headline import headline


def test_the_headline_is_aligned_and_says_where_the_page_is(
    make_page: Callable[..., Path],
) -> None:
    page = make_page()
    text = headline(page.parents[1])
    lines = text.splitlines()
    told = (
        "The source helps CDSPP (labels only) on Digits; inconclusive for CDSPP "
        "(labels only) on Docs to code."
    )
    assert lines[:3] == ["Did the source help?", told, ""]
    assert lines[3].startswith("Digits ")
    assert lines[4].endswith("▲ positive transfer")
    assert "Docs to code" in lines[8]
    assert "○ inconclusive" in lines[9]
    first = next(i for i, line in enumerate(lines) if line.startswith("accuracy in "))
    grid = lines[first : lines.index("", first)]
    assert grid[1].startswith("SVM_t*")
    assert grid.pop() == "* supervised."
    assert len({len(line) for line in grid}) == 1
    assert lines[-1] == f"Report: {page}"
    page.unlink()
    assert headline(page.parents[1]).endswith("The report is not written yet.")


def test_a_study_that_does_not_ask_is_told_so(make_page: Callable[..., Path]) -> None:
    few = {"tasks": ["a_b"], "trials": 3, "methods": ("svm-t", "cdspp")}
    plans = [
        make_plan(states=(), **few),
        make_plan(benchmark="b", **few | {"methods": ()}),
    ]
    page = make_page(plans)
    text = headline(page.parents[1])
    assert text.startswith(
        "Did the source help?\nInconclusive for CDSPP (labels only).\n"
    )
    assert "controls not run" in text
    assert "\nB:" not in text


def test_a_study_without_all_its_tables_has_averages_and_no_answer(
    copied: Path,
) -> None:
    for path in (copied / "tables").glob("pairwise_*"):
        path.unlink()
    assert headline(copied).startswith("accuracy in % (sd)")


def test_a_headline_without_tables_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cdspp run"):
        headline(tmp_path)


def test_fits_that_failed_are_counted_before_the_report_is_named(
    tmp_path: Path,
) -> None:
    few = {"methods": ("svm-t", "cdspp"), "tasks": ["a_b", "b_a"], "states": ()}
    plan = make_plan(trials=3, **few)
    lost = [("svm-t", task, 1) for task in plan.tasks]
    study = WrittenStudy(tmp_path, [plan], {"digits": {"failed": lost}})
    study.make("table")
    told, empty, last = headline(tmp_path).splitlines()[-3:]
    n_fits = 3 * len(plan.tasks) * len(plan.rows)
    assert told.startswith(f"FAILED: 2 of {n_fits} fits failed (svm-t 2). Tables show")
    assert empty == ""
    assert last == "The report is not written yet."
