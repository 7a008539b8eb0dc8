"""Reading a finished study back as data frames."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.written_study import WrittenStudy

import cdspp
from cdspp.core.errors import DataError


def test_a_finished_study_is_read_back_as_data_frames(rich: WrittenStudy) -> None:
    rich.make("table")
    found = cdspp.load_results(rich.folder)
    assert list(found.scores["benchmark"].unique()) == ["digits", "docs"]
    chosen = found.scores.query(
        "benchmark == 'digits' and method == 'cdspp' and setting == 'main'"
    )
    last = chosen.groupby(["task", "trial"])["accuracy"].last()
    assert len(last) == 4 * 10
    assert set(found.fits["benchmark"]) == {"digits", "docs"}
    assert len(found.fits) == 5 * len(rich.records)
    assert set(found.gains["rival"]) >= {"svm-t", "target-only"}
    assert (found.gains["gain"].abs() < 1).all()
    assert "verdict" in found.claims.columns


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="finished study.*make study"):
        cdspp.load_results(tmp_path)


def test_a_study_without_its_tables_is_refused(rich: WrittenStudy) -> None:
    with pytest.raises(DataError, match=r"gains\.csv"):
        cdspp.load_results(rich.folder)
