"""Reading a finished study back as data frames."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from support.result_files import write_fit_record
from support.written_study import WrittenStudy

import cdspp
from cdspp.analysis.source_help import gains_over_comparators
from cdspp.analysis.summary import read_scores
from cdspp.core.errors import DataError
from cdspp.stages.score import SampleScores
from cdspp.study.stale import digests_of_files, write_digests


def test_a_finished_study_is_read_back_as_data_frames(finished: WrittenStudy) -> None:
    found = cdspp.load_results(finished.folder)
    assert list(found.scores["benchmark"].unique()) == ["digits", "docs"]
    chosen = found.scores.query(
        "benchmark == 'digits' and method == 'cdspp' and setting == 'main'"
    )
    last = chosen.groupby(["task", "trial"])["accuracy"].last()
    assert len(last) == 4 * 10
    assert set(found.fits["benchmark"]) == {"digits", "docs"}
    without_score = 6  # trials of the records
    assert len(found.fits) == 5 * len(finished.records) - without_score
    overview = found.table("overview")
    assert {"SVM_t", "CDSPP"} <= set(overview["display_name"])
    assert overview["mean"].between(0, 1).all()
    with pytest.raises(DataError, match="no table 'overvew': did you mean 'overview'"):
        found.table("overvew")


def test_what_a_killed_job_left_half_written_is_not_read(
    finished: WrittenStudy,
) -> None:
    known = cdspp.load_results(finished.folder)
    record = Path(finished.records[0])
    for path in (finished.folder / "scores/docs.parquet", record):
        path.with_name(f".{path.name}.a1b2c3d4{path.suffix}").write_bytes(b"{")
    found = cdspp.load_results(finished.folder)
    pd.testing.assert_frame_equal(found.scores, known.scores)
    pd.testing.assert_frame_equal(found.fits, known.fits)


def test_the_comparisons_are_those_of_all_benchmarks(finished: WrittenStudy) -> None:
    found = cdspp.load_results(finished.folder).comparisons
    assert list(found["benchmark"].unique()) == ["digits", "docs"]
    known = [
        gains_over_comparators(
            read_scores(path), plan, SampleScores(path.with_suffix(".npz"))
        )
        for plan, path in zip(finished.plans, finished.scores.values(), strict=True)
    ]
    expected = pd.concat(known, ignore_index=True)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert dict(found.dtypes[["gain", "state", "trials"]]) == {
        "gain": "float64",
        "state": "bool",
        "trials": "int64",
    }


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="study.*scores.*cdspp run"):
        cdspp.load_results(tmp_path)


def test_a_study_without_its_tables_is_refused(rich: WrittenStudy) -> None:
    with pytest.raises(DataError, match=r"source-help_digits\.csv: expected"):
        cdspp.load_results(rich.folder)


def test_what_an_edit_of_the_study_left_is_no_result(
    finished: WrittenStudy, tmp_path: Path
) -> None:
    known = cdspp.load_results(finished.folder)
    root = tmp_path / finished.folder.name
    shutil.copytree(finished.folder, root)
    page, scores = root / "report/index.html", sorted(root.glob("scores/*.parquet"))
    page.parent.mkdir()
    page.touch()
    write_digests(page, {}, digests_of_files(scores, tmp_path))
    shutil.copy(scores[0], scores[0].with_name("old.parquet"))
    record = root / Path(finished.records[0]).relative_to(finished.folder)
    content = json.loads(record.read_text())
    content.pop("digest")
    for method, block in ((record.parent.name, "1-4"), ("gone", record.stem)):
        file = record.parents[1] / method / f"{block}.parquet"
        file.parent.mkdir(exist_ok=True)
        shutil.copy(record.with_suffix(".parquet"), file)
        write_fit_record(file, content["inputs"], content["extra"])
    found = cdspp.load_results(root)
    pd.testing.assert_frame_equal(found.scores, known.scores)
    key = ["benchmark", "setting", "task", "method", "trial"]
    assert not found.fits.duplicated(key).any()
    assert len(found.fits) == len(known.fits)
    assert "gone" not in set(found.fits["method"])
