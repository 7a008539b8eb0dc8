"""The command `cdspp run`: how it calls Snakemake, what it shows, how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from cdspp.cli import run, run_display
from cdspp.cli.main import main
from cdspp.cli.run_display import RunDisplay
from cdspp.core import errors

Event = dict[str, Any]


def event(name: str | None, **fields: Any) -> Event:
    """Return an event of Snakemake, as the logger plug-in writes it."""
    return {"event": name, "level": "INFO", "message": "", "dryrun": False} | fields


def error(name: str | None, message: str, **fields: Any) -> Event:
    return event(name, level="ERROR", message=message, **fields)


NOTE = event(None, level="WARNING", message="The study replaces methods.")
STARTED = event("workflow_started")
TOTAL = event("run_info", stats={"score": 8, "total": 8})
BEGUN = [NOTE, STARTED, TOTAL, event("progress", done=4, total=8)]
JOB_LOG = "logs/toy/score.log"
FAILED = [
    error("job_error", "", rule_name="score", log=[JOB_LOG], jobid=5),
    error("error", "WorkflowError:\nAt least one job did not complete successfully."),
]
LOCKED = [error("error", "LockException:\nError: Directory cannot be locked.")]
FULL_DEVICE = Path("/dev/full")
LOG = "2026-01-01 00:00:00,000 cdspp.core.jobs a.npz: damaged\n"
FINISHED = LOG.replace("a.npz: damaged", "finished after 1.0 s of processor time")


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Return a function that runs what has some events in place of Snakemake."""

    def run_saying(
        events: list[Event], code: int = 0, text: str = "", output: str = ""
    ) -> tuple[str, str]:
        lines = "".join(f"{json.dumps(each)}\n" for each in events)
        program = (
            f"import os, sys; open(os.environ[{run.EVENTS!r}], 'a').write({lines!r})\n"
            f"print({text!r}, end='', file=sys.stderr)\n"
            f"print({output!r}, end=''); sys.exit({code})"
        )
        command = [sys.executable, "-c", program]
        monkeypatch.setattr(run, "_command", lambda arguments: command)
        try:
            ended = main(["run"])
        except SystemExit as stopped:
            ended = stopped.code
        assert ended == code
        shown = capsys.readouterr()
        [log] = Path("logs").glob("run-*.log")
        assert log.read_text() == text + output
        assert log.stem.endswith(f"-{os.getpid()}")  # a second run has another
        assert output or f"Whole log: {log}" in shown.out + shown.err
        return shown.out, shown.err

    monkeypatch.chdir(tmp_path)
    return run_saying


@pytest.fixture
def job_log(tmp_path: Path) -> Path:
    """Return the log of the job that failed."""
    log = tmp_path / JOB_LOG
    log.parent.mkdir(parents=True)
    return log


