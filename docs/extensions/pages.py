"""Write the pages that the library, the schema and the examples tell by themselves.

They lie in `docs/generated` and are made again by every build; a page that would be the
same is left alone, so that Sphinx does not read it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import command_pages
import config_page
import method_pages
import module_pages

__all__ = ["setup", "write_pages"]

ROOMS = (method_pages, module_pages, config_page, command_pages)
EXAMPLES = ("two_tables", "image_folder")


def _pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page, and of what each example prints."""
    for room in ROOMS:
        yield from room.pages(root)
    for name in EXAMPLES:
        yield f"examples/{name}.txt", _printed(root, f"docs/examples/{name}.py")


def _printed(root: Path, script: str) -> str:
    """Run an example in a folder that is thrown away."""
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    with TemporaryDirectory() as folder:
        command = [sys.executable, script, folder]
        said = subprocess.check_output(command, cwd=root, env=one_thread, text=True)
    return said.replace(f"{folder}{os.sep}", "")


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


def _write(app: Any) -> None:
    write_pages(Path(app.srcdir, "generated"))


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx lists its sources."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
