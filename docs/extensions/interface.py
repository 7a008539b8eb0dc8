"""The public interface, line by line: `python docs/extensions/interface.py` prints it.

A line of a release that is gone breaks somebody's script, study or reader of results:
`tests/docs/test_interface.py` compares today's lines with those of the last release.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from command_pages import EXIT_CODES, command_parsers, json_keys, parser
from sklearn.base import BaseEstimator

import cdspp
from cdspp.methods import available, estimators, make
from cdspp.report.registry import page_parts
from cdspp.stages import formats
from cdspp.study import files

__all__ = ["lines"]

SCHEMA = "workflow/schemas/config.schema.yaml"


def lines(root: Path) -> list[str]:
    """Return the interface, a line a name, sorted within each kind."""
    schema = yaml.safe_load((root / SCHEMA).read_text(encoding="utf-8"))
    kinds = {
        "python": _python(),
        "method": _methods(),
        "command": _options(),
        "key": _keys(schema, schema, ""),
        "file": _files(),
        "column": _columns(),
        "json": (
            f"{name}: {key}" for name, found in json_keys(root).items() for key in found
        ),
        "exit code": (f"{code}: {text}" for code, text in EXIT_CODES.items()),
    }
    return [f"{kind} {name}" for kind, names in kinds.items() for name in sorted(names)]


def _python() -> Iterator[str]:
    for name in {*cdspp.__all__, *estimators()}:
        yield name
        value = getattr(cdspp, name)
        if callable(value):
            for parameter in inspect.signature(value).parameters:
                yield f"{name}({parameter})"
        if isinstance(value, type):
            own = (member for member in dir(value) if member not in dir(BaseEstimator))
            yield from (f"{name}.{member}" for member in own if member[0] != "_")


def _methods() -> Iterator[str]:
    for name in available():
        yield name
        yield from (f"{name}: {option}" for option in make(name).get_params(deep=False))


def _options() -> Iterator[str]:
    for name, found in command_parsers(parser()).items():
        yield name
        for action in found._actions:
            if action.help != argparse.SUPPRESS:
                yield from (f"{name} {option}" for option in action.option_strings)


def _keys(schema: Mapping[str, Any], entry: Any, path: str) -> Iterator[str]:
    """Yield the keys of a study file, and the values of keys that take few."""
    while "$ref" in entry:
        entry = schema["$defs"][entry["$ref"].rpartition("/")[2]]
    yield from (f"{path}: {value}" for value in entry.get("enum", ()))
    for name, below in entry.get("properties", {}).items():
        key = f"{path}.{name}" if path else name
        yield key
        yield from _keys(schema, below, key)
    inner = (entry[k] for k in ("items", "additionalProperties") if k in entry)
    for below in (each for each in inner if isinstance(each, dict)):
        yield from _keys(schema, below, path)
    for joined in ("oneOf", "anyOf", "allOf"):
        for below in entry.get(joined, ()):
            yield from _keys(schema, below, path)


def _files() -> Iterator[str]:
    """Yield the files of a study by pattern, its tables and figures by name."""
    places = (value for value in vars(files).values() if isinstance(value, str))
    yield from (place for place in places if re.search(r"/.*\{", place))
    for part in page_parts():
        yield from (f"{item.kind}: {item.name}" for item in part.items)


def _columns() -> Iterator[str]:
    for name, columns in vars(formats).items():
        if name.endswith("_COLUMNS"):
            yield from (
                f"{name.removesuffix('_COLUMNS').lower()}: {c}" for c in columns
            )


if __name__ == "__main__":
    print("\n".join(lines(Path(__file__).parents[2])))
