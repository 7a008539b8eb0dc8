"""Small pieces of reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["heading", "indented", "list_table", "plain"]


def heading(text: str, line: str = "=") -> str:
    """Return a heading."""
    return f"{text}\n{line * len(text)}\n"


def plain(text: str) -> str:
    """Return text in which no character has a meaning of its own."""
    return re.sub(r"([\\*`|]|_\b)", r"\\\1", text)


def indented(text: str, width: int = 3) -> str:
    """Return text moved to the right."""
    lines = (f"{' ' * width}{line}".rstrip() for line in text.splitlines())
    return "\n".join(lines)


def list_table(rows: Iterable[Sequence[str]], classes: str = "wide") -> str:
    """Return a table whose first row is its header."""
    lines = [".. list-table::", "   :header-rows: 1"]
    lines += [*([f"   :class: {classes}"] if classes else []), ""]
    for row in rows:
        for k, cell in enumerate(row):
            lines.append(f"   {'* -' if not k else '  -'} {cell}".rstrip())
    return "\n".join(lines) + "\n"
