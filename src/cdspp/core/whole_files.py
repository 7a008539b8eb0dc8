"""Files that are whole: written under a temporary name and renamed; JSON and NPZ."""

from __future__ import annotations

import fcntl
import glob
import json
import os
import socket
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.faults import write_errors
from cdspp.core.names import PathLike
from cdspp.core.run_marks import check_run

# Errors at reading a file that is cut short, of another kind, or handmade.
BROKEN = (
    *(OSError, ValueError, TypeError, LookupError, EOFError),
    *(zlib.error, zipfile.BadZipFile, NotImplementedError),
)
ZIP = b"PK\x03\x04"  # how such a file opens
HOST = f"{zlib.crc32(socket.gethostname().encode()):08x}"
A_MOMENT, A_DAY = 1.0, 86400.0  # seconds: longer than a new file is without its lock


@contextmanager
def atomic(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` on success.

    What writers of `path` left that were killed is removed. Errors are those of
    `write_errors`, and StaleJobError in a job whose run has ended.
    """
    target = Path(path)
    with write_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_orphans(target)
        prefix, suffix = f".{target.name}.cdspp-{HOST}-", target.suffix
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=suffix)
        temporary = Path(name)
        with suppress(OSError):  # not every file system has such locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield temporary
            check_run()
            temporary.chmod(0o644)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(handle)


def _remove_orphans(target: Path) -> None:
    """Remove temporary files of a target whose writers were killed: no lock is on them.

    Locks of another machine may be unseen here, so that a day has to pass.
    """
    for path in target.parent.glob(f".{glob.escape(target.name)}.cdspp-????????-*"):
        least = A_MOMENT if f".cdspp-{HOST}-" in path.name else A_DAY
        with suppress(OSError), path.open("r+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - path.stat().st_mtime > least:
                path.unlink()


def same_file(path: PathLike, other: PathLike) -> bool:
    """Whether two paths lead to one file that is there, by a link or otherwise."""
    both = os.path.exists(path) and os.path.exists(other)
    return both and os.path.samefile(path, other)


def write_json(path: PathLike, value: Any) -> None:
    """Write a JSON file, keys sorted, for people to read."""
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path: PathLike) -> Any:
    """Read a JSON file; DataError where it is missing, damaged or something else."""
    what = "a JSON file"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, what, f"{error.strerror}") from error
    try:
        return json.loads(content)
    except ValueError as error:
        cut = content.startswith((b"{", b"["))
        wrong = f"it is damaged: {error}" if cut else _opening(content)
        raise unreadable(path, what, wrong) from error


def read_arrays(path: PathLike, what: str) -> dict[str, np.ndarray]:
    """Read all arrays of an NPZ file, or raise DataError: expected `what`, but ..."""
    check_opening(path, what, ZIP)
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except BROKEN as error:
        raise unreadable(path, what, f"it is damaged or foreign: {error}") from error


def check_opening(path: PathLike, what: str, opening: bytes) -> None:
    """Refuse a file that is missing, or no `what` by its first bytes (DataError)."""
    try:
        with Path(path).open("rb") as stream:
            found = stream.read(64)
    except OSError as error:
        raise unreadable(path, what, f"{error.strerror}") from error
    if not found.startswith(opening):
        raise unreadable(path, what, _opening(found))


def _opening(found: bytes) -> str:
    """Say what a file of another kind is, by its first bytes."""
    if not found:
        return "it is empty"
    if found.lstrip()[:5].lower() in (b"<!doc", b"<html", b"<head", b"<?xml"):
        return "it is a web page"
    return f"it begins with {found[:8]!r}"


def unreadable(path: PathLike, what: str, wrong: str, remedy: str = "") -> DataError:
    """Return the error of a file: the expected kind, the fault, the remedy."""
    again = "Delete it and run" if Path(path).exists() else "Run"
    remedy = remedy or f"{again} the study again, which makes it anew."
    return DataError(f"{path}: expected {what}, but {wrong.rstrip('.')}. {remedy}")
