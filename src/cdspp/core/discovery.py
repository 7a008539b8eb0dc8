"""Find named classes: in a folder of modules, by class path, of installed packages."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
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
    "load_class",
    "load_named_class",
    "offered",
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


def load_class(place: str) -> type:
    """Import the class at ``module:Class``; the folder of the run is importable.

    Raises
    ------
    ConfigError
        There is no such module or class, or the module stops as it is imported.
    """
    module, _, name = place.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{place}: cannot import {module} ({error}). Expected a module in the "
            "folder of the run, or an installed package."
        ) from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{place}: {module} stops as imported ({reason}).") from error
    for part in name.split("."):
        classes = [key for key, value in vars(found).items() if inspect.isclass(value)]
        if not inspect.isclass(getattr(found, part, None)):
            raise ConfigError(
                f"{place}: {module} has no class {name}{did_you_mean(part, classes)}"
            )
        found = getattr(found, part)
    loaded: type = found
    return loaded


@cache
def offered(group: str) -> Mapping[str, str]:
    """Return the class paths that installed packages offer, by name.

    Parameters
    ----------
    group : str
        Of their entry points, such as ``cdspp.methods``.
    """
    return {each.name: each.value for each in metadata.entry_points(group=group)}


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
