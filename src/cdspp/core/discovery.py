"""Find named classes in a folder of modules without importing any of them."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from cdspp.core.errors import ConfigError

__all__ = [
    "Found",
    "check_options",
    "defaults_of",
    "did_you_mean",
    "find_identifiers",
    "load_named_class",
]


class Found(NamedTuple):
    """Where a class is declared: its module below the package, and its name."""

    module: str
    class_name: str


def find_identifiers(folder: Path) -> dict[str, Found]:
    """Map each class-level ``identifier = "..."`` in `folder` to its class.

    Parameters
    ----------
    folder : Path
        Folder of Python modules, and of folders of them; files whose names start with
        ``_`` are skipped.

    Returns
    -------
    dict
        Module and class by identifier, sorted by identifier.
    """
    found = {}
    for path in sorted(folder.rglob("[!_]*.py")):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                place = Found(module, node.name)
                found.update(dict.fromkeys(_class_identifiers(node), place))
    return dict(sorted(found.items()))


def _class_identifiers(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        named = any(isinstance(t, ast.Name) and t.id == "identifier" for t in targets)
        value = statement.value
        if named and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def load_named_class(
    package: str, classes: Mapping[str, Found], name: str, what: str
) -> type[Any]:
    """Import the module that declares `name` and return the class.

    Parameters
    ----------
    package : str
        Package the modules belong to.
    classes : mapping
        What `find_identifiers` returned.
    name : str
        The identifier wanted.
    what : str
        What such a class is called in messages.

    Raises
    ------
    ConfigError
        No class has this identifier.
    """
    if name not in classes:
        known = ", ".join(classes)
        message = (
            f"unknown {what} {name!r}{did_you_mean(name, classes)} Known: {known}."
        )
        raise ConfigError(message)
    module, class_name = classes[name]
    found: type[Any]
    found = getattr(importlib.import_module(f"{package}.{module}"), class_name)
    return found


def defaults_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the parameters of a function, method or class with their defaults."""
    # Two functions, for mypy: it takes no class for an argument of what is cached.
    return _defaults_of(function)


@cache
def _defaults_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    parameters = inspect.signature(function).parameters
    return MappingProxyType({name: each.default for name, each in parameters.items()})


def check_options(what: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Raise ConfigError when `what` has no option of a name in `options`.

    Examples
    --------
    >>> check_options("method x", ["alpha"], ["alpha", "beta"])
    """
    names = list(known)
    for option in options:
        if option not in names:
            message = f"{what} has no option {option!r}{did_you_mean(option, names)}"
            raise ConfigError(f"{message} Known: {', '.join(names)}.")


def did_you_mean(name: object, choices: Iterable[str]) -> str:
    """Return the end of a sentence: a full stop, or the nearest valid name."""
    close = difflib.get_close_matches(str(name), list(choices), n=1)
    return f": did you mean {close[0]!r}?" if close else "."
