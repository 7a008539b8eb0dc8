"""Results that Snakemake takes for what they should be, and that are not."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.result_files import rewrite_record
from support.toy_study import CONFIG, Project, shared, status_text

pytestmark = pytest.mark.slow

SCORES = "results/toy/scores/words.parquet"
FIT = "results/toy/fits/words/main/left_right/cdspp/1-2"
SMALL: dict[str, Any] = {"trials": 2, "curves": [], "deviations": []}
SMALL |= {"source_states": {"states": []}}


def small(**changes: Any) -> dict[str, Any]:
    """Return the changes of a study of two methods on one task."""
    [benchmark] = CONFIG["benchmarks"]
    methods = [{"id": "svm-t"}, {"id": "cdspp", "options": {"alpha": 10.0}}]
    known = {"benchmarks": [benchmark | {"tasks": ["left_right"]}], "methods": methods}
    return {**SMALL, **known, **changes}


OTHER = small(seed=3, methods=[{"id": "svm-t"}, {"id": "cdspp"}])


@pytest.fixture(scope="module")
def scored(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose small study has scores, to be copied."""
    project = Project(repository, tmp_path_factory.mktemp("scored"))
    run(project, small())
    return project


@pytest.fixture(scope="module")
def other(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project of its own in which another study has scores, to be copied."""
    project = Project(repository, tmp_path_factory.mktemp("other"))
    run(project, OTHER)
    return project


@pytest.fixture
def project(scored: Project, tmp_path: Path) -> Project:
    """Return a copy of that project."""
    return scored.copied(tmp_path)


def run(project: Project, study: dict[str, Any], **how: Any) -> str:
    project.write_config(**study)
    output = project.snakemake("--cores", "1", "--", SCORES, **how)
    return " ".join(output.split())  # sentences are folded


def test_without_its_records_a_study_is_checked_and_sound_fits_are_kept(
    project: Project, tmp_path: Path
) -> None:
    fit, scores = (tmp_path / name for name in (f"{FIT}.json", SCORES))
    before = fit.stat().st_ino, scores.read_bytes()
    shutil.rmtree(tmp_path / ".snakemake")
    assert "Snakemake has no record of" in run(project, small())
    assert (fit.stat().st_ino, scores.read_bytes()) == before
    assert "Nothing to be done" in run(project, small())


def test_without_its_records_a_change_counts_all_the_same(
    project: Project, other: Project, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / ".snakemake")
    run(project, OTHER)
    assert (tmp_path / SCORES).read_bytes() == (other.folder / SCORES).read_bytes()


def test_a_fit_that_an_earlier_job_wrote_late_is_made_again(
    scored: Project, other: Project, tmp_path: Path
) -> None:
    project = other.copied(tmp_path)
    late = [f"{FIT}.{suffix}" for suffix in ("parquet", "json")]
    earlier = {tmp_path / name: (scored.folder / name).read_bytes() for name in late}
    scores = (tmp_path / SCORES).read_bytes()
    for scored in (True, False):
        for path, content in earlier.items():
            path.write_bytes(content)
        if not scored:
            (tmp_path / SCORES).unlink()
        assert "2 fits, " in run(project, OTHER)
        assert (tmp_path / SCORES).read_bytes() == scores


FEATURES = "results/features/words/left.tfidf-pca.npz"
SPLIT = "results/toy/splits/words/main/target/right/1-2.parquet"
LABELS = "results/labels/words/right.parquet"


@pytest.mark.parametrize(
    ("own", "foreign", "with_record"),
    [
        (FEATURES, "results/features/words/right.tfidf-pca.npz", True),
        (SPLIT, SPLIT.replace("target/right", "source/left"), False),
        (LABELS, LABELS.replace("right", "left"), True),
    ],
)
def test_a_file_in_the_place_of_another_is_named_and_made_again(
    project: Project, tmp_path: Path, own: str, foreign: str, with_record: bool
) -> None:
    if own in (FEATURES, LABELS):
        own, foreign = (shared(tmp_path, name) for name in (own, foreign))
    kept = {path: (tmp_path / path).read_bytes() for path in (own, SCORES)}
    for suffix in ("", ".json")[: 1 + with_record]:
        shutil.copy(tmp_path / f"{foreign}{suffix}", tmp_path / f"{own}{suffix}")
    said = run(project, small())
    assert f"{own}: it differs from" in said or f"{own}: the record" in said
    assert {path: (tmp_path / path).read_bytes() for path in kept} == kept


@pytest.mark.parametrize("file", [SPLIT, SCORES.replace(".parquet", ".npz")])
def test_a_file_of_another_configuration_is_named_and_made_again(
    project: Project,
    other: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
) -> None:
    kept = {path: (tmp_path / path).read_bytes() for path in (file, SPLIT, SCORES)}
    for name in (file, f"{file}.json"):
        shutil.copy2(other.folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    reason = re.escape(file) + ": (seed|other main/|per_class)"
    assert re.search(reason, status_text("toy.yaml"))
    assert re.search(reason, run(project, small()))
    assert {path: (tmp_path / path).read_bytes() for path in kept} == kept


def test_what_lies_beside_an_output_needs_no_record(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results/toy/report").mkdir()
    (tmp_path / "results/toy/report/digests.json").touch()
    (index,) = (tmp_path / "data").glob("*/index.json")
    folder = index.parent  # reading a study of tables counts them
    (folder / "contents.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert "no record" not in run(project, small())
    assert "no record" not in status_text("toy.yaml")


def test_the_status_names_mixed_versions_and_changed_records(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = Path(f"{FIT}.json")
    extra = json.loads(record.read_text())["extra"]
    versions = extra["versions"] | {"numpy": "1.0"}
    rewrite_record(Path(f"{FIT}.parquet"), extra=extra | {"versions": versions})
    assert "numpy" in status_text("toy.yaml").partition("different versions:")[2]
    record.write_text(record.read_text().replace('"seed": 0', '"seed": 8'))
    assert "the record next to it was edited" in status_text("toy.yaml")
