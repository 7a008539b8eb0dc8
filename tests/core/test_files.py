"""Files that are whole or as they were."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from cdspp.core import files
from cdspp.core.files import atomic


def test_who_reads_during_a_write_sees_the_old_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with target.open() as reader:
        with atomic(target) as temporary:
            temporary.write_text("new")
        assert reader.read() == "old"
    assert target.read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def fail() -> None:
        with atomic(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def end_at_once(target: Path) -> None:
    with atomic(target):
        os.kill(os.getpid(), signal.SIGKILL)


def kill_writer(target: Path) -> Path:
    """Return what a writer of a file leaves that was killed."""
    known = {*target.parent.iterdir()}
    context = multiprocessing.get_context("fork")
    writer = context.Process(target=end_at_once, args=(target,))
    writer.start()
    writer.join()
    [left] = {*target.parent.iterdir()} - known
    age(left, 5)
    return left


def age(path: Path, seconds: float) -> None:
    written = time.time() - seconds
    os.utime(path, (written, written))


def test_the_next_writer_removes_what_a_killed_one_left_and_nothing_else(
    tmp_path: Path,
) -> None:
    target, other = tmp_path / "out.txt", tmp_path / "out.txt.json"
    kept = kill_writer(other), tmp_path / ".out.txt.my-notes.txt"
    kept[1].touch()
    kill_writer(target)
    with atomic(target) as living:
        living.write_text("first")
        age(living, 5)
        with atomic(target) as temporary:  # as two jobs do
            temporary.write_text("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first"
    assert {*tmp_path.iterdir()} == {target, *kept}


def test_what_another_machine_left_is_removed_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.txt"
    left = kill_writer(target)
    monkeypatch.setattr(files, "HOST", "0" * 8)
    with atomic(target):
        assert left.exists()
    age(left, 90_000)
    with atomic(target):
        assert not left.exists()


def test_a_link_stays_and_leads_to_the_new_content(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    kept, link = tmp_path / "disk/rows.csv", tmp_path / "rows.csv"
    kept.write_text("old")
    link.symlink_to("disk/rows.csv")
    with atomic(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert kept.read_text() == "new"
