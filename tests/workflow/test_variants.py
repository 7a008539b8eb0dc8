"""Two variants of a study in one folder: neither disturbs the other."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from support.toy_study import CONFIG, Project
from support.warm_start import run_warm

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {
    "trials": 2,
    "methods": [{"id": "svm-t"}, {"id": "cdspp"}],
    "source_states": {"states": []},
    "curves": [],
    "deviations": [],
    "paper": False,
}
ENERGY = {"a": 0.9, "b": 0.8}


@pytest.fixture
def project(repository: Path, tmp_path: Path) -> Project:
    return Project(repository, tmp_path)


def call(project: Project, study: str, *words: str, **changes: Any) -> str:
    """Call a command on a variant, and return what it prints."""
    pca = {**CONFIG["views"][1], "options": {"energy": ENERGY[study]}}
    config = {**SMALL, "study": study, "views": [CONFIG["views"][0], pca]}
    project.write_config(**{**config, **changes})
    code, output = run_warm(["cdspp", *words], project.folder)
    assert code == 0, output
    return output


def listed(text: str) -> set[str]:
    words = (line.partition(" ")[0] for line in text.splitlines())
    return {Path(word).name for word in words if word.startswith(("data", "results/f"))}


def test_variants_share_a_folder_until_one_is_deleted(project: Project) -> None:
    run = ("run", "toy.yaml", "--cores", "2")
    for study in ("a", "b"):
        assert " of " in call(project, study, *run)
    assert "Nothing to be done" in call(project, "a", *run)
    for study in ("a", "b"):
        assert "all as computed" in call(project, study, "verify", "toy.yaml")
        assert "note:" not in call(project, study, "summary", "toy.yaml")
    assert "all in use" in call(project, "a", "clean")

    names = {path.name for path in project.folder.glob("results/features/*/*.npz")}
    shutil.rmtree(project.folder / "results/b")
    export = ("export-splits", "toy.yaml", "--force")
    assert "note:" not in call(project, "a", *export)
    note = call(project, "a", *export, seed=1)
    assert "note: results of a differ from toy.yaml" in note
    assert "seed 0 -> 1). cdspp status toy.yaml" in note

    of_b = listed(call(project, "a", "clean"))
    assert len(of_b) == 2
    assert of_b < names
    assert listed(call(project, "a", "clean", "--yes")) == of_b
    left = {path.name for path in project.folder.glob("results/features/*/*.npz")}
    assert left == names - of_b
    assert "all as computed" in call(project, "a", "verify", "toy.yaml")
    assert "Nothing to be done" in call(project, "a", *run)
