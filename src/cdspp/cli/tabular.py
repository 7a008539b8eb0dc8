"""Rows of a domain from the user's files (CSV or NPZ), predictions back to CSV."""

from __future__ import annotations

import csv
import os
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.artifacts import atomic
from cdspp.core.errors import DataError
from cdspp.core.wording import counted
from cdspp.methods.base import UNLABELLED, Float, SourceDomain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DomainRows", "read_domain", "write_predictions"]

LABEL, ID = "label", "id"
# What people and programs write where they have no label.
NO_LABEL = ("", str(UNLABELLED), "NA", "<NA>", "?", "NaN", "nan", "None")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")


@dataclass(frozen=True, eq=False)
class DomainRows:
    """Rows of one domain as a file gives them; labels are text.

    Attributes
    ----------
    path : str
        The file, for messages.
    X : ndarray of shape (n, d)
        Features.
    ids : list of str
        Identifiers; the row numbers from 1 where the file has none.
    labels : list of str
        Labels, empty where a row has none.
    features : tuple of str
        Names of the features; empty where the file has none.
    unnamed_ids : bool
        Whether the identifiers come from a first column without a name.
    """

    path: str
    X: Float
    ids: Sequence[str]
    labels: Sequence[str]
    features: tuple[str, ...] = ()
    unnamed_ids: bool = False

    def target_labels(self) -> NDArray[Any]:
        """Return labels for `fit`: text, and -1 where a row has none."""
        y = np.empty(len(self.labels), dtype=object)
        y[:] = [label or UNLABELLED for label in self.labels]
        return y

    def told(self, role: str) -> str:
        """Describe the rows in one line."""
        known = [label for label in self.labels if label]
        classes = counted(len(set(known)), "class")
        return (
            f"{role}: {counted(len(self.labels), 'row')}, {len(known)} labelled in "
            f"{classes}, {counted(self.X.shape[1], 'feature')}"
            f"{', ids from the column without a name' if self.unnamed_ids else ''}"
        )

    def as_source(self) -> SourceDomain:
        """Return the rows as a source.

        Raises
        ------
        DataError
            A row has no label.
        """
        missing = [k for k, label in enumerate(self.labels, start=1) if not label]
        if missing:
            raise DataError(
                f"{self.path}: a source needs a label in every row, but {len(missing)} "
                f"of {len(self.labels)} have none (first: row {missing[0]}). Add a "
                f"column {LABEL!r} or leave these rows out."
            )
        return SourceDomain(self.X, list(self.labels))


def read_domain(path: str | os.PathLike[str]) -> DomainRows:
    """Read a domain from CSV or NPZ.

    Parameters
    ----------
    path : path
        CSV with a header: `label` (one of `NO_LABEL` where unlabelled) and `id` are
        optional columns, all others are features; a first column without a name holds
        ids. Or NPZ with `X` and, if wanted, `y` and `ids`.

    Raises
    ------
    DataError
        The file is missing, malformed or empty; the message says where.
    """
    readers = {".csv": _read_csv, ".npz": _read_npz}
    suffix = Path(path).suffix.lower()
    if suffix not in readers:
        raise DataError(f"{path}: expected a file that ends in .csv or .npz.")
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file.")
    rows = readers[suffix](Path(path))
    if not rows.X.size:
        raise DataError(f"{path}: expected rows of features, found none.")
    return rows


def _read_csv(path: Path) -> DomainRows:
    cells = _text_cells(path)
    header = cells.iloc[0].str.strip().tolist()
    unnamed = header[0] == "" and ID not in header
    if unnamed:
        header[0] = ID  # the index of a data frame, as pandas writes it
    for name in header:
        if header.count(name) > 1:
            raise DataError(f"{path}: the header has the column {name!r} twice.")
        if name != LABEL and name.lower() == LABEL:
            raise DataError(
                f"{path}: the header has a column {name!r}. Labels are in a column "
                f"{LABEL!r}: write it so, or give a feature another name."
            )
    rows = cells.iloc[1:].set_axis(header, axis="columns")
    features = [name for name in header if name not in (LABEL, ID)]
    return DomainRows(
        path=str(path),
        X=_numbers(rows[features], path),
        ids=rows[ID].tolist() if ID in rows else _numbered(len(rows)),
        labels=_texts(rows[LABEL] if LABEL in rows else [""] * len(rows)),
        features=tuple(features),
        unnamed_ids=unnamed,
    )


