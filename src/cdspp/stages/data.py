"""What the workflow calls: paths in, files out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdspp.core.errors import ConfigError
from cdspp.core.whole_files import read_json
from cdspp.datasets import PublishedDataset, open_dataset
from cdspp.datasets.base import INDEX_NAME, check_contents, read_index
from cdspp.datasets.catalogue import check_catalogued, load_catalogue
from cdspp.datasets.published import check_published_splits, published_labels
from cdspp.stages.artifacts import LABEL_COLUMNS, write_rows

__all__ = ["prepare_dataset", "write_labels"]

PUBLISHED_SPLITS = "published-splits.json"


def prepare_dataset(
    *,
    name: str,
    output: str | Path,
    own: Mapping[str, Any] | None = None,
    catalogue: str | Path | None = None,
) -> None:
    """Put the files of a data set, and their index, where `output` says.

    `output` is ``<folder of the data set>/index.json``. `own` says where the user's
    files are, if it is of these (`cdspp.datasets.own_dataset`); they stay there. What
    comes out is compared with the `catalogue`: DataError where it differs.
    """
    target = Path(output)
    if target.name != INDEX_NAME:
        raise ConfigError(f"{target}: the index must be called {INDEX_NAME}.")
    entries = {} if catalogue is None else load_catalogue(catalogue)
    dataset = open_dataset(name, own, entries.get(name))
    if catalogue is not None and isinstance(dataset, PublishedDataset):
        _check_published(dataset, Path(catalogue).with_name(PUBLISHED_SPLITS))
    index = dataset.prepare(target.parent)
    if own is None:
        check_catalogued(index, entries)
    elif "class" in own:
        check_contents(dataset, index)


def _check_published(dataset: PublishedDataset, digests: Path) -> None:
    """Regenerate the published splits and compare; the features must fit them later."""
    expected = read_json(digests)
    for role, domains in expected.get(dataset.identifier, {}).items():
        for domain in domains:
            check_published_splits(
                dataset=dataset.identifier,
                domain=domain,
                role=role,
                labels=published_labels(dataset.entry, domain),
                class_order=dataset.classes,
                expected=expected,
            )


def write_labels(index_path: str | Path, domain: str, output: str | Path) -> None:
    """Write ids and class names of a domain as Parquet, of all but paired samples."""
    samples = read_index(index_path).unpaired(domain)
    rows: dict[str, list[Any]] = {
        "id": [sample.id for sample in samples],
        "label": [sample.label or None for sample in samples],
        "position": [sample.position for sample in samples],
    }
    write_rows(output, LABEL_COLUMNS, rows)
