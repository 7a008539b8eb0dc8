"""Data sets: what generates or finds the files of each, one module a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from cdspp.datasets.base import Dataset, Index, Sample, check_index, read_index
from cdspp.datasets.folder import FolderDataset
from cdspp.discovery import Found, find_identifiers, load_named_class

__all__ = [
    "Dataset",
    "FolderDataset",
    "Index",
    "Sample",
    "available_datasets",
    "check_index",
    "dataset_recipe",
    "make_dataset",
    "read_index",
]


def available_datasets() -> tuple[str, ...]:
    """List the identifiers of the data sets this package can generate.

    Examples
    --------
    >>> from cdspp.datasets import available_datasets
    >>> available_datasets()
    ('digits', 'docs-to-code')
    """
    return tuple(_classes())


def make_dataset(name: str) -> Dataset:
    """Build the data set called `name`.

    Raises
    ------
    ConfigError
        There is no such data set; the message names the nearest one.

    Examples
    --------
    >>> from cdspp.datasets import make_dataset
    >>> make_dataset("digits").domains
    ('print', 'sketch', 'photo', 'tilted')
    """
    made = load_named_class(__name__, _classes(), name, "data set")()
    return cast(Dataset, made)


def dataset_recipe(name: str, folder: str | None = None) -> dict[str, Any]:
    """Return what decides the content of a data set, for a workflow to compare.

    Parameters
    ----------
    name : str
        Identifier of the data set.
    folder : str, optional
        The user's folder, if it is one.

    Returns
    -------
    dict
        `folder`, the `module` that lists or makes the files, the `versions` of the
        packages that decide the content, the `fingerprint` of a user's files.
    """
    if folder is not None:
        own = FolderDataset(name, folder)
        module = FolderDataset.__module__
        mark = own.fingerprint()
        return {"folder": folder, "module": module, "versions": {}, "fingerprint": mark}
    made = make_dataset(name)
    module = type(made).__module__
    return {"folder": None, "module": module, "versions": made.versions()}


def _classes() -> dict[str, Found]:
    return find_identifiers(Path(__file__).parent)
