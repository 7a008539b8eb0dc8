"""What the workflow calls: paths in, files out."""

from __future__ import annotations

from pathlib import Path

from cdspp.artifacts import LABEL_COLUMNS, write_rows
from cdspp.datasets import FolderDataset, make_dataset
from cdspp.datasets.base import INDEX_NAME, read_index
from cdspp.datasets.catalogue import check_catalogued, load_catalogue
from cdspp.errors import ConfigError

__all__ = ["prepare_dataset", "write_labels"]


def prepare_dataset(
    *,
    name: str,
    output: str | Path,
    folder: str | Path | None = None,
    catalogue: str | Path | None = None,
) -> None:
    """Put the files of a data set, and their index, where `output` says.

    Parameters
    ----------
    name : str
        Identifier of the data set.
    output : path
        The index to write, ``<folder of the data set>/index.json``.
    folder : path, optional
        The user's folder, if it is one; its files stay where they are.
    catalogue : path, optional
        Catalogue to compare the result with.

    Raises
    ------
    ConfigError
        There is no such data set, or `output` has another name.
    DataError
        The files are not what the catalogue or the layout of a folder promises.
    """
    target = Path(output)
    if target.name != INDEX_NAME:
        raise ConfigError(f"{target}: the index must be called {INDEX_NAME}.")
    dataset = make_dataset(name) if folder is None else FolderDataset(name, folder)
    index = dataset.prepare(target.parent)
    if catalogue is not None and folder is None:
        check_catalogued(index, load_catalogue(catalogue))


def write_labels(index_path: str | Path, domain: str, output: str | Path) -> None:
    """Write the ids and class names of a domain as Parquet.

    Parameters
    ----------
    index_path : path
        Index of the data set.
    domain : str
        Name of the domain.
    output : path
        Parquet file with `cdspp.artifacts.LABEL_COLUMNS`.
    """
    index = read_index(index_path)
    values = {"id": index.ids(domain), "label": index.labels(domain)}
    write_rows(output, LABEL_COLUMNS, values)
