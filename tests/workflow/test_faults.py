"""What a run does after a kill, beside another, after a crash, and for lost files."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.toy_study import CONFIG, Project, status_text

from cdspp.analysis.verify import verify
from cdspp.report.page.headline import headline
from cdspp.stages.formats import SCORE_COLUMNS, read_frame

pytestmark = pytest.mark.slow

FITS = "results/toy/fits/words/main/left_right"
SCORES = "results/toy/scores/words.parquet"
DELETED = (
    SCORES,
    f"{FITS}/cdspp-sup/1-2.parquet",
    "results/toy/tables/accuracy_words.tex",
    "results/toy/figures/methods_words.pdf",
)
EDITED = "results/toy/tables/accuracy_words.md"  # by hand
FIT_INPUTS = (
    "results/features/words/left.tfidf.npz",
    "results/labels/words/right.parquet",
    "results/toy/splits/words/main/target/right/1-2.parquet",
)
DONE = f"{FITS}/cdspp-sup/[!.]*"
RECORD = f"{FITS}/cdspp-sup/3-4.json"
GONE = "was killed. Its lock on this folder is removed"
# What svm-t does as long as there is a file of this name.
CRASH = "crash"
CRASHING = f"""\
        if __import__("pathlib").Path("{CRASH}").exists():
            raise ArithmeticError("injected")
