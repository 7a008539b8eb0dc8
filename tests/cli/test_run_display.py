"""What a run prints, by the events that Snakemake gives it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cdspp.cli import run_display
from cdspp.cli.run_display import WIDTH, RunDisplay, folded
from cdspp.core.errors import OFFLINE

Event = dict[str, Any]
MODULE = [sys.executable, "-m", "snakemake"]


def event(name: str | None, level: str = "INFO", **fields: Any) -> Event:
    return {"event": name, "level": level, "message": "", "dryrun": False} | fields


def error(kind: str, message: str) -> Event:
    return event("error", "ERROR", exception=kind, message=message)


BUSY = event("run_lock", "WARNING", message="Another run is active: process 7 on a.")
LOCKED = error("LockException", "LockException:\nError: Directory cannot be locked.")
STATS = event("run_info", stats={"fit_a": 2, "fit_b": 1, "split": 4, "total": 7})
FORECAST = event("forecast", jobs={1: 60.0, 2: 20.0}, local=True, cores=2)


@pytest.fixture
def display(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDisplay:
    monkeypatch.chdir(tmp_path)
    return RunDisplay()


def read(display: RunDisplay, *events: Event) -> None:
    for each in (event("study", study="toy"), event("workflow_started"), *events):
        display.read(each)


def test_a_plan_has_the_jobs_of_each_kind_and_their_forecast(
    display: RunDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    read(display, STATS, FORECAST)
    assert capsys.readouterr().err == (
        "toy: 7 jobs, forecast 80 s of processor time, about 60 s on 2 cores\n"
        "  fit 3, split 4\n"
    )


def test_a_file_gets_a_line_when_the_forecast_has_advanced_not_the_jobs(
    display: RunDisplay,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    monkeypatch.setattr(run_display.time, "monotonic", lambda: now[0])
    read(display, STATS, FORECAST, event("job_started", jobs=[1]))
    capsys.readouterr()
    for second in range(120):
        now[0] = float(second)
        display.show()
    lines = capsys.readouterr().err.splitlines()
    percents = [line.partition(" % of the forecast, 0 of 7 jobs")[0] for line in lines]
    assert percents == ["19", "38", "56", "75"]  # every 15 s, until 60 s of 80


def test_a_run_of_some_rules_ends_with_their_jobs(
    display: RunDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    read(display, STATS, event("progress", done=7, total=39))
    display.end()
    out, err = capsys.readouterr()
    assert out.startswith("7 of 7 jobs, ")
    assert err == ""


@pytest.mark.parametrize("note", [BUSY, BUSY | {"message": "Run x -- --unlock."}])
def test_a_busy_folder_has_one_message(
    display: RunDisplay, note: Event, capsys: pytest.CaptureFixture[str]
) -> None:
    read(display, note, LOCKED)
    display.end()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {note['message']}")
    assert ("Wait until it ends" in err) == (note is BUSY)
    assert "Directory" not in err
    assert err.count(note["message"]) == 1


def test_an_error_of_configuration_is_one_line(
    display: RunDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    place = 'WorkflowError in file "/a/common.smk", line 89:'
    trace = '  File "/a/common.smk", line 89, in <module>'
    fault = error("WorkflowError", f"{place}\ntrials must be positive.\n{trace}")
    display.read(fault)
    display.end()
    assert capsys.readouterr().err == "error: trials must be positive.\n"


def test_a_job_that_was_killed_shows_the_end_of_its_log(
    display: RunDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(f"line {i} {'x' * 200}" for i in range(9))
    Path("score.log").write_text(f"{text}\n")
    fields = {"rule_name": "score", "log": ["score.log"], "jobid": 5}
    read(display, STATS, event("job_error", "ERROR", **fields))
    head, *lines = capsys.readouterr().err.splitlines()
    assert head == "Failed: score. The end of score.log:"
    assert [line[:8] for line in lines] == [f"  line {i}" for i in range(4, 9)]
    assert max(map(len, lines)) == WIDTH


def test_a_machine_without_a_network_is_told_once_what_to_type(
    display: RunDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [event("study", study="toy", files=["my study.yaml"]), STATS]
    for number, name in enumerate("abcd"):
        log = Path(f"fetch/photos/{name}.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        reason = f"photos, {name}: {OFFLINE}. Put {name}.zip into a mirror"
        log.write_text(f"2026-01-01 00:00:00,000 cdspp.core.jobs {reason}\n")
        fields = {"rule_name": "fetch", "log": [str(log)], "jobid": number}
        events.append(event("job_error", "ERROR", **fields))
    read(display, *events)
    assert capsys.readouterr().err == ""
    display.errors = ["1 of 2 steps failed"]
    display.end()
    head, *lines = capsys.readouterr().err.splitlines()
    assert head.startswith("Stopped after 0 of")
    assert " ".join(" ".join(lines).split()) == (
        f"{OFFLINE} for 4 downloads (photos/a, photos/b, photos/c, ...). "
        "What to put where: cdspp fetch --list 'my study.yaml'"
    )


def test_sentences_are_folded_but_neither_rows_nor_paths() -> None:
    row = f"row  {'1.0  ' * 30}"
    remarked = f"  CDSPP  {'1.0  ' * 15} open   {'word ' * 10}".rstrip()
    assert folded(remarked).split() == remarked.split()
    assert max(map(len, folded(remarked).splitlines())) <= WIDTH
    path = "a/" * 80
    assert folded(row) == row
    lines = folded(f"  {'word ' * 40}{path}").splitlines()
    assert lines[-1].strip() == path
    assert max(map(len, lines[:-1])) <= WIDTH
    assert all(line.startswith("    ") for line in lines[1:])


SNAKEFILE = """\
rule all:
    input: "a.done"

rule quick:
    output: "a.done"
    shell: "touch {output}"
"""


@pytest.mark.parametrize(
    ("option", "usual"), [("--dry-run", False), ("--cores=1", False), ("-np", True)]
)
def test_the_logger_takes_the_place_of_the_usual_output_unless_asked(
    tmp_path: Path, option: str, usual: bool
) -> None:
    pytest.importorskip("snakemake")
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    ended = subprocess.run(
        [*MODULE, "--logger", "cdspp", option],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(run_display.__file__).parents[2])},
        check=True,
    )
    assert ("Building DAG of jobs" in ended.stdout + ended.stderr) == usual
    if option == "--dry-run":
        assert ended.stdout == (
            "rule    jobs  reason\n"
            "quick      1  Missing output files\n"
            "all        1  Input files updated by another job\n"
            "total      2\n\nNothing was run.\n"
        )
        assert ended.stderr == ""
    if option == "--cores=1":
        assert ended.stdout.startswith("2 of 2 jobs, ")
        assert ended.stderr == ""


def test_every_profile_prints_runs_in_brief(repository: Path) -> None:
    folders = (repository, repository / "workflow")
    profiles = [p for f in folders for p in f.glob("profiles/*/config.yaml")]
    assert len(profiles) == 5
    assert all("logger: [cdspp]" in path.read_text() for path in profiles)
