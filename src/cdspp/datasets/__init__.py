"""Data sets: classes that generate or find the files, one module per data set."""

from collections.abc import Mapping
from typing import Any, cast

from cdspp.core import discovery
from cdspp.core.errors import ConfigError
from cdspp.datasets.base import Dataset as Dataset
from cdspp.datasets.base import Index as Index
from cdspp.datasets.base import Memory
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
    name: str, own: Entry = None, entry: Entry = None, memory: Memory = None
) -> dict[str, Any]:
    """Return everything that determines the samples, for a workflow to compare.

    `module` lists or makes the samples, `versions` are those of packages that determine
    the content, and `fingerprint` covers causes other than code.
    """
    dataset = open_dataset(name, own, entry, memory)
    return {
        "own": None if own is None else dict(own),
        "module": type(dataset).__module__,
        "versions": dataset.versions(),
        "fingerprint": dataset.fingerprint(),
    }


def open_dataset(name: str, own: Entry, entry: Entry, memory: Memory = None) -> Dataset:
    """Return a data set: the user's own, a published one, or a generated one.

    `own` is passed to `own_dataset`, `entry` is that of the catalogue, and the file
    `memory` caches digests of the user's files, so that none is read twice. ConfigError
    names the nearest valid name; DataError explains the expected layout of the files.
    """
    if own is not None:
        return own_dataset(name, own, memory)
    if entry is not None and "resources" in entry:
        return PublishedDataset(name, entry)
    return make_dataset(name)


def own_dataset(name: str, own: Mapping[str, Any], memory: Memory = None) -> Dataset:
    """Return a data set of the user: a folder of files, tables, or a class.

    `own` has a `folder`, with other arguments of `FolderDataset`; `tables` by domain,
    with those of `TablesDataset`; or a `class` that makes its files, ``module:Class``
    or an entry point ``cdspp.datasets`` of an installed package, with its `options`.
    ConfigError names a missing key, or one that belongs to another kind.
    """
    how = {key: value for key, value in own.items() if key != "id"}
    if sum(key in how for key in ("folder", "tables", "class")) != 1:
        raise ConfigError(f"data set {name}: give a folder, tables or a class.")
    if "class" in how:
        return _from_class(name, **how)
    if "tables" in how:
        return TablesDataset(name, **how, memory=memory)
    if more := [key for key in how if key not in FolderDataset.keys]:
        raise ConfigError(f"data set {name}: {', '.join(more)} is only for tables.")
    if not isinstance(how.get("paired", ""), str):
        fault = (
            f"paired must name the folder of pairs in each domain, got {how['paired']}"
        )
        raise ConfigError(f"data set {name}: {fault}.")
    return FolderDataset(name, **how, memory=memory)


def _from_class(name: str, **how: Any) -> Dataset:
    place, options = how.pop("class"), how.pop("options", {})
    if how:
        raise ConfigError(f"data set {name}: {', '.join(how)} is not for a class.")
    cls = discovery.load_class(discovery.plugin_paths(__name__).get(place, place))
    if not issubclass(cls, Dataset):
        raise ConfigError(f"{place}: expected a class derived from {__name__}.Dataset.")
    discovery.check_options(f"data set {name}", options, discovery.defaults_of(cls))
    try:
        dataset = cls(**options)
        dataset.check_contents()
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error
    except Exception as error:
        fault = f"failed before it wrote a file ({type(error).__name__}: {error})"
        expected = "kind, domains, classes, contents() and generate(folder)"
        raise ConfigError(f"{place}: {fault}. Expected {expected}.") from error
    dataset.identifier = name
    return dataset