"""
FAILED = "FAILED: 4 of 8 fits failed (svm-t 4)."


def wait_for(running: subprocess.Popen[str], project: Project, pattern: str) -> None:
    while not list(project.folder.glob(pattern)):
        assert running.poll() is None, "the run ended before it was seen"
        time.sleep(0.05)


def let_crash(project: Project) -> None:
    """Let svm-t crash in every trial, as long as a file is there."""
    module = project.folder / "src/cdspp/methods/svm_t.py"
    head, name, rest = module.read_text().partition("    def _fit_problem(")
    line, _, body = rest.partition("\n")
    module.write_text(f"{head}{name}{line}\n{CRASHING}{body}")
    (project.folder / CRASH).touch()


def records(project: Project) -> dict[Path, bytes]:
    """Return the records of the fits that are done; what crashed is made again."""
    return {path: path.read_bytes() for path in project.folder.glob(f"{DONE}.json")}


@pytest.fixture(scope="module")
def killed(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Project, dict[Path, bytes]]:
    """Return a project whose run was killed in the midst of fits, one method crashing.

    And the records of the fits that were done by then.

    It has few jobs: without CDSPP there is no showcase, and it asks nothing of the
    paper.
    """
    project = Project(repository, tmp_path_factory.mktemp("project"))
    views = {"source_view": "tfidf", "target_view": "tfidf", "tasks": ["left_right"]}
    project.write_config(
        paper=False,
        methods=[{"id": "svm-t"}, {"id": "cdspp-sup"}],
        source_states={"states": [], "margin": 1},
        curves=[],
        deviations=[],
        views=CONFIG["views"][:1],
        benchmarks=[CONFIG["benchmarks"][0] | views],
    )
    let_crash(project)
    project.snakemake("--cores", "2", "--until", "features", "split")
    running = project.start("--cores", "1")
    wait_for(running, project, f"{DONE}.json")
    refused = project.snakemake("--cores", "1", ok=False)
    assert "Another run is active in this folder and holds its lock: proc" in refused
    assert "LockException" not in refused
    assert refused.count("Another run") == refused.count("Wait until it") == 1
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert list(project.folder.glob(".snakemake/locks/*.lock"))
    return project, records(project)


@pytest.fixture(scope="module")
def finished(killed: tuple[Project, dict[Path, bytes]]) -> tuple[Project, str]:
    """Return the project and what the same command said after the kill."""
    project, done = killed
    output = project.snakemake("--cores", "1")
    assert done
    assert done.items() <= records(project).items(), "a fit that was done is kept"
    return project, output


def test_after_a_kill_the_same_command_goes_on(finished: tuple[Project, str]) -> None:
    project, output = finished
    assert output.count(GONE) == 1
    lines = output.splitlines()
    assert lines[-1] == "Report: results/toy/report/index.html"
    assert max(map(len, lines)) <= 100
    assert len(lines) < 60
    assert not {"\r", "\x1b"} & {*output}
    assert (project.folder / "results/toy/report/index.html").is_file()
    assert not list(project.folder.glob(".snakemake/locks/*.lock"))
    assert not list(project.folder.glob(".snakemake/cdspp-runs/*.json"))
    again = project.snakemake("-n")
    assert "Nothing to be done" in again
    assert GONE not in again
    assert FAILED not in again


def test_a_method_that_crashes_costs_its_own_fits_and_is_told_everywhere(
    finished: tuple[Project, str],
) -> None:
    project, output = finished
    assert output.count(FAILED) == 1
    root = project.folder / "results/toy"
    assert FAILED in headline(root)
    page = (root / "report/index.html").read_text()
    assert "<strong>4 of 8 fits failed (svm-t 4).</strong>" in page
    assert page.count("ArithmeticError: injected (svm_t.py, line ") == 4
    faulty, told, _ = verify(root)
    assert faulty == []
    assert "Not checked" not in told
    scores = read_frame(project.folder / SCORES, SCORE_COLUMNS)
    states = scores.groupby("method")["status"].unique().map(list).to_dict()
    assert states == {"cdspp-sup": ["ok"], "svm-t": ["failed"]}


def after_fits(project: Project) -> dict[Path, bytes]:
    """Return what follows from fits, but for what tells of seconds."""
    root = project.folder / "results/toy"
    files = (
        path
        for kind in ("scores", "tables", "figures")
        for path in root.glob(f"{kind}/*")
    )
    return {path: path.read_bytes() for path in files}


def test_what_was_deleted_comes_back_with_the_same_bytes_and_so_does_all_after_it(
    finished: tuple[Project, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = finished
    monkeypatch.chdir(project.folder)
    names = (*DELETED, *FIT_INPUTS)
    kept = {name: (project.folder / name).read_bytes() for name in names}
    known = after_fits(project)
    for name in (*DELETED, RECORD):
        (project.folder / name).unlink()
    (project.folder / EDITED).write_text("another number")
    told = status_text("toy.yaml").splitlines()
    assert [line.split() for line in told if line.startswith("all")] == [
        ["all", "0", "4", "0", "4"]
    ]
    assert f"  {DELETED[0]}" in told
    # Two of predictions and two of a record.
    assert any(line.startswith("Fits: ") and "4: not computed" in line for line in told)
    assert told[-1].endswith("cdspp run toy.yaml --cores 8")
    # With `partial` the tables are of what is there, and no fit is asked for.
    plan = project.planned("--config", "partial=true")
    assert not any(
        "/cdspp-sup/" in fit and "1-2" in fit for made in plan.fits for fit in made
    )
    for name in FIT_INPUTS:
        (project.folder / name).unlink()
    project.snakemake("--cores", "1")
    assert kept == {name: (project.folder / name).read_bytes() for name in names}
    # The fits took other seconds this time, no kill came between them, and all that
    # follows was made again.
    assert after_fits(project) == known
    assert (project.folder / RECORD).is_file()
    told = status_text("toy.yaml").splitlines()
    assert told[0] == "toy: no run is active in this folder"
    assert not any("To create the missing" in line for line in told)


def test_what_crashed_is_made_again_by_the_command_that_the_status_names(
    finished: tuple[Project, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = finished
    monkeypatch.chdir(project.folder)
    told = status_text("toy.yaml").splitlines()
    assert sum(line.startswith("failed: ArithmeticError: injected") for line in told)
    with pytest.raises(SystemExit) as stopped:
        status_text("toy.yaml", "--strict")
    assert stopped.value.code == 1
    [line] = [
        line
        for line in told
        if line.startswith("To repeat the fits with unexpected errors: ")
    ]
    command = shlex.split(line.partition(": ")[2])
    start = command.index("--forcerun")
    other = project.folder / FITS / "cdspp-sup/1-2.json"
    kept = other.stat().st_ino
    (project.folder / CRASH).unlink()
    project.snakemake("--cores", "1", *command[start:], "--", SCORES)
    assert set(read_frame(Path(SCORES), SCORE_COLUMNS)["status"]) == {"ok"}
    assert other.stat().st_ino == kept  # a fit next to it is not made again
    assert "crashed" not in status_text("toy.yaml", "--strict")
