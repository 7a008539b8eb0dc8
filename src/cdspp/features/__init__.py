"""Feature extractors, built-in and external; importing this module loads none.

An external one is a class path (``extractor: "mine:Histogram"``) or an entry point
``cdspp.extractors`` of an installed package.
"""

import inspect
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from cdspp.core import discovery
from cdspp.core.errors import ConfigError
from cdspp.core.provenance import file_digest
from cdspp.features.base import Extractor as Extractor

PLUGIN_GROUP = "cdspp.extractors"


def available_extractors() -> tuple[str, ...]:
    """List the identifiers of the extractors, including those of installed packages.

    >>> "visual-words" in available_extractors()
    True
    """
    built_in = discovery.find_identifiers(__name__)
    return tuple(sorted({*built_in, *discovery.plugin_paths(PLUGIN_GROUP)}))


def extractor_class(name: str) -> type[Extractor]:
    """Return the class of the extractor `name`, or at a class path.

    ConfigError: there is no such extractor; the message names the nearest one.
    """
    plugins = discovery.plugin_paths(PLUGIN_GROUP)
    path = name if ":" in name else plugins.get(name)
    if path is None or name in discovery.find_identifiers(__name__):
        return discovery.load_named_class(__name__, name, "extractor", *plugins)
    cls = discovery.load_class(path)
    valid = issubclass(cls, Extractor) and not inspect.isabstract(cls)
    if not valid or not all(hasattr(cls, name) for name in ("identifier", "kind")):
        bases = "FileExtractor or ViewExtractor of cdspp.features.base"
        expected = f"a class derived from {bases}, with identifier, kind, and"
        raise ConfigError(f"{path}: expected {expected} extract or reduce.")
    return cls


def pretrained_network(name: str, options: Mapping[str, Any]) -> str | None:
    """Return the network whose published weights the extractor `name` needs, if any."""
    extractor = extractor_class(name)
    return extractor.pretrained({**discovery.defaults_of(extractor), **options})


def own_files(name: str, options: Mapping[str, Any]) -> list[str]:
    """Return the user's files that the extractor `name` reads."""
    return [*map(str, make_extractor(name, **options).own_files)]


def own_digests(name: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of these files, by path; each version is read once."""
    paths = own_files(name, options)
    return {path: _digest(path, os.stat(path).st_ctime_ns) for path in paths}


@cache
def _digest(path: str, changed_ns: int) -> str:
    return file_digest(path)


def make_extractor(name: str, /, **options: Any) -> Extractor:
    """Build the extractor `name` with `options`.

    ConfigError: there is no such extractor or option, or a value is out of range.

    >>> make_extractor("pca", energy=0.6).energy
    0.6
    """
    extractor = extractor_class(name)
    defaults = discovery.defaults_of(extractor)
    discovery.check_options(f"extractor {name}", options, defaults)
    return extractor(**options)
