"""Lookup of classes by identifier, by import path, or from installed packages."""

import ast
import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from cdspp.core.errors import ConfigError, problems_text


@cache
def find_identifiers(package: str) -> Mapping[str, tuple[str, str]]:
    """Map each ``identifier = "..."`` to its module and class without importing any."""
    identifiers = {}
    folder = Path(str(sys.modules[package].__file__)).parent
    for path in sorted(folder.rglob("[!_]*.py")):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in (part for part in tree.body if isinstance(part, ast.ClassDef)):
            for member in node.body:
                match member:
                    case ast.Assign([target], value) | ast.AnnAssign(target, _, value):
                        match target, value:
                            case ast.Name("identifier"), ast.Constant(str(name)):
                                identifiers[name] = (module, node.name)
    return dict(sorted(identifiers.items()))


@cache
def load_named_class(package: str, name: str, kind: str, *extra: str) -> type[Any]:
    """Import the class of an identifier; ConfigError if no `kind` has this name."""
    classes = find_identifiers(package)
    if name not in classes:
        raise unknown_name(kind, name, [*classes, *extra])
    module, class_name = classes[name]
    loaded = importlib.import_module(f"{package}.{module}")
    return cast("type[Any]", getattr(loaded, class_name))


def unknown_name(kind: str, name: str, known: Iterable[str]) -> ConfigError:
    """Return the error of an unknown `kind`, such as a method."""
    names = list(known)
    hint = did_you_mean(name, names)
    return ConfigError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}.")


def load_function(path: str) -> Callable[..., Any]:
    """Import the function at ``module:function``, also in the folder of the run."""
    return cast("Callable[..., Any]", _load(path, "function", callable))


def load_class(path: str) -> type:
    """Import the class at ``module:Class``, also in the folder of the run."""
    return cast("type", _load(path, "class", inspect.isclass))


def _load(path: str, kind: str, is_kind: Callable[[object], bool]) -> Any:
    module, _, name = path.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        loaded: Any = importlib.import_module(module)
    except ImportError as error:
        expected = "a module in the folder of the run, or an installed package"
        fault = f"{path}: cannot import {module} ({error})"
        raise ConfigError(f"{fault}. Expected {expected}.") from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{path}: {module} failed to import ({reason}).") from error
    for part in name.split("."):
        names = [key for key, value in vars(loaded).items() if is_kind(value)]
        if not is_kind(getattr(loaded, part, None)):
            hint = did_you_mean(part, names)
            raise ConfigError(f"{path}: {module} has no {kind} {name}{hint}")
        loaded = getattr(loaded, part)
    return loaded


@cache
def plugin_paths(group: str) -> Mapping[str, str]:
    """Return the class paths of entry points, such as ``cdspp.methods``, by name."""
    return {entry.name: entry.value for entry in metadata.entry_points(group=group)}


def defaults_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the parameters of a function, method or class with their defaults."""
    return _defaults_of(cast("Hashable", function))


@cache
def _defaults_of(function: Any) -> Mapping[str, Any]:
    parameters = inspect.signature(function).parameters.items()
    return MappingProxyType({name: each.default for name, each in parameters})


def check_options(owner: str, options: Iterable[str], valid: Iterable[str]) -> None:
    """Raise ConfigError, with all unknown options, if `owner` lacks some of them."""
    names = list(valid)
    unknown = [option for option in options if option not in names]
    if texts := [f"no option {each!r}{did_you_mean(each, names)}" for each in unknown]:
        texts[-1] += f" Known: {', '.join(names)}."
        raise ConfigError(problems_text(owner, texts))


def did_you_mean(name: object, choices: Iterable[str]) -> str:
    """Return the end of an error message: the nearest valid name, or a full stop."""
    close = nearest(name, choices)
    return f": did you mean {close!r}?" if close else "."


def nearest(name: object, choices: Iterable[str]) -> str:
    """Return the most similar name, by its beginning or its letters, if any.

    Of a number nothing is similar.
    """
    if not (text := str(name).casefold()) or text.isdecimal():
        return ""
    folded = {choice.casefold(): choice for choice in choices}
    longer = sorted((c for c in folded if c.startswith(text)), key=len)
    matches = longer or difflib.get_close_matches(text, folded, n=1)
    return folded[matches[0]] if matches else ""
