"""Exceptions and warnings of the package, and messages for errors of the machine.

Each message names the object and the remedy.
"""

import errno
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from cdspp.core.names import PathLike
from cdspp.core.wording import counted

__all__ = [
    "BridgeWarning",
    "ChecksumError",
    "ClassWarning",
    "CollapseWarning",
    "ConfigError",
    "CostWarning",
    "DataError",
    "DiskFullError",
    "LabelWarning",
    "MethodFailed",
    "NoSourceWarning",
    "NotWritableError",
    "SchemaError",
    "StaleJobError",
    "UnitWarning",
]


class ConfigError(ValueError):
    """A configuration or an option is invalid; the message lists every fault."""


class DataError(ValueError):
    """A data file or table is missing, unreadable or malformed."""


class ChecksumError(DataError):
    """The content of a file differs from the published content."""


class SchemaError(ValueError):
    """Another version of the library wrote a file in a schema unknown to this one."""


class DiskFullError(Exception):
    """The disk is full, so downloading from another address would not help."""


class NotWritableError(Exception):
    """A file cannot be written at its path; the data are not at fault."""


class StaleJobError(Exception):
    """A job writes no result because its run has ended or its code has changed."""


# The smallest extra that installs a package needed by only some commands and methods.
EXTRAS = {
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib"), "report"),
    **dict.fromkeys(("PIL", "pyarrow", "yaml"), "report"),
    **dict.fromkeys(("torch", "torchvision"), "networks"),
    "cv2": "images",
    "ot": "transport",
    **dict.fromkeys(("safetensors", "skrub"), "tables"),
    **dict.fromkeys(("filelock", "jsonschema", "requests", "urllib3"), "workflow"),
}
# Each states on one line what is wrong, where, and what to do.
USER_ERRORS = (
    *(ConfigError, DataError, SchemaError),
    *(DiskFullError, NotWritableError, StaleJobError),
)


class MethodFailed(RuntimeError):
    """A method cannot fit this input; a study records the failure and continues."""


class BridgeWarning(UserWarning):
    """Shared columns or pairs are ignored, or probably do not match."""


class UnitWarning(BridgeWarning):
    """Shared columns probably have different units: their spreads differ widely."""


class LabelWarning(UserWarning):
    """Labels are usable but unexpected, such as a class in only one domain."""


class ClassWarning(LabelWarning):
    """Some classes are in only one domain."""


class NoSourceWarning(UserWarning):
    """A method that uses a source was fitted without one; raised once a process."""


class CostWarning(UserWarning):
    """The cost model expects a long fit, or one that needs more memory than is free."""


class CollapseWarning(UserWarning):
    """A degenerate fit: one class for nearly all rows, or rows nearly parallel."""


# What one fit of many says, which is reported once, or with all of them.
OF_ONE_FIT = (
    *(BridgeWarning, CollapseWarning, CostWarning, LabelWarning),
    NoSourceWarning,
)

OFFLINE = "no server can be reached"  # what a download says without a network
INTERRUPTED = 130  # the exit code of a program that SIGINT ends
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_PERMISSION_REMEDY = "Allow it (chmod, chown) or choose another folder, and run again."
_REFUSED = {
    errno.EACCES: _PERMISSION_REMEDY,
    errno.EPERM: _PERMISSION_REMEDY,
    errno.EROFS: "Choose a folder on another disk, and run again.",
}
# A damaged archive may also cause these, so they count only while one file is written.
_OBSTRUCTED = {
    errno.EEXIST: "A file is in the way: move it, and run again.",
    errno.ENOTDIR: "A file is in the way: move it, and run again.",
    errno.EISDIR: "A folder is in the way: move it, and run again.",
    errno.ENAMETOOLONG: "Shorten the name, and run again.",
    errno.EIO: "Check the disk, or choose another, and run again.",
}
_MORE_MEMORY = (
    "Give the job more (its resource mem_mb, or fewer jobs at a time), or use fewer "
    "rows or features, or another method. The log has the details."
)


