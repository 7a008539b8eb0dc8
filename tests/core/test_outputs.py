"""Files that are whole or as they were."""

from __future__ import annotations

import multiprocessing
import os
import signal
import stat
import time
from pathlib import Path

import pytest

from cdspp.core import outputs
from cdspp.core.errors import NotWritableError
from cdspp.core.outputs import atomic, together


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
    monkeypatch.setattr(outputs, "HOST", "0" * 8)
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


def test_new_content_is_never_open_to_more_readers_than_the_old(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    for mode in (0o600, 0o440):
        target.chmod(mode)
        with atomic(target) as temporary:
            assert not temporary.stat().st_mode & 0o777 & ~(mode | stat.S_IWUSR)
            temporary.write_text("new")
        assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_job_never_replaces_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "out.txt"
    os.mkfifo(pipe)
    with pytest.raises(NotWritableError, match="got a device, pipe"), atomic(pipe):
        pass
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]


@pytest.mark.parametrize("links", [True, False])
def test_outputs_come_together_or_as_they_were(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Path) -> None:
        raise PermissionError

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    old, new, other = (tmp_path / name for name in ("old", "new", "other"))
    old.write_text("old")
    folder = tmp_path / "folder"
    folder.mkdir()

    def write(*places: Path) -> None:
        with together(places, replace=True):
            for place in places:
                with atomic(place) as temporary:
                    temporary.write_text("new")
            with atomic(other) as temporary:  # is no output
                temporary.touch()
            assert other.exists()
            assert (old.read_text(), new.exists()) == ("old", False)

    with pytest.raises(NotWritableError, match="A folder is in the way"):
        write(old, new, folder)
    assert {*tmp_path.iterdir()} == {old, folder, other}
    assert old.read_text() == "old"
    write(old, new)
    assert old.read_text() == new.read_text() == "new"
    assert {*tmp_path.iterdir()} == {old, new, folder, other}
