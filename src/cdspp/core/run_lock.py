"""Run locks: detect whether the run that locked a folder, or started a job, is alive.

Snakemake's locks contain paths but no process. Each run therefore keeps a file open,
the run lock, under a lock of the operating system that ends with the process. Jobs of a
killed run might end after a later run and replace its files, and code may be edited
before a job loads it. The run lock therefore stores the state of the code, and a job
checks it, and its inputs, before it writes a file.
"""

import atexit
import errno
import json
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
from cdspp.core.snakemake_internals import FOLDER, LOCKS

State = Mapping[str, tuple[int, int]]

RUNS = "cdspp-runs"  # folder of run locks
# Environment variables: the run lock, and whether the run must keep fits for which
# only code changed.
RUN, KEEP_FITS = "CDSPP_RUN", "CDSPP_KEEP_FITS"
UNKNOWN_RUN = "a run without a lock"
ORPHANED_JOBS_NOTE = (
    "Its jobs on a cluster may still run, and would be computed twice: squeue --me "
    "lists them, scancel ends them."
)
LOCK_NOTE = (
    "This folder is locked by {runs}, which may be active; this machine cannot check. "
    "Once it has ended, run cdspp run -- --unlock, then the same command again."
)


class RunLock(NamedTuple):
    """A run lock; `host` is empty if it is damaged, `lives` is None if unknown."""

    path: Path
    host: str
    process: int
    lives: bool | None
    started: float
    code: State
    command: str = ""  # that needs the folder for itself

    def __str__(self) -> str:
        """Name the run for the user."""
        return f"process {self.process} on {self.host}" if self.host else UNKNOWN_RUN


class OwnRunLock(NamedTuple):
    """The run lock of this process, while it is held; `note` is for the user."""

    stream: TextIO | None
    note: str
    path: Path | None = None


_run: RunLock | None = None  # the run to which this job belongs
# Inputs of the job: the location of each file on its disk, and its digest.
_inputs: dict[str, tuple[tuple[int, ...] | None, str]] = {}


