"""Write the pages that the library, the schema and the examples tell by themselves.

They lie in `docs/generated` and are made again by every build; a page that would be the
same is left alone, so that Sphinx does not read it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import command_pages
import config_page
import example_pages
import method_pages
import module_pages

__all__ = ["setup", "write_pages"]

ROOMS = (method_pages, module_pages, config_page, command_pages, example_pages)


def _pages(root: Path) -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        yield from room.pages(root)


def write_pages(folder: Path) -> None:
    """Write all pages below `folder`, and remove those that nobody makes any more."""
    made = set()
    for name, text in _pages(folder.parents[1]):
        path = folder / name
        made.add(path)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in made:
            path.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx lists its sources."""
    app.connect(
        "builder-inited", lambda app: write_pages(Path(app.srcdir, "generated"))
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
