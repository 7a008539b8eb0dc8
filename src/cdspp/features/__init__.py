"""Feature extractors: one module each, and from outside; importing this loads none.

One from outside is a class path (``extractor: "mine:Histogram"``) or an entry point
``cdspp.extractors`` of an installed package.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.core.discovery import (
    Found,
    check_options,
    find_identifiers,
    load_class,
    load_named_class,
    offered,
)
from cdspp.core.errors import ConfigError
from cdspp.core.names import PCA
from cdspp.core.provenance import file_digest
from cdspp.features.base import Extractor, WordExtractor

__all__ = [
    "Extractor",
    "available_extractors",
    "extractor_kind",
    "extractor_module",
    "extractor_options",
    "is_extractor",
    "make_extractor",
    "names_columns",
    "needs_codebook",
    "own_digests",
    "pretrained_network",
]

OFFERED = "cdspp.extractors"


def available_extractors() -> tuple[str, ...]:
    """List the identifiers of the extractors, those of installed packages among them.

    Examples
    --------
    >>> from cdspp.features import available_extractors
    >>> "visual-words" in available_extractors()
    True
    """
    return tuple(sorted({*_classes(), *offered(OFFERED)}))


def extractor_options(name: str) -> Mapping[str, Any]:
    """Return the options of the extractor `name` and their defaults.

    Raises
    ------
    ConfigError
        There is no such extractor; the message names the nearest one.
    """
    return _find(name).defaults()


def is_extractor(name: str) -> bool:
    """Whether an extractor has this name, or it is the path of one's class.

    Raises
    ------
    ConfigError
        It is a class path, but there is no such class, or it is no extractor.
    """
    return name in available_extractors() or (":" in name and _find(name) is not None)


def extractor_kind(name: str) -> str:
    """Return what the extractor `name` reads: images, texts or a view."""
    return _find(name).kind


def extractor_module(name: str) -> str:
    """Return the module of the extractor `name`."""
    return _find(name).__module__


def names_columns(name: str, scale: str | None = None) -> bool:
    """Return whether the columns of the extractor `name` have names after scaling."""
    return _find(name).names_columns and scale != PCA


def needs_codebook(name: str) -> bool:
    """Return whether the extractor `name` needs a codebook learned beforehand."""
    return issubclass(_find(name), WordExtractor)


def pretrained_network(name: str, options: Mapping[str, Any]) -> str | None:
    """Return the network whose published weights the extractor `name` needs, if any."""
    return _find(name).pretrained({**_find(name).defaults(), **options})


def own_digests(name: str, options: Mapping[str, Any]) -> list[str]:
    """Return the digests of the user's files that the extractor `name` reads."""
    return [file_digest(file) for file in make_extractor(name, **options).own_files]


def make_extractor(name: str, /, **options: Any) -> Extractor:
    """Build the extractor `name` with `options`.

    Raises
    ------
    ConfigError
        There is no such extractor or option, or a value is out of range.

    Examples
    --------
    >>> from cdspp.features import make_extractor
    >>> make_extractor("pca", energy=0.6).energy
    0.6
    """
    extractor = _find(name)
    check_options(f"extractor {name}", options, extractor.defaults())
    return extractor(**options)


def _find(name: str) -> type[Extractor]:
    place = name if ":" in name else offered(OFFERED).get(name)
    if place is None or name in _classes():
        return load_named_class(__name__, _classes(), name, "extractor")
    found = load_class(place)
    whole = issubclass(found, Extractor) and not inspect.isabstract(found)
    if not whole or not all(hasattr(found, name) for name in ("identifier", "kind")):
        raise ConfigError(
            f"{place}: expected a class derived from FileExtractor or ViewExtractor of "
            "cdspp.features.base, with identifier, kind, and extract or reduce."
        )
    return found


@cache
def _classes() -> dict[str, Found]:
    return find_identifiers(Path(__file__).parent)
