"""Published files: fetched completely and verified, or not at all."""

from __future__ import annotations

import codecs
import glob
import hashlib
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from cdspp.core.errors import (
    OFFLINE,
    ChecksumError,
    DataError,
    problems_text,
    raise_write_error,
    write_errors,
)
from cdspp.core.outputs import atomic
from cdspp.core.provenance import versions
from cdspp.datasets.catalogue import refuse_unknown_keys

Check = Callable[[Path], object]

log = logging.getLogger(__name__)

NAME_FOLDER = (
    "name FOLDER in `cdspp fetch --mirror FOLDER`, in the key `mirror` of the study, "
    "or in the variable CDSPP_MIRROR"
)
KEPT = "found on disk"  # origin of a file that was not fetched
ATTEMPTS = 3
PAUSE = 2.0  # seconds after the first attempt; twice that after the second
TIMEOUT = (20.0, 60.0)  # seconds to connect, and to wait for more content
REPORT_EVERY = 10.0  # seconds between two lines of progress
MIB = 1 << 20
MOST_BYTES = 20 << 30  # limit for files of unknown size
# A slower transfer (bytes per second) over this time (seconds) is aborted.
LEAST_SPEED, SLOW_FOR = 1000, 60.0

# Number of hexadecimal digits of each kind of digest in a catalogue.
DIGESTS = {"sha256": 64, "md5": 32, "git_blob": 40, "sha256_prefix": 8}
# How content begins that is no data, after any comments of a page.
NO_DATA = {
    r"<(!doctype html|html|head|body|title|meta|script)\b|<!--": (
        "an HTML page, perhaps a quota or login page"
    ),
    "version https://git-lfs": "a Git LFS pointer, which only names the file",
}
OPENING = 1 << 16  # bytes to search for these
BEFORE_PAGE = re.compile(r"\A(\s|<\?xml.*?\?>|<!--.*?-->)*", re.DOTALL)


class UnreachableError(DataError):
    """No server could be reached, as on a machine without a network."""


@dataclass(frozen=True)
class RemoteFile:
    """A published file: its addresses, and checks of its content.

    It is stored under the relative path `name`; a mirror may use another. `git_blob` is
    git's name for the content, `sha256_prefix` the first eight digits, as in the names
    of torchvision's weights.
    """

    name: str
    urls: tuple[str, ...] = ()
    mirror: str | None = None
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None
    git_blob: str | None = None
    sha256_prefix: str | None = None

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> RemoteFile:
        """Create one from the mapping in a catalogue; DataError names a fault."""
        if not isinstance(entry, Mapping) or not (name := entry.get("name")):
            raise DataError(f"expected a file with a name, got {entry!r}.")
        refuse_unknown_keys(entry, [f.name for f in fields(cls)], f"file {name}: ")
        file = cls(**{**entry, "urls": tuple(entry.get("urls", ()))})
        if fault := _fault(file):
            raise DataError(f"file {file.name}: {fault}.")
        return file

    @property
    def mirror_path(self) -> str:
        """Path relative to a mirror."""
        return self.mirror or self.name

    @property
    def digests(self) -> dict[str, str]:
        """The known digests, by kind; any of them pins the file."""
        digests = {kind: getattr(self, kind) for kind in DIGESTS}
        return {kind: value for kind, value in digests.items() if value is not None}


def _fault(file: RemoteFile) -> str | None:
    for path in (file.name, file.mirror_path):
        parts = PurePosixPath(path).parts
        if path.startswith("/") or ".." in parts or not parts:
            return f"{path!r} must be a relative path without '..'"
    if not {urlsplit(url).scheme for url in file.urls} <= {"http", "https", "file"}:
        return f"urls must be http, https or file addresses, got {file.urls}"
    if file.size is not None and (type(file.size) is not int or file.size < 1):
        return f"size must be a positive number of bytes, got {file.size!r}"
    for kind, value in file.digests.items():
        form = rf"[0-9a-f]{{{DIGESTS[kind]}}}"
        if not isinstance(value, str) or not re.fullmatch(form, value):
            expected = f"{DIGESTS[kind]} hexadecimal digits in quotes"
            return f"{kind} must be {expected}, got {value!r}"
    return None


def digest_of(path: Path, kind: str) -> str:
    """Return the digest of a file, of a kind in `DIGESTS`."""
    if kind == "git_blob":
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    else:
        digest = hashlib.new(kind.removesuffix("_prefix"), usedforsecurity=False)
    with path.open("rb") as stream:
        hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()[: DIGESTS[kind]]


