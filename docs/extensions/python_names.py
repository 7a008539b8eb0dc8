"""How docstrings are read: bare names are links, and fitted attributes are names."""

from __future__ import annotations

import re
from typing import Any

from sphinx.util.nodes import make_refnode

__all__ = ["setup"]

KINDS = ("class", "exception", "function")


# The type of a parameter or attribute, in which ``n_`` is no link of reStructuredText.
TYPED = re.compile(r"^(\s*[\w, ]+ : )(.*)$")


def _resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Return a reference to the only object of a name, None where there is none."""
    name = node.get("reftarget", "").lstrip("~.")
    if node.get("refdomain") != "py" or not name.isidentifier():
        return None
    found = [
        (whole, entry)
        for whole, entry in env.domains["py"].objects.items()
        if whole.rpartition(".")[2] == name
        and entry.objtype in KINDS
        and not entry.aliased
    ]
    if len(found) != 1:
        return None
    [(whole, entry)] = found
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, whole
    )


def _skip(app: Any, what: str, name: str, found: Any, skip: bool, options: Any) -> bool:
    """Leave out aliases of types, and what a named tuple says of its fields."""
    told = str(getattr(found, "__doc__", None) or "")
    place = str(getattr(found, "__module__", "cdspp"))
    foreign = what == "module" and not place.startswith("cdspp")
    request = re.fullmatch(r"set_\w+_request", name) is not None  # scikit-learn's
    return skip or foreign or request or told.startswith("Alias for field number")


def _escape(
    app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]
) -> None:
    """Escape what reStructuredText would take for something else.

    A type that goes on in the next line, after a backslash, is one line here.
    """
    lines[:] = re.sub(r" \\\n\s*", " ", "\n".join(lines)).split("\n")
    for k, line in enumerate(lines):
        if typed := TYPED.match(line):
            lines[k] = typed[1] + re.sub(r"(\w)_(?!\w)", r"\1\_", typed[2])
        elif not set(line) & {"`", "\\"}:
            lines[k] = line.replace("|", "\\|")  # no substitution, an absolute value


def setup(app: Any) -> dict[str, bool]:
    """Connect them."""
    app.connect("autodoc-process-docstring", _escape, priority=400)  # napoleon: 500
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
