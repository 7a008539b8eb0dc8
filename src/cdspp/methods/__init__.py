"""All methods, found by listing this folder; importing this loads none of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.core.discovery import (
    Found,
    check_options,
    defaults_of,
    find_identifiers,
    load_named_class,
)

if TYPE_CHECKING:
    from cdspp.methods.base import HeterogeneousClassifier

__all__ = [
    "available",
    "estimators",
    "make",
    "method_class",
    "method_module",
    "option_defaults",
    "seed_option",
]


@cache
def _found() -> Mapping[str, Found]:
    return find_identifiers(Path(__file__).parent)


def available() -> tuple[str, ...]:
    """Return the identifiers of all methods, sorted.

    Examples
    --------
    >>> from cdspp.methods import available
    >>> "cdspp" in available()
    True
    """
    return tuple(_found())


def estimators() -> Mapping[str, str]:
    """Return the identifier of each method by the name of its class."""
    return {place.class_name: name for name, place in _found().items()}


def method_class(name: str) -> type[HeterogeneousClassifier]:
    """Return the class of the method `name`.

    Raises
    ------
    ConfigError
        There is no such method.
    """
    return load_named_class(__name__, _found(), name, "method")


def method_module(name: str) -> str:
    """Return the module of the method `name`."""
    return method_class(name).__module__


def option_defaults(name: str) -> Mapping[str, Any]:
    """Return the options of the method `name` with their defaults."""
    return defaults_of(method_class(name))


def seed_option(name: str, seed: int) -> dict[str, int]:
    """Return the seed as an option of the method `name`, nothing if it draws none.

    Examples
    --------
    >>> from cdspp.methods import seed_option
    >>> seed_option("ddacl", 7), seed_option("cdspp", 7)
    ({'random_state': 7}, {})
    """
    return {"random_state": seed} if "random_state" in option_defaults(name) else {}


def make(name: str, **options: Any) -> HeterogeneousClassifier:
    """Return the method `name` with `options` in place of its defaults.

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
    check_options(f"method {name}", options, option_defaults(name))
    return method_class(name)(**options)
