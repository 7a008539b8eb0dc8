"""Run locks: whether a run is alive that locked a folder, or started a job.

Snakemake's locks hold paths and no process. So each run keeps a file open next to them,
the run lock, under a lock of the operating system, which ends with the process. A
killed run leaves its jobs at work, which would end after a later run and replace its
files, and code may be edited before a job loads it. So the run lock holds the state of
the code, and a job reads it, and its inputs again, before it writes a file.
"""

from __future__ import annotations

import atexit
import errno
import json
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

from cdspp.core.errors import ConfigError, StaleJobError
from cdspp.core.names import PathLike
from cdspp.core.provenance import INSTALLED, file_digest

State = Mapping[str, tuple[int, int]]

log = logging.getLogger(__name__)

FOLDER, RUNS, LOCKS = ".snakemake", "cdspp-runs", "locks/*.lock"
# Variables of the environment: the run lock, and whether it may replace no fit
# for changes of code alone.
RUN, KEEP_FITS = "CDSPP_RUN", "CDSPP_KEEP_FITS"
HOUR = 3600.0
UNKNOWN_RUN = "a run that left no mark"
ORPHANED_JOBS_NOTE = (
    "What it submitted to a cluster may still run, and would be computed twice: squeue "
    "--me shows it, scancel ends it."
)
UNKNOWN = (
    "This folder is locked by {runs}; from here nobody can tell whether that still "
    "lives. Once it is gone: cdspp run -- --unlock, then the same command again."
)


class RunLock(NamedTuple):
    """A run lock: without `host` where damaged, `lives` None if nobody knows."""

    path: Path
    host: str
    process: int
    lives: bool | None
    started: float
    code: State

    def __str__(self) -> str:
        """Name the run to the user."""
        return f"process {self.process} on {self.host}" if self.host else UNKNOWN_RUN


class OwnRunLock(NamedTuple):
    """The run lock of this process, while it is kept; `note` is for the user."""

    stream: TextIO | None
    note: str
    path: Path | None = None


_run: RunLock | None = None  # whose job this process is
# What the job reads: the place of each file on its disk, its digest.
_inputs: dict[str, tuple[tuple[int, ...] | None, str]] = {}


def require_posix() -> None:
    """Raise ConfigError where a study cannot run, although fits can."""
    if sys.platform == "win32":
        raise ConfigError(
            "a study needs processes, signals and file locks of Linux or macOS, and "
            "this is Windows. Run it in the Windows Subsystem for Linux; cdspp "
            "compare, fit and predict run here."
        )


def lock_file(
    stream: IO[Any] | int, *, wait: bool = True, shared: bool = False
) -> None:
    """Lock an open file for this process until it is closed.

    Raises OSError where the system or the file system has no such locks, and
    BlockingIOError where another process holds one, unless it may `wait`.
    """
    try:
        import fcntl
    except ImportError as error:
        raise OSError(errno.ENOLCK, f"{sys.platform} has no such locks") from error
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(stream, kind if wait else kind | fcntl.LOCK_NB)


def lock_run(folder: PathLike = FOLDER, code: State | None = None) -> OwnRunLock:
    """Lock Snakemake's folder for this process; remove locks of killed runs."""
    folder = Path(folder).absolute()
    run_locks = folder / RUNS
    try:
        run_locks.mkdir(parents=True, exist_ok=True)
        with (run_locks / "guard").open("a") as guard:
            # Of two runs that start at a time, the second finds the lock of the first.
            lock_file(guard)
            note = _remove_stale(folder)
            handle, name = tempfile.mkstemp(dir=run_locks, suffix=".json")
            stream = os.fdopen(handle, "w", encoding="utf-8")
            lock_file(stream)
            content = {"host": socket.gethostname(), "process": os.getpid()}
            json.dump({**content, "code": code or {}}, stream)
            stream.flush()
            atexit.register(Path(name).unlink, missing_ok=True)
            return OwnRunLock(stream, note, Path(name))
    except OSError as error:  # not every file system has such locks
        log.debug("no run lock in %s: %s", run_locks, error)
        locked = any(folder.glob(LOCKS))
        return OwnRunLock(None, UNKNOWN.format(runs=UNKNOWN_RUN) if locked else "")


