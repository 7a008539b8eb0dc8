"""Data sets and their labels as files of the workflow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdspp.core.files import read_json
from cdspp.core.names import PathLike
from cdspp.datasets import PublishedDataset, open_dataset
from cdspp.datasets.base import read_index
from cdspp.datasets.catalogue import check_catalogued, load_catalogue
from cdspp.datasets.published import check_published_splits, published_labels
from cdspp.stages.formats import LABEL_COLUMNS, write_rows


def prepare_dataset(
    *,
    name: str,
    output: PathLike,
    own: Mapping[str, Any] | None = None,
    catalogue: PathLike | None = None,
) -> None:
    """Put the files of a data set next to the index at `output`.

    `own` locates the user's files (`cdspp.datasets.own_dataset`), which stay in their
    place. DataError: the result differs from the `catalogue`.
    """
    entries = {} if catalogue is None else load_catalogue(Path(catalogue))
    dataset = open_dataset(name, own, entries.get(name))
    if catalogue is not None and isinstance(dataset, PublishedDataset):
        # Check that the published splits can be drawn again, before features are read.
        digests = read_json(Path(catalogue).with_name("published-splits.json"))
        for role, domains in digests.get(name, {}).items():
            for domain, split_digests in domains.items():
                where = f"data set {name}, domain {domain} as {role}"
                labels = published_labels(dataset.entry, domain)
                check_published_splits(where, labels, dataset.classes, split_digests)
    index = dataset.prepare(Path(output).parent)
    if own is None:
        check_catalogued(index, entries)
    elif "class" in own:
        dataset.check_contents(index)


def write_labels(index_path: PathLike, domain: str, output: PathLike) -> None:
    """Write ids and class names of a domain as Parquet, except for paired rows."""
    samples = read_index(Path(index_path)).unpaired(domain)
    rows: dict[str, list[Any]] = {
        "id": [sample.id for sample in samples],
        "label": [sample.label or None for sample in samples],
        "position": [sample.position for sample in samples],
    }
    write_rows(output, LABEL_COLUMNS, rows)
