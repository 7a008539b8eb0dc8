"""Marks of runs: whether a run still lives that locked a folder, or started a job.

Snakemake's locks hold paths and no process. So each run keeps a file open beside them,
its mark, under a lock of the operating system, which ends with the process. A killed
run leaves its jobs at work, which would end after a later run and replace its files,
and code may be edited before a job loads it. So the mark holds the state of the code,
and a job reads the mark, and its inputs again, before it writes a file.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TextIO

from cdspp.core.errors import StaleJobError
from cdspp.core.names import PathLike
from cdspp.core.provenance import INSTALLED, file_digest

State = Mapping[str, tuple[int, int]]

log = logging.getLogger(__name__)

FOLDER, RUNS, LOCKS = ".snakemake", "cdspp-runs", "locks/*.lock"
# Variables of the environment: the mark of the run, and whether it may replace no fit
# for changes of code alone.
RUN, KEEP_FITS = "CDSPP_RUN", "CDSPP_KEEP_FITS"
HOUR = 3600.0
NOBODY = "a run that left no mark"
OUTLIVING = (
    "What it submitted to a cluster may still run, and would be computed twice: squeue "
    "--me shows it, scancel ends it."
)
UNKNOWN = (
    "This folder is locked by {runs}; from here nobody can tell whether that still "
    "lives. Once it is gone: cdspp run -- --unlock, then the same command again."
)


class RunMark(NamedTuple):
    """The mark of a run: without `host` where damaged, `lives` None if nobody knows."""

    path: Path
    host: str
    process: int
    lives: bool | None
    started: float
    code: State

    def __str__(self) -> str:
        """Name the run to the user."""
        return f"process {self.process} on {self.host}" if self.host else NOBODY


class OwnMark(NamedTuple):
    """The mark of this process, while it is kept; `note` tells the user of locks."""

    stream: TextIO | None
    note: str
    path: Path | None = None


_run: RunMark | None = None  # whose job this process is
# What the job reads: the place of each file on its disk, its digest.
_inputs: dict[str, tuple[tuple[int, ...] | None, str]] = {}


def mark_run(folder: PathLike = FOLDER, code: State | None = None) -> OwnMark:
    """Mark this process as a run in Snakemake's folder; remove locks of killed runs."""
    folder = Path(folder).absolute()
    marks = folder / RUNS
    try:
        marks.mkdir(parents=True, exist_ok=True)
        with (marks / "guard").open("a") as guard:
            # Of two runs that start at a time, the second finds the mark of the first.
            fcntl.flock(guard, fcntl.LOCK_EX)
            note = _remove_stale(folder)
            handle, name = tempfile.mkstemp(dir=marks, suffix=".json")
            stream = os.fdopen(handle, "w", encoding="utf-8")
            fcntl.flock(stream, fcntl.LOCK_EX)
            mark = {"host": socket.gethostname(), "process": os.getpid()}
            json.dump({**mark, "code": code or {}}, stream)
            stream.flush()
            atexit.register(Path(name).unlink, missing_ok=True)
            return OwnMark(stream, note, Path(name))
    except OSError as error:  # not every file system has such locks
        log.debug("no mark in %s: %s", marks, error)
        locked = any(folder.glob(LOCKS))
        return OwnMark(None, UNKNOWN.format(runs=NOBODY) if locked else "")


def read_marks(folder: PathLike = FOLDER) -> list[RunMark]:
    """Return the marks of living and of killed runs in a folder."""
    found = map(read_mark, sorted(Path(folder, RUNS).glob("*.json")))
    return [mark for mark in found if mark is not None]


def read_mark(path: Path) -> RunMark | None:
    """Return the mark in a file, None where its run has ended."""
    try:
        stream = path.open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with stream:
        free = False
        with suppress(BlockingIOError):
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            free = True
        try:
            mark = json.load(stream)
        except ValueError:  # killed while it was written
            mark = {"host": "", "process": 0}
        started = os.fstat(stream.fileno()).st_mtime
    # A file system may keep such locks to one machine.
    here = mark["host"] == socket.gethostname()
    lives = (False if here else None) if free else True
    code = {file: tuple(state) for file, state in mark.get("code", {}).items()}
    return RunMark(path, mark["host"], mark["process"], lives, started, code)