def read_run_locks(folder: PathLike = FOLDER) -> list[RunLock]:
    """Return the run locks of living and of killed runs in a folder."""
    paths = sorted(Path(folder, RUNS).glob("*.json"))
    if not paths and any(Path(folder).glob(LOCKS)):  # of a disk without such locks
        return [RunLock(Path(folder, LOCKS), "", 0, None, 0.0, {})]
    return [lock for path in paths if (lock := read_run_lock(path))]


def read_run_lock(path: Path) -> RunLock | None:
    """Return the run lock in a file, None where its run has ended."""
    try:
        stream = path.open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with stream:
        free: bool | None = True
        try:
            lock_file(stream, wait=False, shared=True)
        except BlockingIOError:
            free = False
        except OSError:  # a disk without such locks
            free = None
        try:
            content = json.load(stream)
        except ValueError:  # killed while it was written
            content = {"host": "", "process": 0}
        started = os.fstat(stream.fileno()).st_mtime
    # A file system may keep such locks to one machine.
    here = content["host"] == socket.gethostname()
    lives = True if free is False else False if free and here else None
    code = {file: tuple(state) for file, state in content.get("code", {}).items()}
    return RunLock(path, content["host"], content["process"], lives, started, code)


def code_state() -> State:
    """Return time and size of files of this package and of modules next to the run."""
    here = f"{Path.cwd()}{os.sep}"
    files = {str(path) for path in Path(__file__).parents[1].rglob("*.py")}
    for file in _loaded():
        if file.startswith(here) and not INSTALLED & {*Path(file).parts}:
            files.add(file)
    places = {file: _place(file) for file in sorted(files)}
    return {file: place[:2] for file, place in places.items() if place}


def export_run_lock(lock: OwnRunLock) -> None:
    """Tell the jobs of this process which run they belong to."""
    if lock.path is None:
        os.environ.pop(RUN, None)
    else:
        os.environ[RUN] = str(lock.path)


def guard_job() -> None:
    """Take this process for a job of the run that started it, if any, and check it."""
    global _run
    if path := os.environ.get(RUN):
        _run = read_run_lock(Path(path)) or RunLock(Path(path), "", 0, False, 0.0, {})
        check_run()


@contextmanager
def guard_inputs(inputs: Iterable[PathLike]) -> Iterator[dict[str, str]]:
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

    A run on another machine counts as living while its run lock is there.
    """
    for file, (place, digest) in _inputs.items():
        found = _place(file)
        if found != place and (found is None or file_digest(file) != digest):
            fault = f"{file} was replaced while a job worked with it"
            end = "which ends without a result. Run the study again."
            raise StaleJobError(f"{fault}, {end}")
    if _run is None:
        return
    now = read_run_lock(_run.path)
    if now is None or now.lives is False:
        ended = "the run that started this job has ended"
        raise StaleJobError(f"{ended}, so the job ends without a result.")
    for file in sorted(_loaded() & _run.code.keys()):
        place = _place(file)
        if place is None or place[:2] != _run.code[file]:
            fault = f"{file} was written since the run began"
            result = "so that nobody can tell by which code this is computed"
            remedy = "Run the study again; what is there is kept."
            raise StaleJobError(f"{fault}, {result}. {remedy}")


def _remove_stale(folder: Path) -> str:
    locks, runs = [*folder.glob(LOCKS)], read_run_locks(folder)
    if living := [str(run) for run in runs if run.lives]:
        note = "Another run holds a lock on this folder and lives"
        return f"{note}: {', '.join(living)}." if locks else ""
    names = ", ".join(map(str, runs)) or UNKNOWN_RUN
    ended = bool(runs) and all(run.lives is False for run in runs)
    if locks and not ended:
        return UNKNOWN.format(runs=names)
    # A run of another machine may be about to take its locks.
    old = [r.path for r in runs if r.lives is False or r.started < time.time() - HOUR]
    for path in (*locks, *old):
        path.unlink(missing_ok=True)
    note = f"The run before ({names}) was killed. Its lock on this folder is removed; "
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
