"""The gallery: a page for each script in `docs/gallery`, and a card that leads to it.

The docstring of a script holds the words: a title, a sentence for the card, text, and
what the picture shows. The script writes the picture, `<name>.png`, into the current
folder; the number before its name only orders the cards. One more example is one more
file, and nothing else.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rst import heading, indented

__all__ = ["FOLDER", "Example", "examples", "pages", "results"]

FOLDER = "docs/gallery"
OVERVIEW = """\
Short scripts that run as they are. None needs a download; each prints what its page
shows, and draws the picture.
"""
PICTURE = "Picture: "


class Example(NamedTuple):
    """A script, and what its docstring says."""

    file: str
    title: str
    sentence: str
    text: str
    picture: str
    first_line: int

    @property
    def name(self) -> str:
        """The name of its page and picture: that of the file, without the number."""
        return re.sub(r"^\d+_|\.py$", "", self.file)


def examples(root: Path) -> list[Example]:
    """Return all examples, in the order of their files."""
    return [_example(path) for path in sorted((root / FOLDER).glob("[0-9]*_*.py"))]


def _example(path: Path) -> Example:
    module = ast.parse(path.read_text(encoding="utf-8"))
    said = (ast.get_docstring(module) or "").split("\n\n")
    if len(said) < 4 or not said[-1].startswith(PICTURE):
        raise ValueError(
            f"{path}: expected a docstring of a title, a sentence, text and a last "
            f"paragraph that opens with {PICTURE!r}, got {said}."
        )
    title, sentence, *text, picture = (" ".join(part.split()) for part in said)
    return Example(
        path.name,
        title.removesuffix("."),
        sentence,
        "\n\n".join(text),
        picture.removeprefix(PICTURE),
        module.body[1].lineno,
    )


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page."""
    found = examples(root)
    for example in found:
        yield f"gallery/{example.name}.rst", _page(example)
    cards = "\n".join(map(_card, found))
    tree = "\n".join(f"   {example.name}" for example in found)
    yield (
        "gallery/index.rst",
        f"{heading('Gallery')}\n{OVERVIEW}\n.. container:: cards\n\n{cards}\n"
        f".. toctree::\n   :hidden:\n\n{tree}\n",
    )


def _literal(text: str) -> str:
    """Return text in which single backquotes mark code."""
    return text.replace("`", "``")


def _card(example: Example) -> str:
    body = (
        f".. container:: card\n\n"
        f"   .. image:: {example.name}.png\n      :alt: {example.picture}\n\n"
        f"   :doc:`{example.title} <{example.name}>`\n\n"
        f"   {_literal(example.sentence)}\n"
    )
    return indented(body) + "\n"


def _page(example: Example) -> str:
    place = f"/gallery/{example.file}"
    return f"""\
{heading(example.title)}
{_literal(example.sentence)}

.. figure:: {example.name}.png
   :alt: {example.picture}

   {_literal(example.picture)}

{_literal(example.text)}

Run it with ``python {FOLDER}/{example.file}``, or
:download:`download the script <{place}>`. It prints:

.. literalinclude:: {example.name}.txt
   :language: text

The script:

.. literalinclude:: {place}
   :language: python
   :lines: {example.first_line}-
"""


def results(root: Path, made: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of what each script prints and draws.

    A script runs where the files in the folder `made` are older than it or the library.
    """
    newest = max(path.stat().st_mtime for path in root.glob("src/**/*.py"))
    for example in examples(root):
        script = root / FOLDER / example.file
        names = [f"gallery/{example.name}.{suffix}" for suffix in ("txt", "png")]
        files = [made / name for name in names]
        if all(map(Path.is_file, files)):
            oldest = min(path.stat().st_mtime for path in files)
            if oldest > max(newest, script.stat().st_mtime):
                yield from zip(names, map(Path.read_bytes, files), strict=True)
                continue
        for path in files:
            path.unlink(missing_ok=True)
        yield from zip(names, _run(script, example.name), strict=True)


def _run(script: Path, name: str) -> tuple[bytes, bytes]:
    """Run a script in a folder of its own; return what it prints, and its picture."""
    one_thread = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            env={**os.environ, **one_thread},
            capture_output=True,
        )
        if done.returncode:
            raise RuntimeError(f"{script} stopped: {done.stderr.decode()}")
        return done.stdout, Path(folder, f"{name}.png").read_bytes()