def code_state() -> State:
    """Return time and size of files of this package and of modules beside the run."""
    here = f"{Path.cwd()}{os.sep}"
    files = {str(path) for path in Path(__file__).parents[1].rglob("*.py")}
    for file in _loaded():
        if file.startswith(here) and not INSTALLED & {*Path(file).parts}:
            files.add(file)
    places = {file: _place(file) for file in sorted(files)}
    return {file: place[:2] for file, place in places.items() if place}


def announce(mark: OwnMark) -> None:
    """Tell the jobs of this process which run they belong to."""
    if mark.path is None:
        os.environ.pop(RUN, None)
    else:
        os.environ[RUN] = str(mark.path)


def guard_job() -> None:
    """Take this process for a job of the run that started it, if any, and check it."""
    global _run
    if path := os.environ.get(RUN):
        _run = read_mark(Path(path)) or RunMark(Path(path), "", 0, False, 0.0, {})
        check_run()


@contextmanager
def guarded(inputs: Iterable[PathLike]) -> Iterator[dict[str, str]]:
    """Let no file be written in the block once inputs differ; yield their digests."""
    for path in inputs:
        file = os.fspath(path)
        _inputs[file] = _place(file), file_digest(file)
    try:
        yield {file: digest for file, (_, digest) in _inputs.items()}
    finally:
        _inputs.clear()


def input_digest(path: PathLike) -> str:
    """Return the digest of a file, that of the start of the job if it is an input."""
    _, digest = _inputs.get(os.fspath(path), (None, ""))
    return digest or file_digest(path)


def check_run() -> None:
    """Raise StaleJobError where the run, the code or an input is not what it was.

    A run on another machine counts as living while its mark is there.
    """
    for file, (place, digest) in _inputs.items():
        found = _place(file)
        if found != place and (found is None or file_digest(file) != digest):
            raise StaleJobError(
                f"{file} was replaced while a job worked with it, which ends without a "
                "result. Run the study again."
            )
    if _run is None:
        return
    now = read_mark(_run.path)
    if now is None or now.lives is False:
        raise StaleJobError(
            "the run that started this job has ended, so the job ends without a result."
        )
    for file in sorted(_loaded() & _run.code.keys()):
        place = _place(file)
        if place is None or place[:2] != _run.code[file]:
            raise StaleJobError(
                f"{file} was written since the run began, so that nobody can tell by "
                "which code this is computed. Run the study again; what is there is "
                "kept."
            )


def _remove_stale(folder: Path) -> str:
    locks, marks = [*folder.glob(LOCKS)], read_marks(folder)
    if living := [str(mark) for mark in marks if mark.lives]:
        note = "Another run holds a lock on this folder and lives"
        return f"{note}: {', '.join(living)}." if locks else ""
    runs = ", ".join(map(str, marks)) or NOBODY
    known = bool(marks) and all(mark.lives is False for mark in marks)
    if locks and not known:
        return UNKNOWN.format(runs=runs)
    # A run of another machine may be about to take its locks.
    old = [m.path for m in marks if m.lives is False or m.started < time.time() - HOUR]
    for path in (*locks, *old):
        path.unlink(missing_ok=True)
    note = f"The run before ({runs}) was killed. Its lock on this folder is removed; "
    return f"{note}files that are there are kept." if locks else ""


def _loaded() -> set[str]:
    modules = list(sys.modules.values())
    return {str(file) for m in modules if (file := getattr(m, "__file__", None))}


def _place(file: str) -> tuple[int, int, int, int] | None:
    """Return what a file cannot keep when it is replaced, None where it is gone."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ctime_ns, found.st_ino
