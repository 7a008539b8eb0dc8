"""Where the files of the workflow are found, and what they are called elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.study import files
from cdspp.study.files import portable_study_path, study_file_path, workflow_folder

SHIPPED = "resources/studies/printed.yaml"


def test_the_repository_has_them_on_top_and_a_wheel_in_the_package(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workflow_folder() == repository
    module = tmp_path / "site-packages/cdspp/study/files.py"
    monkeypatch.setattr(files, "__file__", str(module))
    assert workflow_folder() == tmp_path / "site-packages/cdspp/_study"


def test_a_study_that_ships_has_one_name_everywhere_and_gives_way_to_ones_own(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert study_file_path(SHIPPED) == repository / SHIPPED
    assert portable_study_path(repository / SHIPPED) == SHIPPED
    assert study_file_path("mine.yaml") == Path("mine.yaml")
    assert portable_study_path(tmp_path / "studies/mine.yaml") == "studies/mine.yaml"
    own = tmp_path / SHIPPED
    own.parent.mkdir(parents=True)
    own.touch()
    assert study_file_path(SHIPPED) == Path(SHIPPED)
