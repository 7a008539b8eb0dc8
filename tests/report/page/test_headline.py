"""The gist of a study for a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cdspp.core.errors import DataError
from cdspp.report.page.headline import headline


def test_the_headline_is_aligned_and_says_where_the_page_is(
    make_page: Callable[..., Path],
) -> None:
    page = make_page()
    text = headline(page.parents[1])
    lines = text.splitlines()
    grid = lines[: lines.index("")]
    assert grid[0].split("  ")[0] == "accuracy, percent (sd)"
    assert grid[1].startswith("SVM_t*")
    assert len({len(line) for line in grid}) == 1
    assert "Digits: The source helps on 4 of 4 tasks." in text
    assert "Docs to code: No evidence that the source helps." in text
    assert lines[-1] == f"Report: {page}"
    page.unlink()
    assert headline(page.parents[1]).endswith("The report is not written yet.")


def test_a_headline_without_tables_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make study"):
        headline(tmp_path)