def test_names_of_files_are_utf_8_whatever_the_system_says(
    said, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    said([STARTED], text="ü\n")  # ASCII could not print it


def test_a_job_that_failed_is_explained_by_its_log_and_the_exit_code_stays(
    said, job_log: Path
) -> None:
    job_log.write_text(LOG)
    out, err = said([*BEGUN, *FAILED], 3)
    assert out == ""
    assert "Stopped after 4 of 8 jobs:\n" in err
    assert "  a.npz: damaged (logs/toy/score.log)\n" in err


def test_a_failed_group_is_explained_by_the_log_of_the_cluster_too(
    said, job_log: Path
) -> None:
    job_log.write_text(LOG)
    group = error("group_error", "Error in group fits", aux_logs=["slurm/9.log"])
    failed = [group, {**FAILED[0], "indent": True}, FAILED[1]]
    assert (
        f"  a.npz: damaged ({JOB_LOG}, slurm/9.log)\n" in said([*BEGUN, *failed], 3)[1]
    )


def test_a_job_that_a_second_attempt_finished_explains_no_failure(
    said, job_log: Path
) -> None:
    job_log.write_text(FINISHED)
    _, err = said([*BEGUN, *FAILED], 1)
    assert JOB_LOG not in err
    assert "  At least one job did not complete successfully.\n" in err


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="needs a device that is full")
def test_a_full_disk_is_named_where_logs_are_empty(
    said, job_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_log.touch()
    _, err = said([*BEGUN, *FAILED], 1)
    assert "jobs:\n  stopped before the end (logs/toy/score.log)\n" in err
    for old in job_log.parent.parent.glob("run-*.log"):
        old.unlink()
    full = partial(FULL_DEVICE.open, "wb")
    monkeypatch.setattr(errors, "TemporaryFile", lambda dir: full())
    _, err = said([*BEGUN, *FAILED], 1)
    assert "jobs:\n  logs: no space left on this disk (No space left on device)." in err


def test_logs_that_cannot_be_written_are_named_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").touch()
    assert main(["run"]) == 2
    message = r"error: logs/run-\S+: cannot be written \(File exists\)\. A file is in"
    assert re.search(message, capsys.readouterr().err)


def test_other_failures_are_explained_by_the_errors_of_snakemake(said) -> None:
    _, err = said([*BEGUN, *LOCKED], 1, text="Something else.\n")
    assert "jobs:\n  LockException:\n  Error: Directory cannot be locked.\n" in err
    assert "Something else" not in err


def test_a_failure_without_any_event_is_explained_by_the_last_lines(said) -> None:
    _, err = said([], 2, text="usage: snakemake\nsnakemake: error: no such option\n")
    assert "error: usage: snakemake\nsnakemake: error: no such option\n" in err


SNAKEFILE = """\
from snakemake.logging import logger

logger.warning("A note on the study.")

rule all:
    input: "a.done", "b.done"

rule quick:
    output: "{name}.done"
    log: "logs/{name}.log"
    message: "Fits of x, y: name {wildcards.name}"
    shell: "echo printed; test -e ok || (echo '%s' > {log}; exit 1); touch {output}"
"""


@pytest.fixture
def snakemake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Return a function that runs Snakemake itself, on a small workflow."""
    reason = "2026-01-01 00:00:00,000 cdspp.core.jobs a.npz: damaged"
    (tmp_path / "Snakefile").write_text(SNAKEFILE % reason)
    monkeypatch.chdir(tmp_path)

    def run_words(*words: str) -> tuple[str, str]:
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--keep-going"]
        monkeypatch.setattr(
            run, "_command", lambda arguments: [*command, "--logger", "cdspp", *words]
        )
        with suppress(SystemExit):
            main(["run"])
        output = capsys.readouterr()
        return output.out, output.err

    return run_words


def test_a_dry_run_is_a_table_of_rules_and_reasons(snakemake) -> None:
    out, err = snakemake("--dry-run")
    assert err == "A note on the study.\n"
    assert out.startswith(
        "rule    jobs  reason\n"
        "quick      2  Missing output files\n"
        "  Fits of x, y\n"
        "all        1  Input files updated by another job\n"
        "total      3\n\n"
        "Nothing was run. Whole log: "
    )
    _, _, log = out.strip().rpartition(" ")
    assert "Fits of x, y: name a" in Path(log).read_text()


def test_snakemakes_own_events_give_counts_failures_and_what_is_left(snakemake) -> None:
    out, err = snakemake()
    assert out == ""
    assert err.startswith("A note on the study.\nFailed: quick: a.npz: damaged (")
    assert "log)\nStopped after 0 of 3 jobs:\n" in err
    assert "  a.npz: damaged (logs/a.log)\n  a.npz: damaged (logs/b.log)\n" in "".join(
        sorted(err.splitlines(keepends=True))
    )
    Path("ok").touch()
    assert snakemake()[0].startswith("3 of 3 jobs, ")
    assert snakemake()[0].startswith("Nothing to be done. ")
    assert snakemake("--list-rules")[0] == "all\nquick\n"
    Path("Snakefile").write_text("rule all:\n    input: 'missing'\n")
    _, err = snakemake()
    assert "error: MissingInputException in rule all" in err
    assert "missing\n" in err


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


def test_the_time_left_follows_from_what_each_job_is_expected_to_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(run_display.time, "monotonic", lambda: now[0])
    progress = RunDisplay()

    def shown(at: float, *events: Event) -> str:
        now[0] = at
        for each in events:
            progress.read(each)
        return str(progress)

    assert shown(5) == "reading the study, 5 s"
    total = event("run_info", stats={"total": 12})
    short = {str(job): 2 for job in range(10)}
    jobs = {"jobs": {**short, "10": 60, "11": 60}, "local": True}
    begun = event("job_started", jobs=[10])
    assert shown(10, total, event("forecast", **jobs), begun).startswith("0 % of")
    told = "14 % of the forecast, 0 of 12 jobs, 20 s, about 2 min left"
    assert shown(30) == told  # 20 of 140 s; left are 40 + 60 + 20
    done = event("job_finished", job_id=10), event("progress", done=1, total=12)
    assert shown(70, *done).endswith(", 1 of 12 jobs, 60 s, about 80 s left")
    failed = error("job_error", "", rule_name="fit", log=[], jobid=11)
    assert shown(72, event("job_started", jobs=[11]), failed).endswith("83 s left")
    assert shown(90, event("progress", done=12, total=12)) == "12 of 12 jobs, 80 s"


def test_snakemake_gets_the_files_and_last_what_follows_the_dashes(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ["mine.yaml", "resources/studies/paper.yaml"]
    Path(files[0]).write_text("study: mine\npreset: quick\n")
    given = Mock(return_value=(0, "as asked"))
    monkeypatch.setattr(run, "_follow", given)
    assert main(["run", *files, "--cores", "3", "--", "-n", "--"]) == 0
    command = given.call_args.args[0]
    assert command[-4:] == ["--cores", "3", "-n", "--"]
    place = command.index("--configfile") + 1
    assert command[place : place + 2] == ["mine.yaml", str(repository / files[1])]
    assert command[command.index("--snakefile") + 1] == str(repository / "Snakefile")


def test_an_interruption_reaches_the_command_which_ends_properly(
    tmp_path: Path,
) -> None:
    pytest.importorskip("yaml")
    program = (
        "import sys, time\n"
        "try:\n"
        "    print('ready', file=sys.stderr); time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('ended properly'); raise SystemExit(7)\n"
    )
    caller = (
        "import sys; from cdspp.cli import main, run;"
        f"run._command = lambda _: [sys.executable, '-c', {program!r}];"
        "sys.exit(main.main(['run']))"
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
    _, message = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "Interrupted after 0 of 0 jobs. The same command resumes it.\n" in message
    [log] = tmp_path.glob("logs/*")
    assert log.read_text() == "ready\nended properly\n"
