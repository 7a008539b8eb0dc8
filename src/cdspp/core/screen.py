"""The exit of all text to a terminal or a log, where a foreign text steers nothing."""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from logging import LogRecord
from typing import Any, TextIO

from cdspp.core.wording import printable


class PrintableStream:
    """A text stream that escapes control characters, except ends of lines and tabs."""

    def __init__(self, stream: TextIO | None) -> None:
        """Write to a stream, which may be closed, as by ``>&-``."""
        if isinstance(stream, io.TextIOWrapper):  # which may not encode every letter
            stream.reconfigure(errors="backslashreplace")
        self._stream: TextIO = stream or io.StringIO()

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self._stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def redraw(self, line: str) -> None:
        """Write a line of a terminal in place of its last line."""
        self._stream.write(f"\r{printable(line)}\x1b[K")

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the stream."""
        return getattr(self._stream, name)


def printable_stream(stream: TextIO | None) -> PrintableStream:
    """Return a stream that escapes; a stream that does so already stays."""
    return stream if isinstance(stream, PrintableStream) else PrintableStream(stream)


def guard_screen() -> None:
    """Let both streams of this process escape what others may have made up."""
    streams: Any = sys
    streams.stdout = printable_stream(sys.stdout)
    streams.stderr = printable_stream(sys.stderr)


def printable_record(record: LogRecord) -> bool:
    """Escape the message of a record; a filter that lets all records pass."""
    if isinstance(record.msg, str):
        record.msg, record.args = printable(record.getMessage()), ()
    return True


@contextmanager
def screen_in(file: TextIO) -> Iterator[TextIO]:
    """Send all that this process prints in the block to a file; yield the old stderr.

    Libraries and child processes, which write past Python's streams, are included.
    """
    guard_screen()
    streams = sys.stdout, sys.stderr
    with open(os.dup(1), "wb", 0) as old_output, open(os.dup(2), "w") as old_errors:
        try:
            for number, stream in enumerate(streams, start=1):
                stream.flush()
                os.dup2(file.fileno(), number)
            yield old_errors
        finally:
            for number, old in enumerate((old_output, old_errors), start=1):
                with suppress(OSError):  # the disk of the file is full
                    streams[number - 1].flush()
                os.dup2(old.fileno(), number)
