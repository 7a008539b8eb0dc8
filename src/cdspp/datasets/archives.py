"""Safe extraction of members from tar and zip archives that are not trusted."""

import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from cdspp.core.errors import DataError, raise_write_error

Placement = Callable[[str], str | None]

CHUNK = 1 << 20
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
# Errors of the standard library for bytes that are no archive, or a damaged one: a
# RuntimeError means an encrypted member or an unknown compression of a zip archive, a
# ValueError a name that no file can have.
FORMAT_ERRORS = (lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error)
DAMAGE_ERRORS = (OSError, EOFError, RuntimeError, ValueError, *FORMAT_ERRORS)


def matches(path: str, pattern: str) -> bool:
    """Return whether a member's path matches `pattern`.

    ``*`` matches anything, including slashes, and ``*/`` at the start also nothing.
    """
    return fnmatchcase(path, pattern) or fnmatchcase(f"/{path}", pattern)


# A member other than a folder: its path, whether it is a file, and its opener.
_Member = tuple[str, bool, Callable[[], IO[bytes] | None]]


def extract(
    archive: Path, folder: Path, placement: Placement, max_bytes: int, *, name: str
) -> dict[str, str]:
    """Extract members of a zip or tar archive; return their paths by path in `folder`.

    `placement` maps a member's path to its path below `folder`, or None to skip it; the
    files replace `folder` as a whole. The archive, `name` in messages, is read to its
    end, so that any damage is noticed; resource forks of macOS (``._*``) are skipped.

    DataError: the archive is damaged, exceeds `max_bytes`, or a wanted member is no
    file, points outside the folder or occurs twice. No file is left then.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{folder.name}."
    try:
        with tempfile.TemporaryDirectory(prefix=prefix, dir=folder.parent) as parent:
            members = Path(parent, "members")
            members.mkdir()
            sources = _extract_into(members, archive, name, placement, max_bytes)
            shutil.rmtree(folder, ignore_errors=True)
            members.rename(folder)
            return sources
    except DataError:
        raise
    except DAMAGE_ERRORS as error:
        if isinstance(error, OSError):
            raise_write_error(error, folder)
        raise _damage_error(name, error) from error


def _damage_error(name: str, error: Exception) -> DataError:
    """Return the error for an unreadable archive, for one of the `DAMAGE_ERRORS`."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"{name}: no such file.")
    reason = (str(error) or type(error).__name__).splitlines()[0]
    message = f"{name}: damaged, or not a tar or zip archive ({reason})"
    return DataError(f"{message}. Download it again.")


def _extract_into(
    folder: Path, archive: Path, name: str, placement: Placement, max_bytes: int
) -> dict[str, str]:
    sources: dict[str, str] = {}
    space = max_bytes
    with archive.open("rb") as stream:
        members = _zip_members if stream.read(4) in ZIP_STARTS else _tar_members
    for path, is_file, open_member in members(archive):
        place = placement(path)
        if place is None or PurePosixPath(path).name.startswith("._"):
            continue
        if fault := _fault(path, is_file, place, sources):
            raise DataError(f"{name}: the member {path!r} {fault}.")
        sources[place] = path
        content = open_member()
        assert content is not None  # None only if it is no file
        space -= _write(content, folder / place, space)
        if space < 0:
            message = f"{name}: holds more than the {max_bytes} bytes expected of it"
            raise DataError(f"{message}; stopped at the member {path!r}.")
    return sources


def _fault(path: str, is_file: bool, place: str, sources: dict[str, str]) -> str | None:
    if not is_file:
        return "is a link or a device, not a file"
    for candidate in map(PurePosixPath, (path, place)):
        if candidate.is_absolute() or ".." in candidate.parts:
            return "leads out of the folder"
    if place in sources:
        return f"would become {place}, as would {sources[place]!r}"
    return None


def _write(content: IO[bytes], path: Path, limit: int) -> int:
    """Write a member; return its length, or a number above `limit` if it is longer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    length = 0
    with content, path.open("xb") as stream:
        while block := content.read(CHUNK):
            length += len(block)
            if length > limit:
                break
            stream.write(block)
    return length


def _zip_members(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if not info.is_dir():
                is_file = kind in (0, stat.S_IFREG)  # 0 if written without Unix modes
                yield info.filename, is_file, partial(archive.open, info)


def _tar_members(path: Path) -> Iterator[_Member]:
    with tarfile.open(path, "r:*") as archive:
        for info in archive:
            if not info.isdir():
                name = info.name.removeprefix("./")
                yield name, info.isreg(), partial(archive.extractfile, info)
        # tarfile takes a broken or missing header for the end of the archive.
        assert archive.fileobj is not None
        archive.fileobj.seek(archive.offset)
        if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise tarfile.ReadError("its end is missing")
        while archive.fileobj.read(CHUNK):
            pass
