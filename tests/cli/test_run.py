"""The command `cdspp run`: how it calls Snakemake, what it shows, how it ends."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from cdspp.cli import run
from cdspp.cli.main import main
from cdspp.core import faults

SNAKEMAKE = """\
Config file config.yaml is extended by additional config.
The study replaces methods of the preset quick.
Building DAG of jobs...
total      8
4 of 8 steps (50%) done
"""
FAILED = """\
Error in rule score:
    log: logs/toy/score.log (check log file(s) for error details)
WorkflowError:
At least one job did not complete successfully.
"""
LOCKED = """\
LockException:
Error: Directory cannot be locked.
"""
FULL_DEVICE = Path("/dev/full")
LOG = "2026-01-01 00:00:00,000 cdspp.core.jobs a.npz: damaged\n"


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Return a function that runs what prints a text in place of Snakemake."""

    def run_saying(text: str, code: int) -> tuple[str, str]:
        program = f"import sys; print({text!r}, end=''); sys.exit({code})"
        command = [sys.executable, "-c", program]
        monkeypatch.setattr(run, "_command", lambda arguments: command)
        try:
            ended = main(["run"])
        except SystemExit as stopped:
            ended = stopped.code
        assert ended == code
        shown = capsys.readouterr()
        [log] = Path("logs").glob("run-*.log")
        assert log.read_text() == text
        assert log.stem.endswith(f"-{os.getpid()}")  # a second run has another
        assert f"Whole log: {log}" in shown.out + shown.err
        return shown.out, shown.err

    monkeypatch.chdir(tmp_path)
    return run_saying


def test_a_run_shows_notes_counts_and_the_log(said) -> None:
    out, err = said(SNAKEMAKE + "8 of 8 steps (100%) done\n", 0)
    assert err == "The study replaces methods of the preset quick.\n"
    assert re.match(r"8 of 8 jobs, \d+ s\. Whole log: logs/run-", out)


def test_names_of_files_are_utf_8_whatever_the_system_says(
    said, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    said("ü\nNothing to be done (all files).\n", 0)  # ASCII could not print it


def test_a_run_without_jobs_says_so(said) -> None:
    out, _ = said("Building DAG of jobs...\nNothing to be done (all files).\n", 0)
    assert out.startswith("Nothing to be done. Whole log: ")


def test_a_job_that_failed_is_explained_by_its_log_and_the_exit_code_stays(
    said, tmp_path: Path
) -> None:
    log = tmp_path / "logs/toy/score.log"
    log.parent.mkdir(parents=True)
    log.write_text(LOG)
    out, err = said(SNAKEMAKE + FAILED, 3)
    assert out == ""
    assert "Stopped after 4 of 8 jobs:\n" in err
    assert "  a.npz: damaged (logs/toy/score.log)\n" in err


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="needs a device that is full")
def test_a_full_disk_is_named_where_logs_are_empty(
    said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "logs/toy/score.log"
    log.parent.mkdir(parents=True)
    log.touch()
    _, err = said(SNAKEMAKE + FAILED, 1)
    assert "jobs:\n  stopped before the end (logs/toy/score.log)\n" in err
    for old in log.parent.parent.glob("run-*.log"):
        old.unlink()
    full = partial(FULL_DEVICE.open, "wb")
    monkeypatch.setattr(faults, "TemporaryFile", lambda dir: full())
    _, err = said(SNAKEMAKE + FAILED, 1)
    assert "jobs:\n  logs: no space left on this disk (No space left on device)." in err


def test_other_failures_are_explained_by_the_last_lines(said) -> None:
    _, err = said(SNAKEMAKE + LOCKED, 1)
    assert "jobs:\n  LockException:\n  Error: Directory cannot be locked.\n" in err


def test_what_is_no_run_shows_what_snakemake_answers(
    said, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-c", "print('Building DAG of jobs...\\ndigraph {}')"]
    monkeypatch.setattr(run, "_command", lambda arguments: command)
    assert main(["run", "--", "--dag"]) == 0
    assert capsys.readouterr().out == "digraph {}\n"


def test_modules_of_the_working_folder_stand_in_for_none_of_a_run_or_its_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("colorsys.py").write_text("open('ran', 'w')")
    job = [sys.executable, "-c", "import colorsys"]
    program = f"import colorsys, subprocess; subprocess.run({job}, check=True)"
    command = [sys.executable, "-c", program]
    monkeypatch.setattr(run, "_command", lambda arguments: command)
    assert main(["run"]) == 0
    assert not Path("ran").exists()


def test_the_time_left_is_told_once_some_jobs_are_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = iter([0, 5, 10, 30, 30])
    monkeypatch.setattr(run.time, "monotonic", lambda: next(seconds))
    meter = run.Meter()
    assert str(meter) == "reading the study, 5 s"
    meter.read("total   40")
    meter.read("2 of 40 steps (5%) done")
    assert str(meter) == "2 of 40 jobs, 20 s"
    meter.read("10 of 40 steps (25%) done")
    assert str(meter) == "10 of 40 jobs, 20 s, about 60 s left"


def test_snakemake_gets_the_files_and_last_what_follows_the_dashes(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, rest = run.split_rest(["run", "a.yaml", "--cores", "3", "--", "-n", "--"])
    assert words == ["run", "a.yaml", "--cores", "3"]
    assert run.split_rest(["fit", "--", "-n"]) == (["fit", "--", "-n"], [])
    files = ["mine.yaml", "resources/studies/paper.yaml"]
    given = argparse.Namespace(file=files, cores="3", snakemake=rest)
    command = run._command(given)
    assert command[-4:] == ["--cores", "3", "-n", "--"]
    place = command.index("--configfile") + 1
    assert command[place : place + 2] == ["mine.yaml", str(repository / files[1])]
    assert command[command.index("--snakefile") + 1] == str(repository / "Snakefile")


def test_an_interruption_reaches_the_command_which_ends_as_it_does(
    tmp_path: Path,
) -> None:
    program = (
        "import time\n"
        "try:\n"
        "    print('ready', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('ended properly'); raise SystemExit(7)\n"
    )
    caller = (
        "import sys; from cdspp.cli import main, run;"
        f"run._command = lambda _: [sys.executable, '-c', {program!r}];"
        "main.main(['run'])"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", caller],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not [f for f in tmp_path.glob("logs/*") if "ready" in f.read_text()]:
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 7
    assert "Interrupted after 0 of 0 jobs. The same command resumes it.\n" in said
    [log] = tmp_path.glob("logs/*")
    assert log.read_text() == "ready\nended properly\n"
