"""Parameters that a docstring takes from another class, written out on its page.

In the source, ``As in `CDSPPSup`.`` documents a parameter once. On its page, each class
documents every parameter.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import cdspp

__all__ = ["parameters", "setup", "written_out"]

SECTION = re.compile(r"(?:^|\n)Parameters\n-+\n(.*?)(?=\n\n[A-Z]|\Z)", re.S)
ENTRY = re.compile(r"((?:^\S.*\n?)+)((?:^ .*\n?)*)", re.M)
LIKE = re.compile(r"As in (?:[\w ]+: see )?`([\w.]+)`(?:, which [^;.]*)?[.;]?\s*(.*)")
Entry = tuple[str, str]  # the line of a parameter, and its description


def _class_named(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module) if module else cdspp, last)


def _entries(section: str) -> Iterator[tuple[str, Entry]]:
    """Yield name and entry of each parameter of a section."""
    before: Any = None
    for heads, body in ENTRY.findall(section):
        text = " ".join(body.split())
        origin = LIKE.match(text)
        for head in heads.splitlines():
            names, typed, _ = head.partition(" : ")
            for name in names.split(", "):
                if origin or text == "Likewise.":
                    before = parameters(_class_named(origin[1])) if origin else before
                    line, inherited = before[name]
                    more = origin[2][:1].upper() + origin[2][1:] if origin else ""
                    yield name, (head if typed else line, f"{inherited} {more}".strip())
                else:
                    yield name, (head if typed else name, text)


def parameters(found: type) -> dict[str, Entry]:
    """Return the entry of each parameter of a class by name, none by reference.

    A class that documents none has those of the class from which it derives.
    """
    for base in found.__mro__:
        if section := SECTION.search(
            inspect.cleandoc(base.__dict__.get("__doc__") or "")
        ):
            return dict(_entries(section[1]))
    return {}


def written_out(found: type, text: str) -> str:
    """Return a docstring whose parameters are written out."""
    lines = [f"{line}\n    {body}" for line, body in parameters(found).values()]
    if section := SECTION.search(text):
        if not re.search(r"^ +(As in|Likewise)\b", section[1], re.M):
            return text
        start, end = section.span(1)
        return text[:start] + "\n".join(lines) + text[end:]
    if not lines or not hasattr(found, "fit"):
        return text
    next_section = re.search(r"\n\n[A-Z][\w ]+\n---|\Z", text.rstrip())
    assert next_section is not None
    place = next_section.start()
    added = "\n".join(["\n\nParameters\n----------", *lines])
    return text[:place] + added + text[place:]


def _process(
    app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]
) -> None:
    if what == "class":
        lines[:] = written_out(found, "\n".join(lines)).split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Write them out before other extensions read a docstring."""
    app.connect("autodoc-process-docstring", _process, priority=300)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
