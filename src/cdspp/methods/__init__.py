"""Lookup of methods: built-in, external, or passed as objects; imports none itself."""

from __future__ import annotations

import importlib
import inspect
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cdspp.core import discovery
from cdspp.methods.descriptions import Description, read_descriptions

if TYPE_CHECKING:
    from cdspp.methods.base import HeterogeneousClassifier

# An environment variable, so that the jobs of a study know its external methods.
VARIABLE = "CDSPP_METHODS"

_registered: dict[str, type[HeterogeneousClassifier]] = {}


def _external() -> Mapping[str, Mapping[str, Any]]:
    registered: dict[str, dict[str, Any]] = json.loads(os.environ.get(VARIABLE, "{}"))
    plugins = discovery.plugin_paths("cdspp.methods")
    return {name: {"place": place} for name, place in plugins.items()} | registered


def register_external(methods: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace the external methods: `ExternalMethod` fields by identifier."""
    os.environ[VARIABLE] = json.dumps(methods)


def register_method(method: Any) -> str:
    """Register a class or an instance, and return its name; return a name as it is.

    ConfigError: it lacks ``fit(X, y, *, source=)``.
    """
    if isinstance(method, str):
        return method
    from cdspp.methods.external import wrap_object

    name, wrapped = wrap_object(method)
    if inspect.isclass(method) and is_builtin(method):
        return estimators()[method.__name__]
    _registered[name] = wrapped
    return name


def is_builtin(cls: type) -> bool:
    """Return whether a class is a built-in method of cdspp."""
    name = estimators().get(cls.__name__)
    return name is not None and method_class(name) is cls


def available() -> tuple[str, ...]:
    """Return the identifiers of all methods, sorted.

    >>> "cdspp" in available()
    True
    """
    return tuple(sorted({*read_descriptions(), *_external()}))


def estimators() -> Mapping[str, str]:
    """Return the identifier of each method by the name of its class."""
    return {each.class_name: name for name, each in read_descriptions().items()}


def method_class(name: str) -> type[HeterogeneousClassifier]:
    """Return the class of the method `name`, or of a class path ``module:Class``.

    ConfigError: there is no such method, or it lacks a required part.
    """
    if name in _registered:
        return _registered[name]
    if built_in := read_descriptions().get(name):
        loaded: Any = importlib.import_module(built_in.module)
        found: type[HeterogeneousClassifier] = getattr(loaded, built_in.class_name)
        return found
    external = _external()
    if name in external or ":" in name:
        from cdspp.methods.external import ExternalMethod, wrap_class

        fields = dict(external.get(name, {"place": name}))
        fields["preprocessing"] = tuple(fields.get("preprocessing", ()))
        return wrap_class(name, ExternalMethod(**fields))
    raise discovery.unknown_name("method", name, read_descriptions())


def needs(name: str) -> tuple[str, ...]:
    """Return what a fit of the method `name` needs: labels, columns, packages."""
    found = _description_or_class(name)
    requirements = ["labels" if found.uses_source else "target labels"]
    if found.needs_bridge:
        requirements += [part.replace("_", " ") for part in sorted(found.bridges)]
    packages = {"torch": found.needs_torch, "POT": found.needs_pot}
    return (*requirements, *(package for package, flag in packages.items() if flag))


def _description_or_class(name: str) -> Description | type[HeterogeneousClassifier]:
    """Return what has the attributes of a method; a built-in one is not imported."""
    built_in = None if name in _registered else read_descriptions().get(name)
    return built_in or method_class(name)


def identity(name: str) -> str:
    """Return text that, with its code, identifies how a method fits.

    That is the part of its description that affects fits, or an external class.
    """
    built_in = read_descriptions().get(name)
    return built_in.fit_text if built_in else external_identity(name)


def external_identity(name: str) -> str:
    """Return text that identifies an external method's class; empty if built-in."""
    fields = _external().get(name, {})
    return "".join(str(fields.get(k, "")) for k in ("place", "kind", "preprocessing"))


def option_defaults(name: str) -> Mapping[str, Any]:
    """Return the options of the method `name` with their defaults."""
    return discovery.defaults_of(method_class(name))


def make(name: str, **options: Any) -> HeterogeneousClassifier:
    """Return the method `name` with `options` instead of its defaults.

    Raises
    ------
    ConfigError
        There is no such method, or it has no such option.

    Examples
    --------
    >>> from cdspp.methods import make
    >>> make("cdspp", alpha=1.0).alpha
    1.0
    """
    return make_seeded(name, None, **options)


def make_seeded(name: str, seed: int | None, **options: Any) -> HeterogeneousClassifier:
    """Return the method `name` as `make` does, with a seed if it draws random numbers.

    >>> make_seeded("ddacl", 7).random_state
    7
    """
    cls = method_class(name)
    defaults = discovery.defaults_of(cls)
    discovery.check_options(f"method {name}", options, defaults)
    if seed is not None and "random_state" in defaults:
        options = {"random_state": seed} | options
    return cls(**options)
