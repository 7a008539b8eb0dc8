"""Faults of the machine in words: no space, no permission, no memory."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cdspp.core.errors import (
    ConfigError,
    DataError,
    DiskFullError,
    NotWritableError,
    StaleJobError,
)

__all__ = [
    "USER_ERRORS",
    "brief",
    "crash_words",
    "job_words",
    "memory_words",
    "out_of_memory",
    "stops_job",
    "tell_fault",
    "writing_told",
]

# Each says on one line what is wrong, where, and what to do.
USER_ERRORS = (ConfigError, DataError, DiskFullError, NotWritableError, StaleJobError)

_FULL = (errno.ENOSPC, errno.EDQUOT)
_PERMIT = "Allow it (chmod, chown) or choose another folder, and run again."
_REFUSED = {
    errno.EACCES: _PERMIT,
    errno.EPERM: _PERMIT,
    errno.EROFS: "Choose a folder on another disk, and run again.",
}
# These may come of a bad archive as well, and mean this only where one file is written.
_OTHER = {
    errno.EEXIST: "A file is in the way: move it, and run again.",
    errno.ENOTDIR: "A file is in the way: move it, and run again.",
    errno.EISDIR: "A folder is in the way: move it, and run again.",
    errno.ENAMETOOLONG: "Shorten the name, and run again.",
    errno.EFBIG: "Raise the limit of a file's size, and run again.",
    errno.EIO: "Look after the disk, or choose another, and run again.",
}
_MORE_MEMORY = (
    "Give the job more (its resource mem_mb, or fewer jobs at a time), or take fewer "
    "rows or features, or another method. The log has the details."
)
_NO_MEMORY = "can't allocate memory"  # what torch says without a class of its own


@contextmanager
def writing_told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what keeps the block from writing `path` into one line that names it.

    Raises
    ------
    DiskFullError
        The disk that is to hold `path` is full, or a quota is used up.
    NotWritableError
        `path` cannot be written for another reason, such as permissions.
    """
    try:
        yield
    except OSError as error:
        tell_fault(error, path)
        if error.errno in _OTHER and _concerns(error, Path(path).parent):
            raise _not_writable(error, path, _OTHER) from error
        raise


def tell_fault(error: OSError, path: str | os.PathLike[str]) -> None:
    """Raise the error that says in words why `path` cannot be written, if it says that.

    Parameters
    ----------
    error : OSError
        What came. One that names a file outside the folder of `path` is of reading.
    path : path
        What was to be written.

    Raises
    ------
    DiskFullError, NotWritableError
        As of `writing_told`.
    """
    folder = Path(path).parent
    if error.errno in _FULL:
        message = f"{folder}: no space left on this disk ({os.strerror(error.errno)})."
        raise DiskFullError(f"{message} Make room and run again.") from error
    if error.errno in _REFUSED and _concerns(error, folder):
        raise _not_writable(error, path, _REFUSED) from error


def _not_writable(
    error: OSError, path: str | os.PathLike[str], remedies: Mapping[Any, str]
) -> NotWritableError:
    number = error.errno or 0
    message = f"{path}: cannot be written ({os.strerror(number)})."
    return NotWritableError(f"{message} {remedies[number]}")


def _concerns(error: OSError, folder: Path) -> bool:
    """Whether an error names nothing, the folder, what is in it or what holds it."""
    if not isinstance(error.filename, str | os.PathLike):
        return True
    named, whole = Path(error.filename).absolute(), folder.absolute()
    return named.is_relative_to(whole) or whole.is_relative_to(named)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, in Python, NumPy, Arrow or torch."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and _NO_MEMORY in str(error))
    )


def stops_job(error: Exception) -> bool:
    """Whether an error that a method met is of the input or the machine.

    Such are memory, files, missing packages, and what says by itself what to do: the
    next method would meet them too.
    """
    others = (*USER_ERRORS, OSError, ImportError)
    return out_of_memory(error) or isinstance(error, others)


def crash_words(error: Exception) -> str:
    """Return on one line what a crash says, and the line of code where it happened.

    Examples
    --------
    >>> crash_words(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    said = brief(error)
    text = ": ".join(filter(None, [type(error).__name__, said]))
    for last in traceback.extract_tb(error.__traceback__)[-1:]:
        text += f" ({Path(last.filename).name}, line {last.lineno}: {last.line})"
    return text


def brief(error: BaseException) -> str:
    """Return what an error says, on one line of 200 letters at most."""
    return " ".join(str(error).split())[:200].rstrip(".")


def memory_words(error: BaseException) -> str:
    """Return what an error says of the memory that was missing, on one line.

    Examples
    --------
    >>> memory_words(MemoryError("Unable to allocate 7 GiB"))
    'out of memory (Unable to allocate 7 GiB).'
    """
    said = brief(error)
    return f"out of memory ({said})." if said else "out of memory."


def job_words(error: BaseException, log_file: str | os.PathLike[str]) -> str:
    """Return on one line which fault of the machine ended a job; empty where none did.

    Parameters
    ----------
    error : BaseException
        What came, other than an error that says by itself what to do.
    log_file : path
        Log of the job, by which it is named: its folders are study and stage.
    """
    if out_of_memory(error):
        return f"MemoryError: {log_file}: {memory_words(error)} {_MORE_MEMORY}"
    if not isinstance(error, OSError) or error.errno not in {*_FULL, *_REFUSED}:
        return ""
    where = error.filename or f"the job of {log_file}"
    remedy = _REFUSED.get(error.errno, "Make room and run again.")
    return f"{type(error).__name__}: {where}: {os.strerror(error.errno)}. {remedy}"
