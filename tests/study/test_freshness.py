"""Whoever hands results on is told that they changed since their report."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from cdspp import load_results
from cdspp.__main__ import main
from cdspp.core.errors import DataError
from cdspp.study import stale
from cdspp.study.stale import digests_of_files, freshness_note, write_digests

ROOT = Path("results/a")
PAGE, TABLE = ROOT / "report/index.html", ROOT / "tables/claims.csv"
FEATURES = Path("results/features/goods/web.pca-bbbbbbbb.npz")
FILES = (TABLE, FEATURES)


@pytest.fixture(autouse=True)
def _report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a report of a table and of features, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for path in (*FILES, PAGE):
        path.parent.mkdir(parents=True)
        path.write_text("as computed")
    write_digests(PAGE, {"methods": []}, digests_of_files(FILES, "results"))


@pytest.mark.parametrize("path", [*FILES, PAGE])
def test_an_edit_after_the_report_is_named(path: Path) -> None:
    assert freshness_note(ROOT) == ""
    os.utime(path, ns=(later := time.time_ns(), later))  # touched only
    assert freshness_note(ROOT) == ""
    path.write_text("edited")
    note = freshness_note(ROOT)
    assert f"1 file changed since the report, {path}. cdspp verify results/a" in note


def test_a_report_without_digests_is_named() -> None:
    PAGE.with_name("digests.json").unlink()
    assert "results/a/report/digests.json. cdspp verify" in freshness_note(ROOT)


def test_an_older_file_in_the_place_of_a_table_is_named() -> None:
    Path("older.csv").write_text("older")
    os.utime("older.csv", ns=(1, 1))
    os.replace("older.csv", TABLE)
    assert str(TABLE) in freshness_note(ROOT)


def test_fresh_files_and_copies_of_large_ones_are_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[Path] = []
    digest = stale.file_digest
    monkeypatch.setattr(stale, "file_digest", lambda p: read.append(p) or digest(p))
    assert freshness_note(ROOT) == ""
    assert read == [PAGE]
    shutil.copytree("results", "copy")  # times of writing are kept
    assert freshness_note(Path("copy/a")) == ""
    assert FEATURES.name not in {path.name for path in read}


def test_parts_that_were_sent_without_features_are_fresh() -> None:
    shutil.rmtree("results/features")
    assert freshness_note(ROOT) == ""
    assert freshness_note(Path("results/unfinished")) == ""


@pytest.mark.parametrize("name", ["summary", "cite"])
def test_commands_write_one_line_to_standard_error(name: str, capsys: Any) -> None:
    TABLE.write_text("edited")
    main([name, str(ROOT)])
    [note] = (s for s in capsys.readouterr().err.splitlines() if s.startswith("note:"))
    assert str(TABLE) in note


def test_loading_results_warns() -> None:
    TABLE.write_text("edited")
    with (
        pytest.warns(UserWarning, match="1 file changed") as caught,
        pytest.raises(DataError),
    ):
        load_results(ROOT)
    assert caught[0].filename == __file__
