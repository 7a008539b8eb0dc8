"""The catalogue: what is known beforehand about each data set."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdspp.datasets.base import KINDS, Index
from cdspp.discovery import did_you_mean
from cdspp.errors import DataError

__all__ = ["check_catalogued", "load_catalogue"]

log = logging.getLogger(__name__)

REQUIRED = ("title", "kind", "classes", "class_sizes", "licence", "source", "content")
OPTIONAL = ("versions",)


def load_catalogue(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read the catalogue and check that each entry is complete.

    Parameters
    ----------
    path : path
        YAML file: one entry for each data set, by identifier.

    Returns
    -------
    dict
        By identifier: `title`, `kind`, `classes` (ordered), `class_sizes` (by domain,
        in the order of the classes), `licence`, `source`, `content` (on what it
        depends) and, where sizes depend on packages, their `versions`.

    Raises
    ------
    DataError
        The file is no such catalogue; the message names entry and key.
    """
    import yaml

    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DataError(f"{path}: cannot be read as a catalogue ({error}).") from error
    if not isinstance(entries, dict):
        raise DataError(f"{path}: expected one entry for each data set.")
    for name, entry in entries.items():
        _check_entry(f"{path}, {name}", entry)
    return entries


def _check_entry(where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise DataError(f"{where}: expected keys {', '.join(REQUIRED)}, got {entry!r}.")
    for key in entry:
        if key not in (known := (*REQUIRED, *OPTIONAL)):
            raise DataError(f"{where}: unknown key {key!r}{did_you_mean(key, known)}")
    if missing := [key for key in REQUIRED if key not in entry]:
        raise DataError(f"{where}: missing {', '.join(missing)}.")
    if entry["kind"] not in KINDS:
        raise DataError(
            f"{where}: kind must be images or texts, got {entry['kind']!r}."
        )
    for domain, sizes in entry["class_sizes"].items():
        if len(sizes) != len(entry["classes"]):
            message = f"{where}: domain {domain} has {len(sizes)} sizes for"
            raise DataError(f"{message} {len(entry['classes'])} classes.")


def check_catalogued(index: Index, catalogue: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that a data set has the classes and sizes that the catalogue names.

    Where the files were made with other versions of the packages on which the sizes
    depend, the difference is logged and not an error.

    Raises
    ------
    DataError
        The catalogue knows the data set and says something else.
    """
    entry = catalogue.get(index.dataset)
    if entry is None:
        return
    found = {domain: index.class_sizes(domain) for domain in index.domains}
    expected = {"kind": entry["kind"], "classes": list(entry["classes"])}
    expected |= {"class_sizes": {d: list(n) for d, n in entry["class_sizes"].items()}}
    actual = {"kind": index.kind, "classes": list(index.classes), "class_sizes": found}
    for key, value in expected.items():
        if value == actual[key]:
            continue
        message = f"data set {index.dataset}: {key} is {actual[key]}, but the catalogue"
        for package, version in entry.get("versions", {}).items():
            if index.versions.get(package) != version:
                log.warning("%s has %s for %s %s", message, value, package, version)
                return
        raise DataError(f"{message} says {value}.")
