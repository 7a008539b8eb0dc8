"""Locks of killed runs, and the run locks that tell them from those of living ones."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cdspp.core import run_lock
from cdspp.core.run_lock import lock_run, read_run_locks

RUN = """
import sys
from cdspp.core.run_lock import lock_run
mark = lock_run(sys.argv[1])
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def run_in(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that holds a run lock, and lives as long as its input."""
    command = [sys.executable, "-c", RUN, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process


def killed_in(folder: Path) -> int:
    """Leave the run lock of a run that was killed; return the number of its process."""
    with run_in(folder) as process:
        process.send_signal(signal.SIGKILL)
    return process.pid


@pytest.fixture
def locks(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "locks"
    folder.mkdir()
    paths = [folder / f"0.{kind}.lock" for kind in ("input", "output")]
    for path in paths:
        path.write_text("results/toy/scores/words.parquet\n")
    return paths


def test_a_run_lock_lasts_as_long_as_its_process(tmp_path: Path) -> None:
    with run_in(tmp_path) as process:
        [mark] = read_run_locks(tmp_path)
        assert mark.lives
        assert mark.process == process.pid
    assert not read_run_locks(tmp_path)


def test_locks_of_a_killed_run_are_removed_and_said_so(
    tmp_path: Path, locks: list[Path]
) -> None:
    process = killed_in(tmp_path)
    note = lock_run(tmp_path).note
    assert note.startswith(f"The previous run (process {process} on ")
    assert "Its lock on this folder is removed" in note
    assert not any(path.exists() for path in locks)


def test_a_killed_run_without_locks_is_not_worth_a_word(tmp_path: Path) -> None:
    killed_in(tmp_path)
    own = lock_run(tmp_path)
    assert own.note == ""
    assert len(read_run_locks(tmp_path)) == 1


def test_locks_stay_while_a_run_lives(tmp_path: Path, locks: list[Path]) -> None:
    killed = killed_in(tmp_path)
    with run_in(tmp_path / "other"), run_in(tmp_path) as living:
        # The living run has cleared what was left, and takes locks of its own.
        for path in locks:
            path.touch()
        note = lock_run(tmp_path).note
    assert note.startswith("Another run is active in this folder and holds its lock: ")
    assert f"process {living.pid} " in note
    assert f"process {killed} " not in note
    assert all(path.exists() for path in locks)


@pytest.mark.parametrize(
    ("mark", "named"),
    [
        (json.dumps({"host": "elsewhere", "process": 7}), "process 7 on elsewhere"),
        ("", "a run without a lock"),
        (None, "a run without a lock"),
    ],
    ids=["another machine", "a damaged run lock", "no run lock"],
)
def test_where_nothing_can_be_told_locks_stay_and_the_remedy_is_named(
    tmp_path: Path, locks: list[Path], mark: str | None, named: str
) -> None:
    (tmp_path / "cdspp-runs").mkdir()
    if mark is not None:
        (tmp_path / "cdspp-runs/a.json").write_text(mark)
    note = lock_run(tmp_path).note
    assert note.startswith(f"This folder is locked by {named},")
    assert "cdspp run -- --unlock" in note
    assert all(path.exists() for path in locks)


def test_a_run_lock_of_another_machine_goes_with_time(tmp_path: Path) -> None:
    (tmp_path / "cdspp-runs").mkdir()
    mark = tmp_path / "cdspp-runs/a.json"
    mark.write_text(json.dumps({"host": "elsewhere", "process": 7}))
    assert lock_run(tmp_path).note == ""
    assert mark.exists()
    os.utime(mark, (0, 0))
    lock_run(tmp_path)
    assert not mark.exists()


def test_a_folder_that_takes_no_run_locks_stops_no_run(
    tmp_path: Path, locks: list[Path]
) -> None:
    (tmp_path / "cdspp-runs").write_text("a file where the folder would be")
    own = lock_run(tmp_path)
    assert own.stream is None
    assert "cdspp run -- --unlock" in own.note


@pytest.mark.usefixtures("locks")
def test_where_a_disk_keeps_no_run_lock_nobody_says_that_no_run_is_at_work(
    tmp_path: Path,
) -> None:
    [unknown] = read_run_locks(tmp_path)
    assert unknown.lives is None
    assert str(unknown) == "a run without a lock"


def test_a_run_lock_on_a_disk_without_locks_says_nothing_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_in(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(run_lock, "lock_file", refuse)
    [unknown] = read_run_locks(tmp_path)
    assert unknown.lives is None
