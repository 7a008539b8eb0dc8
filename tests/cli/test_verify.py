"""The command `cdspp verify`: what it prints, and its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.verified_study import VerifiedStudy

from cdspp.__main__ import main


def test_verify_prints_what_was_checked_and_ends_with_1_where_something_differs(
    tmp_path: Path, capsys: Any
) -> None:
    study = VerifiedStudy(tmp_path / "results")
    assert main(["verify", str(study.root)]) == 0
    assert capsys.readouterr().out.startswith("Checked 8 fits (16 trials), ")
    study.fit().write_bytes(b"")
    with pytest.raises(SystemExit) as stopped:
        main(["verify", str(study.root)])
    assert stopped.value.code == 1
    fault, told = capsys.readouterr().out.splitlines()
    assert "main/web_photo/cdspp/1-2.parquet: expected a Parquet file" in fault
    assert ": 1 difference. Not checked" in told


def test_verify_of_a_folder_without_scores_ends_with_2(
    tmp_path: Path, capsys: Any
) -> None:
    assert main(["verify", str(tmp_path)]) == 2
    assert "with scores in it" in capsys.readouterr().err
