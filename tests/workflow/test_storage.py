"""Jobs that share no disk: files come from storage, and each job has an empty folder.

``python -m pytest -s -m slow tests/workflow/test_storage.py`` prints the seconds.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from support.toy_study import CONFIG, Project, shared
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


def completed(project: Project, *options: str) -> str:
    """Run Snakemake, after which nothing is left to do."""
    output = project.run_cold(*options)
    assert "Nothing to be done" in project.run_cold("-n", *options)
    return output


def timed(project: Project, root: Path, *options: str) -> Finished:
    start = time.monotonic()
    project.run_cold(*options)
    return Finished(project, options, root, time.monotonic() - start)


@pytest.fixture(scope="module")
def local(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    project = project_of(repository, tmp_path_factory.mktemp("local"))
    return timed(project, project.folder / "results", "--cores=2")


def say(capsys: pytest.CaptureFixture[str], local: Finished, other: Finished) -> None:
    ratio = other.seconds / local.seconds
    with capsys.disabled():
        print(f"\nlocal {local.seconds:.0f} s, here {other.seconds:.0f} s: {ratio:.1f}")


@pytest.fixture(scope="module")
def nodes(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Finished]:
    folder = tmp_path_factory.mktemp("nodes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        project, store = project_of(repository, folder / "project"), folder / "store"
        yield timed(project, store / "results", *on_nodes(store))


def test_nodes_without_a_shared_disk_give_the_bytes_of_a_local_run(
    nodes: Finished, local: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    project, folder = nodes.project, nodes.project.folder
    assert nodes.files == local.files
    assert len(list(folder.parent.glob("node-*"))) > 2
    assert not (folder / "results").exists()
    table = folder / "lab.csv"
    table.touch()  # a change of date is none
    assert "Nothing to be done" in project.run_cold("-n", *nodes.options)
    before = table.read_text()
    table.write_text(before.replace("14.23", "14.24"))
    assert "prepare_dataset" in project.run_cold("-n", *nodes.options)
    table.write_text(before)
    say(capsys, local, nodes)


def test_other_trials_and_another_style_of_figures_finish(nodes: Finished) -> None:
    project, root = nodes.project, nodes.root / "toy"
    project.write_config(**STUDY | {"trials": 3})
    completed(project, *nodes.options)
    scores = root / "scores/wines.parquet"
    assert set(pd.read_parquet(scores)["trial"]) == {1, 2, 3}
    wide = {path: path.read_bytes() for path in root.glob("figures/*.svg")}
    scored = scores.stat().st_mtime_ns
    project.write_config(**STUDY | {"trials": 3, "figures": {"style": "one-column"}})
    output = completed(project, *nodes.options)
    assert "not computed" not in output  # which only files in the storage tell
    assert scores.stat().st_mtime_ns == scored
    assert wide
    assert not [path for path, content in wide.items() if path.read_bytes() == content]


def test_storage_and_jobs_of_one_machine_give_them_too(
    repository: Path, tmp_path: Path, local: Finished
) -> None:
    project, store = project_of(repository, tmp_path / "project"), tmp_path / "store"
    scores = "results/toy/scores/wines.parquet"
    completed(project, "--cores=2", *stored(store), "--", scores)
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
    completed(project, *on_nodes(store), "--", "before_fits")
    assert (store / shared(store, "results/features/words/left.tfidf.npz")).is_file()