def require_posix() -> None:
    """Raise ConfigError on systems where fits can run but studies cannot."""
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

    Raises OSError if the system or the file system lacks such locks, and
    BlockingIOError if another process holds the lock, unless the call may `wait`.
    """
    try:
        import fcntl
    except ImportError as error:
        raise OSError(errno.ENOLCK, f"{sys.platform} has no such locks") from error
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(stream, kind if wait else kind | fcntl.LOCK_NB)


def lock_run(
    folder: PathLike = FOLDER, code: State | None = None, *, command: str = ""
) -> OwnRunLock:
    """Lock Snakemake's folder for this process; remove locks of killed runs.

    A `command` needs the folder for itself. ConfigError: it would share the folder with
    a run, or this run with it.
    """
    folder = Path(folder).absolute()
    run_locks = folder / RUNS
    try:
        run_locks.mkdir(parents=True, exist_ok=True)
        with (run_locks / "guard").open("a") as guard:
            # Of two runs that start together, the second finds the lock of the first.
            lock_file(guard)
            note = _remove_stale(folder)
            _check_alone(folder, command)
            handle, name = tempfile.mkstemp(dir=run_locks, suffix=".json")
            stream = os.fdopen(handle, "w", encoding="utf-8")
            lock_file(stream)
            content = {"host": socket.gethostname(), "process": os.getpid()}
            json.dump({**content, "code": code or {}, "command": command}, stream)
            stream.flush()
            atexit.register(Path(name).unlink, missing_ok=True)
            return OwnRunLock(stream, note, Path(name))
    except OSError:  # some file systems lack locks
        _check_alone(folder, command)
        has_locks = any(folder.glob(LOCKS))
        return OwnRunLock(None, LOCK_NOTE.format(runs=UNKNOWN_RUN) if has_locks else "")


@contextmanager
def own_run(command: str, folder: PathLike = FOLDER) -> Iterator[str]:
    """Hold a run lock in the block, in which writes check the code as in a job.

    Yields the note of `lock_run`. ConfigError: another run may be active in the folder,
    or the code has changed.
    """
    global _run
    own = lock_run(folder, code_state(), command=command)
    try:
        _run = None if own.path is None else read_run_lock(own.path)
        yield own.note
    except StaleJobError as error:
        raise ConfigError(str(error)) from error
    finally:
        _run = None
        if own.stream is not None and own.path is not None:
            own.path.unlink(missing_ok=True)
            own.stream.close()


def read_run_locks(folder: PathLike = FOLDER) -> list[RunLock]:
    """Return the run locks in a folder, of active and of killed runs."""
    paths = sorted(Path(folder, RUNS).glob("*.json"))
    if not paths and any(Path(folder).glob(LOCKS)):  # the disk has no such locks
        return [RunLock(Path(folder, LOCKS), "", 0, None, 0.0, {})]
    return [lock for path in paths if (lock := read_run_lock(path))]


def read_run_lock(path: Path) -> RunLock | None:
    """Return the run lock in a file; None if its run has ended."""
    try:
        stream = path.open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with stream:
        is_free: bool | None = True
        try:
            lock_file(stream, wait=False, shared=True)
        except BlockingIOError:
            is_free = False
        except OSError:  # the disk has no such locks
            is_free = None
        try:
            content = json.load(stream)
        except ValueError:  # killed while writing
            content = {"host": "", "process": 0}
        started = os.fstat(stream.fileno()).st_mtime
    # A file system may restrict such locks to one machine.
    is_local = content["host"] == socket.gethostname()
    lives = True if is_free is False else False if is_free and is_local else None
    code = {file: tuple(state) for file, state in content.get("code", {}).items()}
    host, process, command = content["host"], content["process"], content.get("command")
    return RunLock(path, host, process, lives, started, code, command or "")


def code_state() -> State:
    """Return time and size of the files of this package and of modules of the run."""
    folder = f"{Path.cwd()}{os.sep}"
    files = {str(path) for path in Path(__file__).parents[1].rglob("*.py")}
    for file in _loaded_files():
        if file.startswith(folder) and not INSTALLED & {*Path(file).parts}:
            files.add(file)
    states = {file: _file_state(file) for file in sorted(files)}
    return {file: state[:2] for file, state in states.items() if state}


def export_run_lock(lock: OwnRunLock) -> None:
    """Export the lock to the jobs of this process, which then know their run."""
    if lock.path is None:
        os.environ.pop(RUN, None)
    else:
        os.environ[RUN] = str(lock.path)


def guard_job() -> None:
    """Identify this process as a job of the run that started it, if any; check it."""
    global _run
    if path := os.environ.get(RUN):
        _run = read_run_lock(Path(path)) or RunLock(Path(path), "", 0, False, 0.0, {})
        check_run()


@contextmanager
def guard_inputs(inputs: Iterable[PathLike]) -> Iterator[dict[str, str]]:
    """Refuse writes in the block once an input has changed; yield their digests."""
    for path in inputs:
        file = os.fspath(path)
        _inputs[file] = _file_state(file), file_digest(file)
    try:
        yield {file: digest for file, (_, digest) in _inputs.items()}
    finally:
        _inputs.clear()


def input_digest(path: PathLike) -> str:
    """Return the digest of a file; for an input, the digest when the job started."""
    _, digest = _inputs.get(os.fspath(path), (None, ""))
    return digest or file_digest(path)


def check_run() -> None:
    """Raise StaleJobError if the run, the code or an input has changed.

    A run on another machine counts as active while its run lock exists.
    """
    for file, (start_state, digest) in _inputs.items():
        state = _file_state(file)
        if state != start_state and (state is None or file_digest(file) != digest):
            fault = f"{file} was replaced while a job used it"
            end = "so the job ends without a result. Run the study again."
            raise StaleJobError(f"{fault}, {end}")
    if _run is None:
        return
    lock = read_run_lock(_run.path)
    if lock is None or lock.lives is False:
        problem = "the run that started this job has ended"
        raise StaleJobError(f"{problem}, so the job ends without a result.")
    for file in sorted(_loaded_files() & _run.code.keys()):
        start_state = _file_state(file)
        if start_state is None or start_state[:2] != _run.code[file]:
            fault = f"{file} has changed since the run began"
            result = "so it is unknown which code this job used"
            remedy = "Run the study again; existing files are kept."
            raise StaleJobError(f"{fault}, {result}. {remedy}")


def _check_alone(folder: Path, command: str) -> None:
    runs = [run for run in read_run_locks(folder) if run.lives is not False]
    if sole := [run for run in runs if run.lives and run.command]:
        fault = f"{sole[0].command} ({sole[0]}) has exclusive use of this folder"
        raise ConfigError(f"{fault}. Repeat this command in a few seconds.")
    if command and runs:
        names = ", ".join(map(str, runs))
        if any(run.lives is None for run in runs):
            raise ConfigError(LOCK_NOTE.format(runs=names))
        fault = f"a run is active in this folder and may need its files: {names}"
        raise ConfigError(f"{fault}. Repeat {command} once it has ended.")


def _remove_stale(folder: Path) -> str:
    locks, runs = [*folder.glob(LOCKS)], read_run_locks(folder)
    if active := [str(run) for run in runs if run.lives]:
        note = "Another run is active in this folder and holds its lock"
        return f"{note}: {', '.join(active)}." if locks else ""
    names = ", ".join(map(str, runs)) or UNKNOWN_RUN
    all_ended = bool(runs) and all(run.lives is False for run in runs)
    if locks and not all_ended:
        return LOCK_NOTE.format(runs=names)
    # A run on another machine may be about to take its locks.
    stale = [r.path for r in runs if r.lives is False or r.started < time.time() - 3600]
    for path in (*locks, *stale):
        path.unlink(missing_ok=True)
    note = f"The previous run ({names}) was killed. Its lock on this folder is removed"
    return f"{note}; existing files are kept." if locks else ""


def _loaded_files() -> set[str]:
    modules = list(sys.modules.values())
    return {str(file) for m in modules if (file := getattr(m, "__file__", None))}


def _file_state(file: str) -> tuple[int, int, int, int] | None:
    """Return attributes that a replaced file cannot keep; None if it is gone."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino
