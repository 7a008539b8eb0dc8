"""Table 1, counted from the data: domains, samples, classes, features, labels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cdspp.analysis.summary import Layout
from cdspp.core.artifacts import SPLIT_COLUMNS, read_features, read_labels, read_rows
from cdspp.core.errors import DataError
from cdspp.core.names import UNLABELLED_ROLE, within_domain
from cdspp.core.wording import DASH
from cdspp.report.tables.benchmark import write_tables
from cdspp.report.tables.table import Cell, Line, Table

__all__ = [
    "Contents",
    "build_contents_table",
    "contents_tables",
    "read_contents",
    "write_contents",
]

PathLike = str | os.PathLike[str]
Range = tuple[int, int]
File = TypeVar("File")

_ROLES = ("source", "target")
_FIELDS = (
    "benchmark",
    "role",
    "dataset",
    "domain",
    "samples",
    "classes",
    "view",
    "features",
    "trials",
    "fewest_labelled_per_class",
    "most_labelled_per_class",
    "fewest_labelled",
    "most_labelled",
    "fewest_unlabelled",
    "most_unlabelled",
)


@dataclass(frozen=True)
class Contents:
    """What a domain holds and gives in one role.

    Attributes
    ----------
    role : {'source', 'target'}
        What the domain serves as.
    dataset, domain, view : str
        Where its samples come from, and by what they are described.
    samples, classes, features : int
        Samples of the domain, their classes, and the number of features of the view.
    trials : int
        Trials counted.
    labelled_per_class, labelled, unlabelled : tuple of (int, int)
        Fewest and most over trials (and classes): labelled samples of a class, labelled
        samples, and unlabelled ones, which are the test samples.
    """

    role: str
    dataset: str
    domain: str
    view: str
    samples: int
    classes: int
    features: int
    trials: int
    labelled_per_class: Range
    labelled: Range
    unlabelled: Range


def contents_tables(layout: Layout) -> list[str]:
    """Names of the tables of `write_contents`."""
    return [f"contents_{layout['benchmark']}"]


def write_contents(
    *,
    layout: Layout,
    labels: Sequence[PathLike],
    features: Sequence[PathLike],
    splits: Sequence[PathLike],
    outputs: Sequence[PathLike],
) -> None:
    """Write the table of what a benchmark holds.

    Parameters
    ----------
    layout : mapping
        The benchmark; `views` names the view of each role.
    labels : sequence of path
        Files of labels, ``.../<dataset>/<domain>.parquet``.
    features : sequence of path
        Files of features, ``.../<dataset>/<domain>.<view>.npz``.
    splits : sequence of path
        Files of splits, ``.../<role>/<domain>/<block>.parquet``: all blocks of all
        domains that the tasks use.
    outputs : sequence of path
        Files to write; the suffix (csv, md, tex) names the form.
    """
    found = read_contents(layout, labels, features, splits)
    write_tables([build_contents_table(found, layout)], outputs)


def read_contents(
    layout: Layout,
    labels: Sequence[PathLike],
    features: Sequence[PathLike],
    splits: Sequence[PathLike],
) -> list[Contents]:
    """Count what a benchmark holds; parameters as in `write_contents`.

    Returns
    -------
    list of Contents
        Sources, then targets, in the order in which the tasks name them.

    Raises
    ------
    DataError
        The file of a domain is missing, or features and labels have other samples.
    """
    label_files = {path.stem: path for path in map(Path, labels)}
    feature_files = {path.stem: path for path in map(Path, features)}
    blocks: dict[str, list[Path]] = {}
    for path in map(Path, splits):
        blocks.setdefault("/".join(path.parent.parts[-2:]), []).append(path)
    found = []
    for place, role in enumerate(_ROLES):
        view = layout["views"][role]
        for domain in dict.fromkeys(t.split("_")[place] for t in layout["tasks"]):
            files = (
                _file(label_files, domain),
                _file(feature_files, f"{domain}.{view}"),
                _file(blocks, f"{role}/{domain}"),
            )
            found.append(_count(role, domain, view, *files))
    return found


def build_contents_table(contents: Sequence[Contents], layout: Layout) -> Table:
    """Build the table ``contents_<benchmark>``: a line a domain and role.

    Parameters
    ----------
    contents : sequence of Contents
        What `read_contents` counted.
    layout : mapping
        The benchmark.
    """
    return Table(
        name=f"contents_{layout['benchmark']}",
        title=f"{layout['title']}: what it holds",
        caption=_caption(contents, layout),
        columns=(
            "Domain",
            "Serves as",
            "Data set",
            "View",
            "Samples",
            "Classes",
            "Features",
            "Labelled per class",
            "Labelled",
            "Test",
        ),
        lines=tuple(_line(entry) for entry in contents),
        fields=_FIELDS,
        records=[_record(entry, layout["benchmark"]) for entry in contents],
        text_columns=4,
        headings=True,
    )


def _caption(contents: Sequence[Contents], layout: Layout) -> str:
    trials = max((entry.trials for entry in contents), default=0)
    within = any(map(within_domain, layout["tasks"]))
    exception = ""
    if within and layout.get("overlap") == "exclude":
        exception = ", save those that the task has labelled in its source"
    return (
        "Counted from the files of features, labels and splits: labelled and test "
        f"samples of a trial, a range where trials (of {trials}) or classes differ. "
        f"Every unlabelled target sample is a test sample{exception}."
    )


def _file(files: Mapping[str, File], key: str) -> File:
    if key not in files:
        known = ", ".join(files) or "none"
        raise DataError(
            f"expected a file of {key}, got those of {known}. Give the files of all "
            "domains that the tasks use."
        )
    return files[key]


def _count(
    role: str,
    domain: str,
    view: str,
    labels: Path,
    features: Path,
    splits: Sequence[Path],
) -> Contents:
    known, described = read_labels(labels), read_features(features)
    if known.keys() != set(described.ids):
        raise DataError(
            f"{features}: {len(described.ids)} samples, but {len(known)} in {labels}, "
            "or others. Delete both and run again."
        )
    trials, classes, n_unlabelled = _trials(splits)
    return Contents(
        role=role,
        dataset=labels.parent.name,
        domain=domain,
        view=view,
        samples=len(known),
        classes=len(set(known.values())),
        features=int(described.X.shape[1]),
        trials=len(trials),
        labelled_per_class=_range(classes),
        labelled=_range(classes.sum(axis=1)),
        unlabelled=_range(n_unlabelled),
    )


def _trials(
    splits: Sequence[Path],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the trials, their labelled samples by class, their unlabelled samples."""
    blocks = [read_rows(path, SPLIT_COLUMNS) for path in splits]
    trial = np.concatenate([block["trial"] for block in blocks])
    unlabelled = np.concatenate([block["role"] for block in blocks]) == UNLABELLED_ROLE
    label = np.concatenate([block["label"] for block in blocks])[~unlabelled]
    trials, place = np.unique(trial, return_inverse=True)
    names, name = np.unique(label.astype(np.str_), return_inverse=True)
    classes = np.zeros((trials.size, names.size), dtype=np.int64)
    np.add.at(classes, (place[~unlabelled], name), 1)
    return trials, classes, np.bincount(place[unlabelled], minlength=trials.size)


def _range(counts: NDArray[np.int64]) -> Range:
    return int(counts.min()), int(counts.max())


def _line(entry: Contents) -> Line:
    numbers = (entry.samples, entry.classes, entry.features)
    source = entry.role == "source"
    return Line(
        (
            Cell(entry.domain),
            Cell(entry.role),
            Cell(entry.dataset),
            Cell(entry.view),
            *(Cell(str(number), value=number) for number in numbers),
            _range_cell(entry.labelled_per_class),
            _range_cell(entry.labelled),
            Cell(DASH) if source else _range_cell(entry.unlabelled),
        ),
        entry.role.capitalize(),
    )


def _range_cell(counts: Range) -> Cell:
    low, high = counts
    return Cell(str(low) if low == high else f"{low} to {high}", value=high)


def _record(entry: Contents, benchmark: str) -> dict[str, object]:
    values = asdict(entry)
    for name in (f.name for f in fields(entry) if isinstance(values[f.name], tuple)):
        low, high = values.pop(name)
        values |= {f"fewest_{name}": low, f"most_{name}": high}
    return {"benchmark": benchmark, **values}
