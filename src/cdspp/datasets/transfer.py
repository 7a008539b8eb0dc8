"""One transfer over the web: attempts, pauses, progress, and faults in words."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from cdspp.core.errors import DataError
from cdspp.core.faults import tell_fault
from cdspp.core.provenance import versions

__all__ = ["NotThereError", "download"]

log = logging.getLogger(__name__)

ATTEMPTS = 3
PAUSE = 2.0  # seconds after the first attempt; twice that after the second
TIMEOUT = (20.0, 60.0)  # seconds to connect, and between two pieces of the content
REPORT_EVERY = 5.0  # seconds between two lines of progress
CHUNK = MIB = 1 << 20


class NotThereError(DataError):
    """A place does not have the file; nothing else is wrong with the place."""


def download(url: str, path: Path, name: str) -> None:
    """Write what an http(s) address gives to `path`; passing faults are tried again.

    Parameters
    ----------
    url : str
        The address.
    path : Path
        File to write; on failure it may hold a part.
    name : str
        What the file is called in the log.

    Raises
    ------
    NotThereError
        The server does not have it (404).
    DataError
        It could not be had; the message says why.
    DiskFullError
        There is no space left.
    NotWritableError
        `path` cannot be written.
    """
    import pooch

    # Some servers announce .tar.gz as an encoding, which would then be undone.
    version = versions().get("cdspp", "")
    headers = {"User-Agent": f"cdspp/{version}", "Accept-Encoding": "identity"}
    for attempt in range(1, ATTEMPTS + 1):
        get = pooch.HTTPDownloader(
            progressbar=_Progress(name),
            chunk_size=CHUNK,
            timeout=TIMEOUT,
            headers=headers,
        )
        try:
            get(url, str(path), None)
            return
        except OSError as error:  # the base class of what requests raises, too
            tell_fault(error, path)
            reason, passing = _explain(error)
            if not passing or attempt == ATTEMPTS:
                raise reason from error
        log.info("%s: %s Attempt %d of %d failed.", name, reason, attempt, ATTEMPTS)
        time.sleep(PAUSE * attempt)


def _explain(error: OSError) -> tuple[DataError, bool]:
    """Return a fault of a transfer in words, and whether it may pass."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = error.response.status_code
        passing = status >= 500 or status in (408, 429)
        kind = NotThereError if status == 404 else DataError
        return kind(f"the server says {status} {error.response.reason}."), passing
    if isinstance(error, requests.Timeout):
        return DataError("no answer in time."), True
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return DataError("the transfer broke off."), True
    if isinstance(error, requests.ConnectionError):
        cause = getattr(error.args[0], "reason", error) if error.args else error
        return DataError(f"the connection failed ({cause})."), True
    return DataError(f"cannot be fetched ({error})."), False


class _Progress:
    """What pooch asks of a progress bar; writes a line to the log now and then."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.total = 0
        self.done = 0
        self.reported = time.monotonic()

    def update(self, n: int) -> None:
        self.done += n
        if time.monotonic() - self.reported >= REPORT_EVERY:
            self.reported = time.monotonic()
            whole = f" of {self.total / MIB:.1f}" if self.total else ""
            log.info("%s: %.1f%s MiB", self.name, self.done / MIB, whole)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        """Nothing to close."""
