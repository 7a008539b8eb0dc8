"""The page of commands: what `--help` says of each."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

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
        if found := re.match(r"    (\w[\w-]*)\b", line):
            yield from _commands((*words, found[1]))
        elif not line.startswith("     "):
            return


def _help(words: tuple[str, ...]) -> str:
    told = io.StringIO()
    with (
        patch.dict(os.environ, COLUMNS="84"),
        contextlib.redirect_stdout(told),
        contextlib.suppress(SystemExit),
    ):
        main([*words, "--help"])
    return told.getvalue()
