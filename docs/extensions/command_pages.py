"""The page of commands: what `--help` says of each."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

from rst import heading, indented

from cdspp.cli.main import main

__all__ = ["pages"]


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of the page."""
    parts = [heading("Commands")]
    for words in _commands(()):
        parts.append(heading(" ".join(("cdspp", *words)), "-"))
        parts += [".. code-block:: text\n", f"{indented(_help(words))}\n"]
    yield "commands.rst", "\n".join(parts)


def _commands(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield a command and those below it, as its help lists them."""
    yield words
    _, _, rest = _help(words).partition("COMMAND\n")
    for line in rest.splitlines():
        if not (found := re.match(r"    (\w[\w-]*)\b", line)):
            if not line.startswith("     "):
                return
            continue
        yield from _commands((*words, found[1]))


def _help(words: tuple[str, ...]) -> str:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "84"
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
            main([*words, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return told.getvalue()
