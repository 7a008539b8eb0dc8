"""The catalogue: content, addresses and checks of each published data set."""

import logging
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import DataError
from cdspp.core.provenance import file_digest
from cdspp.datasets.base import KINDS, Index

Entry = Mapping[str, Any]

log = logging.getLogger(__name__)

REQUIRED = ("title", "kind", "licence", "source", "content")
DATA_KEYS, FILE_KEYS = ("classes", "class_sizes"), ("resources",)
OPTIONAL = ("versions", "cite", "order", "protocol", "published", "paired")
KNOWN = (*REQUIRED, *DATA_KEYS, *FILE_KEYS, *OPTIONAL)
OTHER_KINDS = ("weights", "splits")
REMEDY = "Delete it, to fetch it again, or correct its catalogue entry."
ADDRESS_KEYS = ("name", "urls", "mirror")  # keys of a file


def load_catalogue(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read the catalogue, a YAML file, and check that each entry is complete.

    Data have `classes` (ordered), `class_sizes` (by domain), optionally a number of
    `paired` objects, and `versions` of packages that affect the sizes. `resources` are
    the addresses and checks of downloads, `published` the ready-made views in them,
    `order` that of their samples, `protocol` their labelled samples per class.
    """
    import yaml

    try:
        text = Path(path).read_text(encoding="utf-8")
        entries = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError) as error:
        raise DataError(f"{path}: cannot be read as a catalogue ({error}).") from error
    if not isinstance(entries, dict):
        raise DataError(f"{path}: expected one entry for each data set.")
    for name, entry in entries.items():
        _check_entry(f"{path}, {name}", entry)
    return entries


_load_once = cache(load_catalogue)


def _check_entry(where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise DataError(f"{where}: expected keys {', '.join(REQUIRED)}, got {entry!r}.")
    refuse_unknown_keys(entry, KNOWN, f"{where}: ")
    kinds = (*KINDS, *OTHER_KINDS)
    if "kind" in entry and entry["kind"] not in kinds:
        got = f"got {entry['kind']!r}"
        raise DataError(f"{where}: kind must be one of {', '.join(kinds)}, {got}.")
    keys = FILE_KEYS if entry.get("kind") in OTHER_KINDS else DATA_KEYS
    if missing := [key for key in (*REQUIRED, *keys) if key not in entry]:
        raise DataError(f"{where}: missing {', '.join(missing)}.")
    for domain, sizes in entry.get("class_sizes", {}).items():
        if len(sizes) != len(entry["classes"]):
            message = f"{where}: domain {domain} has {len(sizes)} sizes for"
            raise DataError(f"{message} {len(entry['classes'])} classes.")
    resources = entry.get("resources", {})
    for view, spec in entry.get("published", {}).items():
        resource = spec.get("resource")
        for name in resource.values() if isinstance(resource, Mapping) else [resource]:
            if name not in resources:
                message = f"{where}, published features {view}: resource must be one of"
                raise DataError(f"{message} {', '.join(resources)}, got {name!r}.")


def refuse_unknown_keys(
    keys: Iterable[str], allowed: Collection[str], where: str = ""
) -> None:
    """Raise DataError, beginning with `where`, for a key that is not allowed."""
    for key in keys:
        if key not in allowed:
            raise DataError(f"{where}unknown key {key!r}{did_you_mean(key, allowed)}")


def mismatch(path: Path, fault: str) -> DataError:
    """Return the error for a fetched file that differs from its catalogue entry."""
    return DataError(f"{path}: {fault}. {REMEDY}")


def published_spec(entry: Entry, view: str, domain: str) -> dict[str, Any] | None:
    """Return the specification of a domain's published features, or None."""
    spec = {}
    for key, value in entry.get("published", {}).get(view, {}).items():
        by_domain = isinstance(value, Mapping)
        if by_domain and domain not in value:
            return None
        spec[key] = value[domain] if by_domain else value
    return spec or None


def checks_of(path: str, name: str, resource: str) -> dict[str, Any]:
    """Return the checks of a fetched resource, without addresses, for a workflow."""
    entry = _load_once(path)[name]
    resource_entry = entry["resources"][resource]
    checks: dict[str, Any] = {
        file["name"]: {k: value for k, value in file.items() if k not in ADDRESS_KEYS}
        for way in resource_entry["ways"]
        for file in way.get("files", [])
    }
    if "manifest" in resource_entry:
        checks["manifest"] = file_digest(Path(path).parent / resource_entry["manifest"])
    if "make" in resource_entry:
        decisive = map(entry.get, (*DATA_KEYS, "paired"))
        checks["make"] = [resource_entry["make"], *decisive]
    return checks


def check_catalogued(index: Index, catalogue: Mapping[str, Entry]) -> None:
    """Raise DataError if a data set differs from its entry in the catalogue.

    If packages that affect sizes have other versions, log a warning instead.
    """
    entry = catalogue.get(index.dataset)
    if entry is None:
        return
    sizes = {domain: index.class_sizes(domain) for domain in index.domains}
    paired = {k: sum(s.paired for s in samples) for k, samples in index.domains.items()}
    pairs: dict[str, tuple[Any, Any]] = {
        "kind": (index.kind, entry["kind"]),
        "classes": (list(index.classes), entry["classes"]),
        "class_sizes": (sizes, entry["class_sizes"]),
        "paired": (paired, dict.fromkeys(paired, entry.get("paired", 0))),
    }
    for key, (actual, value) in pairs.items():
        if value == actual:
            continue
        message = f"data set {index.dataset}: {key} is {actual}, but the catalogue"
        for package, version in entry.get("versions", {}).items():
            if index.versions.get(package) != version:
                log.warning("%s has %s for %s %s", message, value, package, version)
                return
        raise DataError(f"{message} says {value}.")
