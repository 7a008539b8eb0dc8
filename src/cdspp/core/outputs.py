"""The one way in which files are written: whole or not at all, where a file may be.

A job replaces its outputs. A command replaces by ``--force`` alone, which is decided
when it writes, and puts all its outputs in place or none.
"""

import glob
import os
import secrets
import socket
import stat
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from cdspp.core.errors import NotWritableError, write_errors
from cdspp.core.names import PathLike
from cdspp.core.run_lock import check_run, lock_file

HOST = f"{zlib.crc32(socket.gethostname().encode()):08x}"
A_MOMENT, A_DAY = 1.0, 86400.0  # seconds; a writer locks its new file sooner


@contextmanager
def atomic(file: PathLike) -> Iterator[Path]:
    """Yield a temporary path next to a file; rename it to that file on success.

    The file keeps its mode; that of a new file is by the umask. Inside `together`, the
    file waits for the others. Raises the errors of `write_errors`, and StaleJobError in
    a job whose run has ended.
    """
    target, group = Path(file), _group.get()
    if group is not None and not group.has(target):
        group = None
    # A link stays, so that both names have the new content.
    if target.is_symlink() and (group is None or group.replace):
        target = target.resolve()
    with write_errors(target), ExitStack() as stack:
        new = stack.enter_context(_new_file(target))
        yield new.temporary
        check_run()
        if (mode := mode_of(target)) is not None:
            new.temporary.chmod(mode)
        if group is None:
            _put_all([new], replace=True)
        else:
            group.files.append(new)
            group.stack.enter_context(stack.pop_all())


@contextmanager
def together(outputs: Iterable[PathLike | None], *, replace: bool) -> Iterator[None]:
    """Put the files of the block, at or below `outputs`, in place at its end, or none.

    Without `replace`, NotWritableError if any of them exists by then.
    """
    with ExitStack() as stack:
        group = _Group({Path(path) for path in outputs if path}, replace, stack)
        token = _group.set(group)
        try:
            yield
        finally:
            _group.reset(token)
        _put_all(group.files, replace=replace)


@dataclass(frozen=True)
class _NewFile:
    """A complete file under a temporary name, and the place that it will take."""

    temporary: Path
    target: Path

    def link(self, undo: ExitStack) -> None:
        """Take a place that must be free."""
        try:
            try:
                os.link(self.temporary, self.target)
            except FileExistsError:
                raise
            except OSError:  # this file system has no links
                self.target.open("x").close()
        except FileExistsError as error:
            raise NotWritableError(exists_text(self.target)) from error
        undo.callback(self.target.unlink)
        self.temporary.replace(self.target)  # without effect after a link

    def back_up(self, undo: ExitStack, backups: ExitStack) -> None:
        """Keep the file in the place under another name."""
        if not self.target.exists():
            undo.callback(self.target.unlink, missing_ok=True)
            return
        old = self.temporary.with_name(f"{self.temporary.name}-old")
        try:
            os.link(self.target, old)
        except OSError:
            self.target.rename(old)
        backups.callback(old.unlink, missing_ok=True)
        undo.callback(old.replace, self.target)


@dataclass(frozen=True)
class _Group:
    """The complete files of a block of `together`, and their removal."""

    outputs: Collection[Path]
    replace: bool
    stack: ExitStack
    files: list[_NewFile] = field(default_factory=list)

    def has(self, path: Path) -> bool:
        return any(path.is_relative_to(output) for output in self.outputs)


_group: ContextVar[_Group | None] = ContextVar("group", default=None)


def _put_all(files: Sequence[_NewFile], *, replace: bool) -> None:
    """Put complete files in place: all, or none if one of them fails."""
    with ExitStack() as backups, ExitStack() as undo:
        for new in files:
            with write_errors(new.target):
                if not replace:
                    new.link(undo)
                    continue
                if new is not files[-1]:
                    new.back_up(undo, backups)
                new.temporary.replace(new.target)
        undo.pop_all()


@contextmanager
def _new_file(target: Path) -> Iterator[_NewFile]:
    """Create a temporary file, locked where possible; remove it at the end.

    Those without a lock, whose writers were killed, are removed, too.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for path in target.parent.glob(f".{glob.escape(target.name)}.cdspp-????????-*"):
        # Locks of another machine may be invisible here, so wait a day.
        min_age = A_MOMENT if f".cdspp-{HOST}-" in path.name else A_DAY
        with suppress(OSError), path.open("r+b") as stream:
            lock_file(stream, wait=False)
            if time.time() - path.stat().st_mtime > min_age:
                path.unlink()
    name = f".{target.name}.cdspp-{HOST}-{secrets.token_hex(4)}{target.suffix}"
    temporary, mode = target.with_name(name), mode_of(target)
    # No one may read the new content who could not read the old one.
    mode = 0o666 if mode is None else mode & 0o777 | stat.S_IWUSR
    with ExitStack() as stack:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        closing = stack.enter_context(os.fdopen(handle, "r+b"))
        stack.callback(temporary.unlink, missing_ok=True)
        try:
            lock_file(closing)
        except OSError:  # the lock is unneeded; Windows cannot rename open files
            closing.close()
        yield _NewFile(temporary, target)


def mode_of(path: PathLike) -> int | None:
    """Return the mode of the file at a path, or None if there is none.

    NotWritableError: it is a device, a pipe or a socket, which stays as it is.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return stat.S_IMODE(mode)
    fault = "expected a file to write, got a device, pipe or socket"
    raise NotWritableError(f"{path}: {fault}. Choose another name.")


def exists_text(path: PathLike) -> str:
    """Return the message on a file that a command may replace only with --force."""
    return f"{path} already exists. Choose another name, or overwrite it with --force."