def _text_cells(path: Path) -> pd.DataFrame:
    """Return all cells of a CSV file as they stand there, the header in the first row.

    Blank lines are passed over.
    """
    import pandas as pd

    try:
        # No cell stands for a missing value: a class may be called NA.
        cells = pd.read_csv(
            path, header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a text file in UTF-8 ({error}).") from error
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path}: empty. Expected a header and rows.") from error
    except pd.errors.ParserError as error:
        unreadable = DataError(f"{path}: cannot be read as CSV ({error}).")
        raise _uneven_record(path) or unreadable from error
    # A short record is filled up with empty cells: only they make it worth a look.
    if cells.iloc[:, -1].eq("").any() and (fault := _uneven_record(path)):
        raise fault
    return cells


def _uneven_record(path: Path) -> DataError | None:
    """Return what is wrong with the first record that is not as long as the header."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        lines = csv.reader(stream)
        records = (cells for cells in lines if len(cells) > 1 or "".join(cells).strip())
        width = len(next(records))
        for number, cells in enumerate(records, start=2):
            if len(cells) != width:
                return DataError(
                    f"{path}: record {number} has {len(cells)} cells, the header "
                    f"{width}."
                )
    return None


def _numbers(cells: pd.DataFrame, path: Path) -> Float:
    """Return the cells as Python's own `float` reads them, to the last bit."""
    X = np.empty(cells.shape)
    try:
        for k, (_, column) in enumerate(cells.items()):
            X[:, k] = column.to_numpy(dtype=object)
    except ValueError:
        for record, row in enumerate(cells.itertuples(index=False), start=2):
            for name, cell in zip(cells.columns, row, strict=True):
                _require_number(cell, path, name, record)
        raise
    return X


def _require_number(cell: str, path: Path, column: str, record: int) -> None:
    try:
        float(cell)
    except ValueError as error:
        raise DataError(
            f"{path}: record {record}, column {column!r}: {cell!r} is not a number. "
            f"Every column but {LABEL!r} and {ID!r} is a feature."
        ) from error


def _numbered(n: int) -> list[str]:
    return [str(k) for k in range(1, n + 1)]


def _read_npz(path: Path) -> DomainRows:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a readable NPZ file ({error}).") from error
    X = arrays.get("X")
    if X is None or X.ndim != 2 or X.dtype.kind not in "biuf":
        found = ", ".join(f"{k} {v.shape}" for k, v in arrays.items()) or "nothing"
        raise DataError(f"{path}: expected a matrix X of numbers, found {found}.")
    n = len(X)
    labels, ids = arrays.get("y", np.full(n, "")), arrays.get("ids")
    ids = np.array(_numbered(n)) if ids is None else ids
    for name, values in (("y", labels), ("ids", ids)):
        if values.shape != (n,):
            raise DataError(
                f"{path}: {name} has shape {values.shape}, expected one entry for each "
                f"of the {n} rows of X."
            )
    return DomainRows(
        path=str(path),
        X=X.astype(np.float64),
        ids=[str(value) for value in ids],
        labels=_texts(labels.tolist()),
    )


def _texts(labels: Iterable[Any]) -> list[str]:
    """Return labels as text: 7 and 7.0 are "7", all of `NO_LABEL` is ""."""
    found = []
    for value in labels:
        text = str(value).strip()
        if whole := _WHOLE.fullmatch(text):
            text = whole[1]
        found.append("" if text in NO_LABEL else text)
    return found


def write_predictions(
    path: str | os.PathLike[str],
    ids: Iterable[str],
    predicted: Iterable[Any],
    confidence: Iterable[float] | None,
) -> None:
    """Write CSV: id, predicted, confidence (empty where there is none)."""
    import pandas as pd

    table = pd.DataFrame({ID: list(ids), "predicted": list(predicted)}, dtype=object)
    table["confidence"] = ""
    if confidence is not None:
        table["confidence"] = [f"{value:.6g}" for value in confidence]
    with (
        atomic(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        table.to_csv(stream, index=False, lineterminator="\n")
