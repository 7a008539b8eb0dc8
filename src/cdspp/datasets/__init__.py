"""Data sets: classes that generate or find the files, one module per data set."""

from collections.abc import Mapping
from typing import Any, cast

from cdspp.core import discovery
from cdspp.core.errors import ConfigError
from cdspp.datasets.base import Cache
from cdspp.datasets.base import Dataset as Dataset
from cdspp.datasets.base import Index as Index
from cdspp.datasets.base import Sample as Sample
from cdspp.datasets.base import read_index as read_index
from cdspp.datasets.folder import FolderDataset as FolderDataset
from cdspp.datasets.published import PublishedDataset as PublishedDataset
from cdspp.datasets.tables import TablesDataset as TablesDataset

Entry = Mapping[str, Any] | None


def available_datasets() -> tuple[str, ...]:
    """List the identifiers of the data sets this package can generate."""
    return tuple(discovery.find_identifiers(__name__))


def make_dataset(name: str) -> Dataset:
    """Build the data set called `name`; ConfigError names the nearest valid name."""
    return cast(Dataset, discovery.load_named_class(__name__, name, "data set")())


def dataset_recipe(
    name: str, own: Entry = None, entry: Entry = None, cache: Cache = None
) -> dict[str, Any]:
    """Return everything that determines the samples, for a workflow to compare.

    `module` lists or makes the samples, `versions` are those of packages that determine
    the content, and `fingerprint` covers causes other than code.
    """
    dataset = open_dataset(name, own, entry, cache)
    return {
        "own": None if own is None else dict(own),
        "module": type(dataset).__module__,
        "versions": dataset.versions(),
        "fingerprint": dataset.fingerprint(),
    }


def open_dataset(name: str, own: Entry, entry: Entry, cache: Cache = None) -> Dataset:
    """Return a data set: the user's own, a published one, or a generated one.

    `own` is passed to `own_dataset`, `entry` is that of the catalogue, and the file
    `cache` caches digests of the user's files, so that none is read twice. ConfigError
    names the nearest valid name; DataError explains the expected layout of the files.
    """
    if own is not None:
        return own_dataset(name, own, cache)
    if entry is not None and "resources" in entry:
        return PublishedDataset(name, entry)
    return make_dataset(name)


def own_dataset(name: str, own: Mapping[str, Any], cache: Cache = None) -> Dataset:
    """Return a data set of the user: a folder of files, tables, or a class.

    `own` has a `folder`, with other arguments of `FolderDataset`; `tables` by domain,
    with those of `TablesDataset`; or a `class` that makes its files, ``module:Class``
    or an entry point ``cdspp.datasets`` of an installed package, with its `options`.
    ConfigError names a missing key, or one that belongs to another kind.
    """
    keys = {key: value for key, value in own.items() if key != "id"}
    if sum(key in keys for key in ("folder", "tables", "class")) != 1:
        raise ConfigError(f"data set {name}: give a folder, tables or a class.")
    if "class" in keys:
        return _from_class(name, **keys)
    if "tables" in keys:
        return TablesDataset(name, **keys, cache=cache)
    if unknown := [key for key in keys if key not in FolderDataset.keys]:
        raise ConfigError(f"data set {name}: {', '.join(unknown)} is only for tables.")
    if not isinstance(keys.get("paired", ""), str):
        expected = "paired must name the folder of pairs in each domain"
        raise ConfigError(f"data set {name}: {expected}, got {keys['paired']}.")
    return FolderDataset(name, **keys, cache=cache)


def _from_class(name: str, **keys: Any) -> Dataset:
    path, options = keys.pop("class"), keys.pop("options", {})
    if keys:
        raise ConfigError(f"data set {name}: {', '.join(keys)} is not for a class.")
    cls = discovery.load_class(discovery.plugin_paths(__name__).get(path, path))
    if not issubclass(cls, Dataset):
        raise ConfigError(f"{path}: expected a class derived from {__name__}.Dataset.")
    discovery.check_options(f"data set {name}", options, discovery.defaults_of(cls))
    try:
        dataset = cls(**options)
        dataset.check_contents()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    except Exception as error:
        fault = f"failed before it wrote a file ({type(error).__name__}: {error})"
        expected = "kind, domains, classes, contents() and generate(folder)"
        raise ConfigError(f"{path}: {fault}. Expected {expected}.") from error
    dataset.identifier = name
    return dataset