def verify_file(path: Path, file: RemoteFile) -> None:
    """Raise ChecksumError unless `path` passes all known checks of `file`."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(256)
        wide = start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        if wide or start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            start += stream.read(OPENING)
    text = start.decode("utf-16" if wide else "utf-8-sig", errors="replace").lower()
    text = BEFORE_PAGE.sub("", text, count=1)
    for pattern, description in NO_DATA.items():
        if re.match(pattern, text):
            raise ChecksumError(f"{file.name}: got {description}.")
    if size != (file.size or size) or not size:
        expected = f"{file.size} bytes" if file.size else "data"
        raise ChecksumError(f"{file.name}: expected {expected}, got {size} bytes.")
    for kind, expected in file.digests.items():
        if (digest := digest_of(path, kind)) != expected:
            message = f"{file.name}: expected {kind} {expected}"
            raise ChecksumError(f"{message}, got {digest}.")


def fetch_file(
    file: RemoteFile, path: Path, mirror: str | None = None, accept: Check | None = None
) -> str:
    """Put a published file at `path`; return its origin.

    An existing file that verifies is kept (the origin is `KEPT`). Otherwise the mirror
    (a folder or web address) and the addresses are tried in order; DataError lists
    them, with reasons. `accept` raises DataError to refuse a file that verifies.
    """

    def check(candidate: Path) -> None:
        verify_file(candidate, file)
        if accept is not None:
            accept(candidate)

    with write_errors(path), file_lock(path) as has_lock:
        if has_lock:
            for leftover in path.parent.glob(f".{glob.escape(path.name)}.*"):
                leftover.unlink()  # left by a killed run
        origin = ""
        if path.is_file():
            try:
                check(path)
                origin = KEPT
            except DataError as error:
                log.warning("%s Fetching it again.", error)
                path.unlink()
        origin = origin or _fetch_first(file, mirror, path, check)
        if not file.digests:
            note = "%s: no digest pins this file, whose sha256 is %s"
            log.warning(note, file.name, digest_of(path, "sha256"))
        return origin


def _fetch_first(file: RemoteFile, mirror: str | None, path: Path, check: Check) -> str:
    reasons, is_offline = [], bool(file.urls)
    for location, origin in _sources(file, mirror):
        try:
            with atomic(path) as temporary:
                if isinstance(location, Path):
                    _copy(location, temporary)
                else:
                    _download(location, temporary, file.name, file.size)
                check(temporary)
            log.info("%s: from %s", file.name, origin)
            return origin
        except DataError as error:
            reasons.append(f"{location}: {error}")
            unreachable = isinstance(error, UnreachableError)
            log.warning("%s: %s", file.name, error if unreachable else reasons[-1])
            missing = isinstance(location, Path) and not location.exists()
            is_offline &= missing or unreachable
    if is_offline:
        addresses = ", ".join(file.urls)
        raise UnreachableError(f"{file.name}: {OFFLINE} ({addresses}).")
    reasons = reasons or ["the catalogue gives no address"]
    remedy = f"Download it by hand to FOLDER/{file.mirror_path}, and {NAME_FOLDER}."
    raise DataError(
        f"{problems_text(f'{file.name} could not be fetched', reasons)}\n{remedy}"
    )


def _copy(location: Path, path: Path) -> None:
    try:
        shutil.copyfile(location, path)
    except OSError as error:
        raise_write_error(error, path)
        raise DataError(f"cannot be read ({error}).") from error


def _sources(file: RemoteFile, mirror: str | None) -> Iterator[tuple[Path | str, str]]:
    if mirror:
        yield _location(mirror, file.mirror_path), f"mirror:{file.mirror_path}"
    for url in file.urls:
        location = _location(url)
        local = isinstance(location, Path)
        yield location, f"file:{PurePosixPath(url).name}" if local else url


def _location(root: str, path: str = "") -> Path | str:
    """Return the location of a path below a folder or an address."""
    parts = urlsplit(root)
    if parts.scheme in ("http", "https"):
        return f"{root.rstrip('/')}/{quote(path)}" if path else root
    if parts.scheme == "file":
        from urllib.request import url2pathname  # slow to import

        root = url2pathname(parts.path)
    return Path(root).expanduser() / path


def in_mirror(file: RemoteFile, mirror: str | None) -> bool:
    """Return whether `mirror` is a folder that has the file."""
    location = _location(mirror, file.mirror_path) if mirror else None
    return isinstance(location, Path) and location.is_file()


@contextmanager
def file_lock(path: Path) -> Iterator[bool]:
    """Lock `path` by a file next to it; yield False if the disk has no locks."""
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f".lock.{path.name}"), fallback_to_soft=False)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            log.info("%s: another run is fetching it; waiting.", path.name)
            lock.acquire()
    try:
        yield lock.is_locked
    finally:
        if lock.is_locked:
            with suppress(OSError):  # Windows cannot remove open files
                os.unlink(lock.lock_file)
            lock.release()


def _download(url: str, path: Path, name: str, size: int | None) -> None:
    """Write the content of a web address to `path`; a failure may leave a part."""
    from urllib3.exceptions import HTTPError

    for attempt in range(1, ATTEMPTS + 1):
        try:
            _transfer(url, path, name, size)
            return
        except DataError:
            raise
        except (OSError, ValueError, HTTPError) as error:  # from requests, addresses
            if isinstance(error, OSError):
                raise_write_error(error, path)
            reason, retry = _explain(error)
            if not retry or attempt == ATTEMPTS:
                raise reason from error
        if not isinstance(reason, UnreachableError):
            log.info("%s: %s Attempt %d of %d.", name, reason, attempt, ATTEMPTS)
        time.sleep(PAUSE * attempt)


def _transfer(url: str, path: Path, name: str, size: int | None) -> None:
    import requests

    def no_body(response: requests.Response, **_: Any) -> None:
        if response.is_redirect:  # otherwise, requests would read a body of any length
            response.close()

    # Some servers declare .tar.gz as an encoding, which would then be undone.
    version = versions().get("cdspp", "")
    headers = {"User-Agent": f"cdspp/{version}", "Accept-Encoding": "identity"}
    response = requests.get(
        url, headers=headers, timeout=TIMEOUT, stream=True, hooks={"response": no_body}
    )
    with response, path.open("wb") as stream:
        response.raise_for_status()
        status, length = response.status_code, response.headers.get("Content-Length")
        if status != requests.codes.ok:
            raise DataError(f"the server says {status} {response.reason}, not 200 OK.")
        if length is not None and not (length.isascii() and length.isdecimal()):
            raise DataError(f"the server states the length {length!r} of the file.")
        # Read bytes as they arrive: a slow server may take hours for a full block.
        blocks = iter(partial(response.raw.read1, MIB, decode_content=False), b"")
        for block in _limited(blocks, name, size, size or int(length or 0)):
            stream.write(block)


def _explain(error: Exception) -> tuple[DataError, bool]:
    """Return the error for a failed transfer, and whether it may be temporary."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = error.response.status_code
        retry = status >= 500 or status in (408, 429)
        return DataError(f"the server says {status} {error.response.reason}."), retry
    failures = requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError
    if isinstance(error, failures):
        cause = getattr(error.args[0], "reason", error) if error.args else error
        before = urllib3.exceptions.ConnectTimeoutError, urllib3.exceptions.ProxyError
        kind = UnreachableError if isinstance(cause, before) else DataError
        cause = getattr(cause, "original_error", cause)  # of a proxy
        reason = str(cause).rpartition("): ")[2].rstrip(".")  # without the connection
        return kind(f"the connection failed ({reason})."), True
    return DataError(f"cannot be fetched ({error})."), False


def _limited(
    blocks: Iterable[bytes], name: str, size: int | None, total: int
) -> Iterator[bytes]:
    """Yield blocks; log progress, and end a transfer that is too large or too slow."""
    count = count_before = 0
    report_time = window_start = time.monotonic()
    for block in blocks:
        count += len(block)
        now = time.monotonic()
        if count > (size or MOST_BYTES):
            raise DataError(f"expected {size or MOST_BYTES} bytes at most, got more.")
        if now - window_start >= SLOW_FOR:
            if count - count_before < LEAST_SPEED * SLOW_FOR:
                speed = f"{LEAST_SPEED} bytes per second over {SLOW_FOR:g} s"
                raise DataError(f"the transfer is slower than {speed}.")
            window_start, count_before = now, count
        if now - report_time >= REPORT_EVERY:
            report_time = now
            share = f" of {total / MIB:.1f} MiB ({count / total:.0%})" if total else ""
            log.info("%s: %.1f MiB%s", name, count / MIB, share)
        yield block
