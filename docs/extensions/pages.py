"""Write the pages that the library, the schema and the examples make by themselves.

They lie in `docs/generated` and are made again by every build; a page that would be the
same is left alone, so that Sphinx does not read it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import command_pages
import config_page
import deviation_pages
import gallery_pages
import markdown_pages
import method_pages
import module_pages

__all__ = ["setup", "write_pages"]

PACKAGES = (
    method_pages,
    module_pages,
    config_page,
    deviation_pages,
    command_pages,
    gallery_pages,
)


def _pages(root: Path, made: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each page, and of the results of the gallery."""
    for package in PACKAGES:
        for name, text in package.pages(root):
            yield name, text.encode()
    yield from gallery_pages.results(root, made)
    yield from markdown_pages.copies()


def write_pages(folder: Path) -> None:
    """Write all pages below `folder`, and remove those that nobody makes any more."""
    made = set()
    for name, content in _pages(folder.parents[1], folder):
        path = folder / name
        made.add(path)
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in made:
            path.unlink()


def _write(app: Any) -> None:
    write_pages(Path(app.srcdir, "generated"))


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx lists its sources."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
