"""The reference of a study file, from the schema, its defaults and config.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from rst import heading, indented, plain

__all__ = ["pages"]

SCHEMA = "workflow/schemas/config.schema.yaml"
DEFAULTS = "resources/presets/default.yaml"
INTRODUCTION = """\
Every key of a study file, with its type and its default, which holds where neither your
file nor a preset that it names has the key. A list in your file replaces the list of a
preset. Keys that are not required may be left out. ``cdspp plan`` names all faults of a
file at once.
"""
WHOLE = """\
The embedded study, with every value explained:

.. literalinclude:: ../../config.yaml
   :language: yaml
"""
Schema = Mapping[str, Any]


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of the page."""
    schema = yaml.safe_load((root / SCHEMA).read_text(encoding="utf-8"))
    values = yaml.safe_load((root / DEFAULTS).read_text(encoding="utf-8"))
    parts = [heading("Keys of a study file"), INTRODUCTION]
    parts.append(heading("The study as a whole", "-"))
    sections = []
    for name, entry in schema["properties"].items():
        keys = list(_key(schema, entry, name, values=values))
        if len(keys) == 1:
            parts += keys
        else:
            sections += [heading(name, "-"), *keys]
    end = [heading("config.yaml", "-"), WHOLE]
    yield "config.rst", "\n".join([*parts, *sections, *end])


def _resolved(schema: Schema, entry: Schema) -> dict[str, Any]:
    """Return an entry with what it refers to; what it says itself goes first."""
    found = dict(entry)
    while "$ref" in found:
        name = found.pop("$ref").rpartition("/")[2]
        found = {**schema["$defs"][name], **found}
    return found


def _key(
    schema: Schema,
    entry: Schema,
    path: str,
    *,
    required: bool = False,
    values: Any = None,
) -> Iterator[str]:
    """Yield the entry of a key and of those below it."""
    found = _resolved(schema, entry)
    kind = _type(schema, found) + ", required" * required
    lines = [f".. confval:: {path}", f"   :type: {plain(kind)}"]
    value = values.get(path) if isinstance(values, Mapping) else None
    if path in (values or {}) and not isinstance(value, list | dict):
        lines.append(f"   :default: ``{json.dumps(value)}``")
    said = plain(found.get("description", ""))
    yield "\n".join([*lines, "", indented(said), ""])
    inner = _resolved(schema, found.get("items", found))
    for name, below in inner.get("properties", {}).items():
        needed = name in inner.get("required", ())
        yield from _key(schema, below, f"{path}.{name}", required=needed)


def _type(schema: Schema, entry: Schema) -> str:
    """Return what a value may be, in words."""
    found = _resolved(schema, entry)
    if "const" in found:
        return str(found["const"])
    if "enum" in found:
        return ", ".join(map(str, found["enum"]))
    for joined in ("oneOf", "anyOf"):
        if joined in found:
            return " or ".join(_type(schema, choice) for choice in found[joined])
    kind = found.get("type", "")
    if isinstance(kind, list):
        return " or ".join(_named(one) for one in kind)
    if kind == "array":
        return f"list of {_plural(_type(schema, found.get('items', {})))}"
    return _named(kind) + _range(found)


def _named(kind: str) -> str:
    words = {"string": "text", "object": "keys and values", "boolean": "true or false"}
    return {**words, "null": "nothing"}.get(kind, kind)


def _plural(word: str) -> str:
    words = {"keys and values": "entries", "text": "texts", "number": "numbers"}
    return words.get(word, word)


def _range(entry: Schema) -> str:
    low, high = entry.get("minimum"), entry.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    if "exclusiveMinimum" in entry:
        return f" above {entry['exclusiveMinimum']}"
    return f", {low} or more" if low is not None else ""
