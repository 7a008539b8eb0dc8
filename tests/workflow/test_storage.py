"""Jobs that share no disk: files come from storage, and each job has an empty folder.

``python -m pytest -s -m slow tests/workflow/test_storage.py`` prints the seconds.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.toy_study import CONFIG, Project
from support.wine_study import wine_study, write_tables

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_spec("snakemake_storage_plugin_fs") and shutil.which("rsync")),
        reason="needs pip install snakemake-storage-plugin-fs, and rsync",
    ),
]

EXECUTOR = "snakemake_executor_plugin_empty_folders"
POLLS = ("--seconds-between-status-checks=1",)
STUDY = wine_study(field="tables/field.csv")
STUDY |= {key: [*CONFIG[key], *STUDY[key]] for key in ("datasets", "views")}


@dataclass(frozen=True)
class Finished:
    """A study that ran to its end: where its results are, and how long it took."""

    project: Project
    options: tuple[str, ...]
    root: Path
    seconds: float

    @property
    def files(self) -> Mapping[str, bytes]:
        """What is the same wherever it runs: all but seconds, and records of them."""
        kinds = ("tables", "figures", "scores", "predictions")
        found = [
            *(path for kind in kinds for path in self.root.glob(f"toy/{kind}/**/*.*")),
            *self.root.glob("toy/fits/**/*.parquet"),
            *self.root.glob("features/**/*.npz"),
        ]
        shown = (path for path in found if path.suffix != ".json")
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(shown)}


def project_of(repository: Path, folder: Path) -> Project:
    project = Project(repository, folder)
    plugin = repository / "tests/support/executor" / EXECUTOR
    shutil.copytree(plugin, folder / "src" / EXECUTOR)
    (folder / "tables").mkdir()
    write_tables(folder / "lab.csv", folder / "tables/field.csv")
    project.write_config(**STUDY)
    return project


def stored(folder: Path) -> tuple[str, ...]:
    return (
        "--shared-fs-usage=none",
        "--default-storage-provider=fs",
        f"--default-storage-prefix={folder}",
        "--quiet=rules",
    )


def on_nodes(folder: Path) -> tuple[str, ...]:
    groups = ("--groups", "split=splits", "--group-components", "splits=50")
    return (*stored(folder), "--executor=empty-folders", "--jobs=2", *POLLS, *groups)


def snakemake(project: Project, *options: str) -> str:
    """Start Snakemake as a user does, which finds the executor then."""
    running = project.start(*options)
    output, _ = running.communicate()
    assert running.returncode == 0, output
    return output


def timed(project: Project, root: Path, *options: str) -> Finished:
    start = time.monotonic()
    snakemake(project, *options)
    return Finished(project, options, root, time.monotonic() - start)


@pytest.fixture(scope="module")
def local(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    project = project_of(repository, tmp_path_factory.mktemp("local"))
    return timed(project, project.folder / "results", "--cores=2")


def say(capsys: pytest.CaptureFixture[str], local: Finished, other: Finished) -> None:
    ratio = other.seconds / local.seconds
    with capsys.disabled():
        print(f"\nlocal {local.seconds:.0f} s, here {other.seconds:.0f} s: {ratio:.1f}")


def test_nodes_without_a_shared_disk_give_the_bytes_of_a_local_run(
    repository: Path,
    tmp_path: Path,
    local: Finished,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    project = project_of(repository, tmp_path / "project")
    store = tmp_path / "store"
    run = timed(project, store / "results", *on_nodes(store))
    assert run.files == local.files
    assert len(list(tmp_path.glob("node-*"))) > 2
    assert not (project.folder / "results").exists()
    table = project.folder / "lab.csv"
    table.touch()  # a change of date is none
    assert "Nothing to be done" in snakemake(project, "-n", *run.options)
    table.write_text(table.read_text().replace("14.23", "14.24"))
    assert "prepare_dataset" in snakemake(project, "-n", *run.options)
    say(capsys, local, run)


def test_storage_and_jobs_of_one_machine_give_them_too(
    repository: Path, tmp_path: Path, local: Finished
) -> None:
    project, store = project_of(repository, tmp_path / "project"), tmp_path / "store"
    scores = "results/toy/scores/wines.parquet"
    snakemake(project, "--cores=2", *stored(store), "--", scores)
    assert (store / scores).read_bytes() == local.files["toy/scores/wines.parquet"]


def test_files_of_the_user_go_to_nodes_that_git_tracks_and_others(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    project, store = project_of(repository, tmp_path / "project"), tmp_path / "store"
    project.write_config(**STUDY | {"benchmarks": CONFIG["benchmarks"]})
    (project.folder / ".gitignore").write_text("src/\ntexts/\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=project.folder, check=True)
    features = "results/features/words/left.tfidf.npz"
    snakemake(project, *on_nodes(store), "--", features)
    assert (store / features).is_file()
