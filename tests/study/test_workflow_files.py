"""Where the files of the workflow are found, and what they are called elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdspp.study import files
from cdspp.study.files import found_file, told_file, workflow_folder

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
    assert found_file(SHIPPED) == repository / SHIPPED
    assert told_file(repository / SHIPPED) == SHIPPED
    assert found_file("mine.yaml") == Path("mine.yaml")
    assert told_file(tmp_path / "studies/mine.yaml") == "studies/mine.yaml"
    own = tmp_path / SHIPPED
    own.parent.mkdir(parents=True)
    own.touch()
    assert found_file(SHIPPED) == Path(SHIPPED)
