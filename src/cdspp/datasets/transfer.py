"""One transfer over the web: attempts, limits, progress, and faults in words."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.faults import tell_fault
from cdspp.core.provenance import versions

__all__ = ["NotThereError", "download"]

log = logging.getLogger(__name__)

ATTEMPTS = 3
PAUSE = 2.0  # seconds after the first attempt; twice that after the second
TIMEOUT = (20.0, 60.0)  # seconds to connect, and between two pieces of the content
REPORT_EVERY = 10.0  # seconds between two lines of progress
CHUNK = MIB = 1 << 20
MOST_BYTES = 20 << 30  # of a file whose size is not known
# A transfer below so many bytes a second over so many seconds is given up.
LEAST_SPEED, SLOW_FOR = 1000, 60.0


class NotThereError(DataError):
    """A place does not have the file; nothing else is wrong with the place."""


def download(url: str, path: Path, name: str, size: int | None = None) -> None:
    """Write the content of an http(s) address to `path`, in three attempts at most.

    The log calls the file `name`. It has `size` bytes, or `MOST_BYTES` at most where
    that is not known; on failure `path` may hold a part. NotThereError says that the
    server does not have it (404), another DataError that it is too long, or the
    transfer too slow, or what else went wrong; errors of writing are those of
    `cdspp.core.faults.tell_fault`.
    """
    from urllib3.exceptions import HTTPError

    for attempt in range(1, ATTEMPTS + 1):
        try:
            _transfer(url, path, name, size)
            return
        except DataError:
            raise
        except (OSError, ValueError, HTTPError) as error:  # of requests, addresses
            if isinstance(error, OSError):
                tell_fault(error, path)
            reason, passing = _explain(error)
            if not passing or attempt == ATTEMPTS:
                raise reason from error
        log.info("%s: %s Attempt %d of %d failed.", name, reason, attempt, ATTEMPTS)
        time.sleep(PAUSE * attempt)


def _transfer(url: str, path: Path, name: str, size: int | None) -> None:
    import requests

    def no_body(response: requests.Response, **_: Any) -> None:
        if response.is_redirect:  # requests would read it, however long
            response.close()

    # Some servers announce .tar.gz as an encoding, which would then be undone.
    version = versions().get("cdspp", "")
    headers = {"User-Agent": f"cdspp/{version}", "Accept-Encoding": "identity"}
    response = requests.get(
        url, headers=headers, timeout=TIMEOUT, stream=True, hooks={"response": no_body}
    )
    with response, path.open("wb") as stream:
        response.raise_for_status()
        stated = response.headers.get("Content-Length", "0").strip()
        if not (stated.isascii() and stated.isdigit()):
            raise DataError(
                f"the server says Content-Length: {stated!r}, expected a number of "
                "bytes."
            )
        progress = _Progress(name, size, int(stated))
        # What has arrived, at once: a block of fixed size may take a slow server hours.
        while block := response.raw.read1(CHUNK, decode_content=False):
            progress.add(len(block))
            stream.write(block)


def _explain(error: Exception) -> tuple[DataError, bool]:
    """Return a fault of a transfer in words, and whether it may pass."""
    import requests
    import urllib3

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = error.response.status_code
        passing = status >= 500 or status in (408, 429)
        kind = NotThereError if status == 404 else DataError
        return kind(f"the server says {status} {error.response.reason}."), passing
    if isinstance(error, requests.Timeout):
        return DataError("no answer in time."), True
    if isinstance(error, urllib3.exceptions.HTTPError):
        return DataError("the transfer broke off."), True
    if isinstance(error, requests.ConnectionError):
        cause = getattr(error.args[0], "reason", error) if error.args else error
        return DataError(f"the connection failed ({cause})."), True
    return DataError(f"cannot be fetched ({error})."), False


class _Progress:
    """Logs progress now and then, and ends a transfer that is too long or too slow."""

    def __init__(self, name: str, size: int | None, stated: int) -> None:
        self.name, self.size = name, size
        self.total = size or stated
        self.done = self.done_before = 0
        self.reported = self.began = time.monotonic()

    def add(self, n: int) -> None:
        self.done += n
        now = time.monotonic()
        if self.done > (self.size or MOST_BYTES):
            limit = f"{MOST_BYTES / 2**30:.3g} GiB, the most of a file of unknown size"
            expected = f"{self.size} bytes" if self.size else limit
            raise DataError(f"expected {expected}, got more.")
        if now - self.began >= SLOW_FOR:
            if self.done - self.done_before < LEAST_SPEED * SLOW_FOR:
                speed = f"{LEAST_SPEED} bytes a second over {SLOW_FOR:g} s"
                raise DataError(f"the transfer is slower than {speed}.")
            self.began, self.done_before = now, self.done
        if now - self.reported >= REPORT_EVERY:
            self.reported = now
            whole = f" of {self.total / MIB:.1f}" if self.total else ""
            share = f" ({self.done / self.total:.0%})" if self.total else ""
            log.info("%s: %.1f%s MiB%s", self.name, self.done / MIB, whole, share)