def problems_text(place: str, problems: Sequence[str]) -> str:
    """Return one message: the place and the number of its problems, and a line each."""
    if len(problems) == 1:
        return f"{place}: {problems[0]}"
    lines = (text.replace("\n", "\n  ") for text in problems)
    return "\n  - ".join([f"{place}: {counted(len(problems), 'problem')}:", *lines])


def refusals(*checks: Callable[[], object], place: str = "") -> Iterator[str]:
    """Yield the messages of checks that fail, without the `place` at their start."""
    for check in checks:
        try:
            check()
        except DataError as error:
            yield str(error).removeprefix(f"{place}: ").replace(f" ({place})", "")


def install_hint(package: str, user: str, extra: str = "") -> str:
    """Return a message naming the extra that installs the package that `user` needs."""
    extra = f"cdspp[{extra or EXTRAS[package]}]"
    return f"{user} needs {package}, which is not installed: pip install '{extra}'"


@contextmanager
def write_errors(path: PathLike) -> Iterator[None]:
    """Turn an OSError in the block that writes `path` into one line that names it."""
    try:
        yield
    except OSError as error:
        raise_write_error(error, path, _REFUSED | _OBSTRUCTED)
        raise


def writing_fault(folder: PathLike) -> str:
    """Return why a folder does not accept a file of 1 MiB; empty if it does."""
    try:
        with write_errors(Path(folder, "file")), TemporaryFile(dir=folder) as stream:
            stream.write(bytes(1 << 20))
    except (OSError, DiskFullError, NotWritableError) as error:
        return str(error)
    return ""


def raise_write_error(
    error: OSError, path: PathLike, remedies: Mapping[int, str] = _REFUSED
) -> None:
    """Raise the error of `write_errors` if `error` explains why `path` is not written.

    An error that names a file outside the folder of `path` came from reading.
    """
    number, folder = error.errno or 0, Path(path).parent
    if number in _NO_SPACE:
        message = f"{folder}: no space left on this disk ({os.strerror(number)})."
        raise DiskFullError(f"{message} Make room and run again.") from error
    if number not in remedies:
        return
    if isinstance(error.filename, str | os.PathLike):
        file, root = Path(error.filename).absolute(), folder.absolute()
        if not (file.is_relative_to(root) or root.is_relative_to(file)):
            return
    message = f"{path}: cannot be written ({os.strerror(number)})."
    raise NotWritableError(f"{message} {remedies[number]}") from error


def out_of_memory(error: BaseException) -> bool:
    """Return whether Python, NumPy, Arrow or torch ran out of memory."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or type(error).__name__ == "OutOfMemoryError"
        # Errors of torch that have no class of their own.
        or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
    )


def stops_job(error: Exception) -> bool:
    """Return whether an error would stop every method, so that the job must end."""
    fatal_errors = (*USER_ERRORS, OSError, ImportError)
    return out_of_memory(error) or isinstance(error, fatal_errors)


def unexpected_error_text(error: Exception) -> str:
    """Return the message and line of code of an unexpected error, on one line."""
    text = ": ".join(filter(None, [type(error).__name__, short_message(error)]))
    for frame in traceback.extract_tb(error.__traceback__)[-1:]:
        text += f" ({Path(frame.filename).name}, line {frame.lineno}: {frame.line})"
    return text


def short_message(error: BaseException) -> str:
    """Return the message of an error, on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200].rstrip(".")


def out_of_memory_text(error: BaseException) -> str:
    """Return the message of an out-of-memory error, on one line."""
    message = short_message(error)
    return f"out of memory ({message})." if message else "out of memory."


def machine_fault_text(error: BaseException, log_file: PathLike) -> str:
    """Return the machine fault that ended a job; empty for other errors."""
    if out_of_memory(error):
        return f"MemoryError: {log_file}: {out_of_memory_text(error)} {_MORE_MEMORY}"
    if not isinstance(error, OSError) or error.errno not in {*_NO_SPACE, *_REFUSED}:
        return ""
    place = error.filename or f"the job of {log_file}"
    remedy = _REFUSED.get(error.errno, "Make room and run again.")
    return f"{type(error).__name__}: {place}: {os.strerror(error.errno)}. {remedy}"
