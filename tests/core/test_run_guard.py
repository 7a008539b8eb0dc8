"""Jobs that end without a result, since their run has ended or their code changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdspp.core import run_lock
from cdspp.core.errors import StaleJobError
from cdspp.core.files import write_json
from cdspp.core.run_lock import guard_job

RUN = """
import os, sys
sys.path.insert(0, os.getcwd())
import mine
from cdspp.core.run_lock import export_run_lock, code_state, lock_run
mark = lock_run(".snakemake", code_state())
export_run_lock(mark)
print(os.environ["CDSPP_RUN"], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[subprocess.Popen[str]]:
    """Yield a run, of which this process is a job that has loaded ``mine.py``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.py").write_text("ALPHA = 1\n")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", RUN], text=True, **pipes) as process:
        assert process.stdout is not None
        monkeypatch.setenv("CDSPP_RUN", process.stdout.readline().strip())
        monkeypatch.setattr(run_lock, "_run", None)
        monkeypatch.delitem(sys.modules, "mine", raising=False)
        __import__("mine")
        guard_job()
        yield process
        process.kill()
    sys.modules.pop("mine", None)


def test_a_job_writes_while_its_run_lives(
    run: subprocess.Popen[str], tmp_path: Path
) -> None:
    write_json(tmp_path / "fit.json", 1)
    assert (tmp_path / "fit.json").is_file()


def test_a_job_whose_run_was_killed_replaces_nothing(
    run: subprocess.Popen[str], tmp_path: Path
) -> None:
    (tmp_path / "fit.json").write_text("of a later run")
    run.send_signal(signal.SIGKILL)
    run.wait()
    with pytest.raises(StaleJobError, match="run.*job"):
        write_json(tmp_path / "fit.json", 1)
    assert (tmp_path / "fit.json").read_text() == "of a later run"
    assert not list(tmp_path.glob(".fit*"))


def test_a_job_starts_under_no_run_that_has_ended(
    run: subprocess.Popen[str], tmp_path: Path
) -> None:
    run.communicate()  # to its regular end, at which it removes its run lock
    with pytest.raises(StaleJobError, match="has ended"):
        guard_job()


def test_code_that_was_changed_and_changed_back_ends_a_job(
    run: subprocess.Popen[str], tmp_path: Path
) -> None:
    for text in ("ALPHA = 2\n", "ALPHA = 1\n"):
        (tmp_path / "mine.py").write_text(text)
    with pytest.raises(StaleJobError, match=r"mine\.py .*run"):
        write_json(tmp_path / "fit.json", 1)


def test_code_that_a_job_does_not_use_may_change(
    run: subprocess.Popen[str], tmp_path: Path
) -> None:
    del sys.modules["mine"]
    os.utime(tmp_path / "mine.py", ns=(1, 1))
    write_json(tmp_path / "fit.json", 1)


def test_what_is_no_job_of_a_run_is_not_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_lock, "_run", None)
    monkeypatch.delenv("CDSPP_RUN", raising=False)
    guard_job()
    write_json(tmp_path / "fit.json", 1)
