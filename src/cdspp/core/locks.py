"""Runs in a folder, and the locks that a killed one left behind.

Snakemake's locks hold paths and no process. So each run keeps a file open beside them,
under a lock of the operating system, which ends with the process however it ends.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import logging
import os
import socket
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

__all__ = [
    "FOLDER",
    "OUTLIVING",
    "OwnMark",
    "RunMark",
    "mark_run",
    "read_mark",
    "read_marks",
]

PathLike = str | os.PathLike[str]

log = logging.getLogger(__name__)

FOLDER = ".snakemake"
HOUR = 3600.0
NOBODY = "a run that left no mark"
REMOVED = (
    "The run before ({runs}) was killed. Its lock on this folder is removed; files "
    "that are there are kept."
)
OUTLIVING = (
    "What it submitted to a cluster may still run, and would be computed twice: squeue "
    "--me shows it, scancel ends it."
)
LIVES = "Another run holds a lock on this folder and lives: {runs}."
UNKNOWN = (
    "This folder is locked by {runs}; from here nobody can tell whether that still "
    "lives. Once it is gone: cdspp run -- --unlock, then the same command again."
)


@dataclass(frozen=True)
class RunMark:
    """What a run in a folder left to know it by.

    Attributes
    ----------
    path : Path
        Its file.
    host : str
        Machine, empty where the file is damaged.
    process : int
        Number of the process there.
    lives : bool or None
        Whether it lives; None where that cannot be told from this machine.
    started : float
        When it began, in seconds since the epoch.
    code : mapping
        Time and size of the files of code by then, see `cdspp.core.run_guard`.
    """

    path: Path
    host: str
    process: int
    lives: bool | None
    started: float
    code: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Name the run to the user."""
        if not self.host:
            return NOBODY
        return f"process {self.process} on {self.host}"


@dataclass(frozen=True, eq=False)
class OwnMark:
    """The mark of this process, which holds as long as the object is kept.

    Attributes
    ----------
    stream : file or None
        The mark, which another process finds locked; None where none can be made.
    note : str
        A sentence for the user where there were locks, else empty.
    path : Path or None
        Where it is.
    """

    stream: TextIO | None
    note: str
    path: Path | None = None


def mark_run(
    folder: PathLike = FOLDER, code: Mapping[str, tuple[int, int]] | None = None
) -> OwnMark:
    """Mark this process as a run in a folder, and remove locks of killed runs.

    Locks are removed where every marked run is gone, and was on this machine. While a
    run lives they stay, and where nothing can be told.

    Parameters
    ----------
    folder : path, default=".snakemake"
        Folder of Snakemake, which has its locks in ``locks``.
    code : mapping, optional
        What the mark says of the code.
    """
    folder = Path(folder).absolute()
    marks = _marks(folder)
    try:
        marks.mkdir(parents=True, exist_ok=True)
        with (marks / "guard").open("a") as guard:
            # Of two runs that start at a time, the second finds the mark of the first.
            fcntl.flock(guard, fcntl.LOCK_EX)
            note = _remove_stale(folder)
            stream, path = _write(marks, code or {})
            return OwnMark(stream, note, path)
    except OSError as error:  # not every file system has such locks
        log.debug("no mark in %s: %s", marks, error)
        return OwnMark(None, UNKNOWN.format(runs=NOBODY) if _locks(folder) else "")


def read_marks(folder: PathLike = FOLDER) -> list[RunMark]:
    """Return the marks of runs in a folder: of those that live, and of killed ones."""
    found = map(read_mark, sorted(_marks(folder).glob("*.json")))
    return [mark for mark in found if mark is not None]


def _marks(folder: PathLike) -> Path:
    return Path(folder, "cdspp-runs")


def _locks(folder: Path) -> list[Path]:
    return sorted((folder / "locks").glob("*.lock"))


def _write(marks: Path, code: Mapping[str, tuple[int, int]]) -> tuple[TextIO, Path]:
    """Write the mark of this process, and remove it where the process ends."""
    handle, name = tempfile.mkstemp(dir=marks, suffix=".json")
    stream = os.fdopen(handle, "w", encoding="utf-8")
    fcntl.flock(stream, fcntl.LOCK_EX)
    told = {"host": socket.gethostname(), "process": os.getpid(), "code": code}
    json.dump(told, stream)
    stream.flush()
    atexit.register(Path(name).unlink, missing_ok=True)
    return stream, Path(name)


def read_mark(path: Path) -> RunMark | None:
    """Return the mark in a file, None where its run has ended."""
    try:
        stream = path.open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        try:
            told = json.load(stream)
        except ValueError:  # killed while it was written
            told = {"host": "", "process": 0}
        started = os.fstat(stream.fileno()).st_mtime
    # A file system may keep such locks to one machine.
    here = told["host"] == socket.gethostname()
    lives = (False if here else None) if free else True
    code = {file: tuple(state) for file, state in told.get("code", {}).items()}
    return RunMark(path, told["host"], told["process"], lives, started, code)


def _remove_stale(folder: Path) -> str:
    """Remove locks that no run holds; return what to tell the user of locks."""
    locks, marks = _locks(folder), read_marks(folder)
    if living := [str(mark) for mark in marks if mark.lives]:
        return LIVES.format(runs=", ".join(living)) if locks else ""
    runs = ", ".join(map(str, marks)) or NOBODY
    known = bool(marks) and all(mark.lives is False for mark in marks)
    if locks and not known:
        return UNKNOWN.format(runs=runs)
    # A run of another machine may be about to take its locks.
    old = [m.path for m in marks if m.lives is False or m.started < time.time() - HOUR]
    for path in (*locks, *old):
        path.unlink(missing_ok=True)
    return REMOVED.format(runs=runs) if locks else ""
