"""Markdown as a code host shows it: links to files lead to the pages made from them.

A page of plain Markdown links a source file, which a code host shows. On the site, the
link leads to the page that an extension makes from this file. The lists of `index.md`
are the tables of contents, and names of the public interface lead to their entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cdspp

__all__ = ["COPIES", "copies", "contents", "setup", "sphinx_text"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COPIES = {
    "README.md": "generated/readme.md",
    "CONTRIBUTING.md": "generated/contributing.md",
    "CHANGELOG.md": "generated/changes.md",
    "SECURITY.md": "generated/security.md",
}
# The page made from each file or folder.
MADE = COPIES | {
    "docs/gallery": "generated/gallery/index.rst",
    "resources/paper/deviations.yaml": "generated/deviations.rst",
    "src/cdspp/__init__.pyi": "generated/api/cdspp.rst",
    "src/cdspp/analysis": "generated/api/analysis.rst",
    "src/cdspp/cli/help": "generated/commands.rst",
    "src/cdspp/core": "generated/api/others.rst",
    "src/cdspp/methods": "generated/methods/index.rst",
    "src/cdspp/methods/base.py": "generated/api/methods.rst",
    "workflow/schemas/config.schema.yaml": "generated/config.rst",
}
LINK = re.compile(r"\]\(([\w./-]+)(#[\w-]+)?\)")
NAME = re.compile(r"(?<!`)`cdspp\.(\w+)`(?!`)")


def copies() -> Iterator[tuple[str, bytes]]:
    """Yield name, below `generated`, and content of pages from outside `docs`."""
    for source, page in COPIES.items():
        yield page.removeprefix("generated/"), (ROOT / source).read_bytes()


def contents(text: str) -> dict[str, list[str]]:
    """Return the targets of the links in each list of `index.md`, by its heading."""
    sections = re.split(r"^## (.*)\n", text, flags=re.M)[1:]
    found = zip(sections[::2], sections[1::2], strict=True)
    return {
        head: re.findall(r"^\* \[.*?\]\(([^)#]+)", part, re.M) for head, part in found
    }


def sphinx_text(docname: str, text: str) -> str:
    """Return the text of a page with links and names that Sphinx resolves."""
    original = {page: source for source, page in COPIES.items()}
    folder = (ROOT / original.get(f"{docname}.md", f"docs/{docname}")).parent

    def target(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            return match[0]
        name = path.relative_to(ROOT).as_posix()
        if example := re.fullmatch(r"docs/gallery/\d+_(\w+)\.py", name):
            page = f"generated/gallery/{example[1]}.rst"
        else:
            page = MADE.get(name, name.removeprefix("docs/"))
        return f"](/{page}{match[2] or ''})"

    def entry(match: re.Match[str]) -> str:
        public = match[1] in cdspp.__all__
        return f"{{py:obj}}`cdspp.{match[1]}`" if public else match[0]

    return NAME.sub(entry, LINK.sub(target, text))


def _tables_of_contents(text: str) -> str:
    parts = []
    for head, entries in contents(text).items():
        lines = "\n".join(re.sub(r"\.\w+$", "", entry) for entry in entries)
        parts.append(f"```{{toctree}}\n:caption: {head}\n:hidden:\n\n{lines}\n```\n")
    return "\n".join(parts)


def _read(app: Any, docname: str, source: list[str]) -> None:
    if Path(app.env.doc2path(docname)).suffix == ".md":
        source[0] = sphinx_text(docname, source[0])
        if docname == "index":
            source[0] += _tables_of_contents(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Change Markdown before Sphinx parses it."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
