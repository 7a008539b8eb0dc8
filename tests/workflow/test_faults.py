"""What a run does after a kill, beside another one, and where files were deleted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.toy_study import CONFIG, Project

FITS = "results/toy/fits/words/main/left_right"
DELETED = (
    "results/toy/scores/words.parquet",
    f"{FITS}/svm-t/1-2.parquet",
    "results/toy/tables/accuracy_words.tex",
    "results/toy/figures/methods_words.png",
)
RECORD = f"{FITS}/svm-t/3-4.json"
GONE = "was killed. Its lock on this folder is removed"


def wait_for(running: subprocess.Popen[str], project: Project, pattern: str) -> None:
    while not list(project.folder.glob(pattern)):
        assert running.poll() is None, "the run ended before it was seen"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def killed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose run was killed in the midst of fits."""
    project = Project(repository, tmp_path_factory.mktemp("project"))
    project.write_config(
        methods=[{"id": "svm-t"}, {"id": "cdspp"}],
        source_states={"states": [], "margin": 1},
        curves=[],
        deviations=[],
        benchmarks=[CONFIG["benchmarks"][0] | {"tasks": ["left_right"]}],
    )
    running = project.start("--cores", "1")
    wait_for(running, project, f"{FITS}/*/[!.]*.parquet")
    refused = project.snakemake("--cores", "1", ok=False)
    assert "Another run holds a lock on this folder and lives: process " in refused
    assert "LockException" in refused
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert list(project.folder.glob(".snakemake/locks/*.lock"))
    return project


@pytest.fixture(scope="module")
def finished(killed: Project) -> tuple[Project, str]:
    """Return the project and what the same command said after the kill."""
    return killed, killed.snakemake("--cores", "1")


def test_after_a_kill_the_same_command_goes_on(finished: tuple[Project, str]) -> None:
    project, output = finished
    assert output.count(GONE) == 1
    assert (project.folder / "results/toy/report/index.html").is_file()
    assert not list(project.folder.glob(".snakemake/locks/*.lock"))
    assert not list(project.folder.glob(".snakemake/cdspp-runs/*.json"))
    again = project.snakemake("-n")
    assert "Nothing to be done" in again
    assert GONE not in again


def test_what_was_deleted_comes_back_with_the_same_bytes(
    finished: tuple[Project, str],
) -> None:
    project, _ = finished
    paths = [project.folder / name for name in DELETED]
    kept = [path.read_bytes() for path in paths]
    for path in (*paths, project.folder / RECORD):
        path.unlink()
    told = status(project)
    assert [line.split() for line in told if line.startswith("all")] == [
        ["all", "4", "0", "0", "4"]
    ]
    assert f"  {DELETED[0]}" in told
    assert told[-1].endswith("snakemake --cores 8 --configfile toy.yaml")
    # With `partial` the tables are of what is there, and no fit is asked for.
    plan = project.planned("--config", "partial=true")
    assert not any(
        "/svm-t/" in fit and "1-2" in fit for made in plan.fits for fit in made
    )
    project.snakemake("--cores", "1")
    assert [path.read_bytes() for path in paths] == kept
    assert (project.folder / RECORD).is_file()
    assert status(project)[0] == "toy: no run is at work in this folder"
    assert not any("made by" in line for line in status(project))


def status(project: Project) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "cdspp", "status", "toy.yaml"],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": str(project.folder / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()
