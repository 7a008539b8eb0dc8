"""Rows of a domain from the user's tables and arrays."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.labels import NULL_WORDS, UNLABELLED, as_text, is_missing, null_words
from cdspp.core.wording import counted
from cdspp.datasets.table_files import ID, LABEL, Columns, missing_name, read_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DomainRows",
    "complete",
    "read_domain",
    "require_dropped",
]

# What labels and identifiers are called among arrays.
LABEL_ARRAYS, ID_ARRAYS = ("y", "label", "labels"), ("ids", "id")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")


@dataclass(frozen=True, eq=False)
class DomainRows:
    """Rows of one domain as a file gives them; labels are text.

    Attributes
    ----------
    path : str
        The file, for messages.
    X : ndarray of shape (n, d)
        Features, NaN where a number is missing.
    ids : list of str
        Identifiers; the row numbers from 1 where the file has none.
    labels : list of str
        Labels, empty where a row has none.
    features : tuple of str
        Names of the features; empty where the file has none.
    records : sequence of int
        Numbers of the rows in the file; a header is a record as well.
    has_ids : bool
        Whether the file has identifiers.
    dropped : tuple of str
        Which of the columns to leave out were there.
    scaling : str
        How the features were scaled.
    width : int
        Number of features in the file, where the scaling left X another.
    notes : tuple of str
        What else is to be said of the rows.
    null_words : str
        Words, counted, that stand where there is no label.
    """

    path: str
    X: NDArray[np.float64]
    ids: Sequence[str]
    labels: Sequence[str]
    features: tuple[str, ...] = ()
    records: Sequence[int] = ()
    has_ids: bool = False
    dropped: tuple[str, ...] = ()
    scaling: str = ""
    width: int = 0
    notes: tuple[str, ...] = ()
    null_words: str = ""

    def told(self, role: str) -> str:
        """Describe the rows in one line."""
        known = [label for label in self.labels if label]
        classes = counted(len(set(known)), "class")
        labelled = f"{len(known)} labelled in {classes}" if known else "no label"
        parts = [
            counted(len(self.labels), "row"),
            labelled,
            self.null_words and f"read as no label: {self.null_words}",
            counted(self.width or self.X.shape[1], "feature"),
            self.scaling,
            *self.notes,
        ]
        return f"{role}: {', '.join(filter(None, parts))}"

    def with_features(self, names: Sequence[str]) -> DomainRows:
        """Return the rows with some features, in that order."""
        return replace(self, X=self.X[:, self.places(names)], features=tuple(names))

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the places of features."""
        known = {name: place for place, name in enumerate(self.features)}
        return [known[name] for name in names]

    def require_distinct_ids(self) -> None:
        """Raise DataError where two rows have one id."""
        name, count = Counter(self.ids).most_common(1)[0]
        if count > 1:
            raise DataError(
                f"{self.path}: the id {name!r} is there {count} times, expected once. "
                "Name a column of other ids by --id, or leave out rows."
            )

    def require_names(self) -> None:
        """Raise DataError where names are numbers, other than a count of columns."""
        names, n = list(self.features), len(self.features)
        counted_up = [[str(k + first) for k in range(n)] for first in (0, 1)]
        numbers = (_is_missing(k) or not math.isnan(_number(k)) for k in names)
        if names and names not in counted_up and all(numbers):
            raise DataError(
                f"{self.path}: the first row holds numbers ({names[0]}, ...), expected "
                "the names of the columns. Put a row of names above it."
            )

    def place(self, row: int, column: int) -> str:
        """Say where a number stands in the file."""
        if not self.features:
            return f"{self.path}: row {row + 1}, feature {column + 1}"
        record, name = self.records[row], self.features[column]
        return f"{self.path}: record {record}, column {name!r}"


def read_domain(
    path: str | os.PathLike[str], columns: Columns | None = None
) -> DomainRows:
    """Read a domain from a table or from arrays.

    Parameters
    ----------
    path : path
        A table with a header (CSV, TSV, Parquet, XLSX): `label` (empty, -1 or one
        of `NULL_WORDS` where unlabelled) and `id` are optional columns, all others are
        features; a first column without a name holds ids. Or arrays (NPZ, MATLAB): `X`,
        in MATLAB also a matrix of another name, if wanted, `y` and `ids`.
    columns : Columns, optional
        Other names of these columns or arrays, and columns to leave out.

    Raises
    ------
    DataError
        The file is missing, malformed or empty; the message says where.
    """
    columns = columns or Columns()
    content = read_file(Path(path), columns)
    of_kind: Any = _from_arrays if isinstance(content, dict) else _from_table
    rows: DomainRows = of_kind(content, str(path), columns)
    if not rows.X.size:
        raise DataError(f"{path}: expected rows of features, found none.")
    return rows


def _from_table(table: pd.DataFrame, path: str, columns: Columns) -> DomainRows:
    label, id_ = columns.label or LABEL, columns.id or ID
    header, notes = list(table), []
    for option in columns.required:
        asked = getattr(columns, option)
        if asked and asked not in header:
            raise DataError(missing_name(path, option, asked, header))
    if header[0] == "":  # the index of a data frame, as pandas writes it
        if id_ in header:
            table, header = table.iloc[:, 1:], header[1:]
            notes = ["the column without a name left out"]
        else:
            header[0] = id_
            notes = ["ids from the column without a name"]
    _check_header(header, path, columns)
    rows = table.set_axis(header, axis="columns")
    others = {label, id_, *columns.drop}
    features = [n for n in header if n not in others]
    X = _numbers(rows[features], path)
    labels = rows[label].tolist() if label in rows else [""] * len(rows)
    ids = (
        [as_text(value) for value in rows[id_]] if id_ in rows else _numbered(len(rows))
    )
    return DomainRows(
        path=path,
        X=X,
        ids=ids,
        labels=_texts(labels),
        features=tuple(features),
        records=[int(number) + 1 for number in rows.index],
        has_ids=id_ in rows,
        dropped=tuple(name for name in columns.drop if name in header),
        notes=tuple(notes),
        null_words=null_words(labels),
    )


def _check_header(header: Sequence[str], path: str, columns: Columns) -> None:
    label, id_ = columns.label or LABEL, columns.id or ID
    for name, count in Counter(header).items():
        if count > 1:
            raise DataError(f"{path}: the header has the column {name!r} twice.")
    others = {label, id_, *columns.drop}
    for name in header:
        if name in others:
            continue
        for option, there in ((LABEL, label), (ID, id_)):
            if name.lower() in (there.lower(), option):
                raise DataError(
                    f"{path}: the header has a column {name!r}, but the column of "
                    f"{option}s is {there!r}. Name it by --{option} "
                    f"{shlex.quote(name)}, leave it out with --drop "
                    f"{shlex.quote(name)}, or give a feature another name."
                )


def _numbers(cells: pd.DataFrame, path: str) -> NDArray[np.float64]:
    """Return text as Python's own `float` reads it, to the last bit; NaN is missing."""
    import pandas as pd

    X = np.empty(cells.shape)
    faults = []
    for k, (_, column) in enumerate(cells.items()):
        if pd.api.types.is_numeric_dtype(column.dtype):
            X[:, k] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            continue
        values = column.to_numpy(dtype=object)
        try:
            X[:, k] = values
        except (TypeError, ValueError):
            X[:, k] = [_number(cell) for cell in values]
            gaps = np.flatnonzero(np.isnan(X[:, k]))
            faults += [(row, k) for row in gaps if not _is_missing(values[row])][:1]
    if faults:
        row, k = min(faults)
        _refuse_cell(cells.iloc[row, k], path, cells.columns[k], cells.index[row] + 1)
    return X


def _is_missing(cell: Any) -> bool:
    return str(cell).strip().lower() in NULL_WORDS


def _number(cell: Any) -> float:
    try:
        return math.nan if _is_missing(cell) else float(cell)
    except (TypeError, ValueError):
        return math.nan


def _refuse_cell(cell: Any, path: str, column: str, record: int) -> None:
    shown = repr(cell) if len(repr(cell)) <= 40 else f"{repr(cell)[:37]}..."
    remedy = (
        "Every column but those of labels and ids is a feature: name them by --label "
        f"and --id, or leave this one out with --drop {shlex.quote(column)}."
    )
    if isinstance(cell, str) and re.fullmatch(r"[+-]?\d*,\d+", cell.strip()):
        remedy = "Write a decimal point."
    raise DataError(
        f"{path}: record {record}, column {column!r}: {shown} is not a number. {remedy}"
    )


def _numbered(n: int) -> list[str]:
    return [str(k) for k in range(1, n + 1)]


def _from_arrays(
    arrays: dict[str, NDArray[Any]], path: str, columns: Columns
) -> DomainRows:
    label = _array_name(arrays, path, columns, "label", LABEL_ARRAYS)
    id_ = _array_name(arrays, path, columns, "id", ID_ARRAYS)
    X = _matrix(arrays, path, (label, id_, *columns.drop))
    n = len(X)
    labels = np.full(n, "") if label is None else arrays[label]
    ids = np.array(_numbered(n)) if id_ is None else arrays[id_]
    for name, values in ((label, labels), (id_, ids)):
        if values.shape != (n,):
            turned = values.shape == X.shape[1:]
            hint = " Rows of X are samples: transpose it." if turned else ""
            raise DataError(
                f"{path}: {name} has shape {values.shape}, expected one entry for each "
                f"of the {n} rows of X.{hint}"
            )
    return DomainRows(
        path=path,
        X=X.astype(np.float64),
        ids=[as_text(value) for value in ids],
        labels=_texts(labels.tolist()),
        null_words=null_words(labels.tolist()),
        has_ids=id_ is not None,
        dropped=tuple(name for name in columns.drop if name in arrays),
    )


def _array_name(
    arrays: dict[str, NDArray[Any]],
    path: str,
    columns: Columns,
    option: str,
    usual: Sequence[str],
) -> str | None:
    asked: str | None = getattr(columns, option)
    if asked in arrays:
        return asked
    if asked and option in columns.required:
        raise DataError(missing_name(path, option, asked, arrays))
    found = [n for n in usual if n in arrays and n not in columns.drop]
    if len(found) > 1:
        raise DataError(
            f"{path}: has {' and '.join(found)}. Say which holds the {option}s: "
            f"--{option} {found[0]}"
        )
    return found[0] if found else None


def _matrix(
    arrays: dict[str, NDArray[Any]], path: str, others: Sequence[str | None]
) -> NDArray[Any]:
    """Return X, or the only other matrix of numbers in a MATLAB file."""
    matrices = {
        name: array
        for name, array in arrays.items()
        if array.ndim == 2 and array.dtype.kind in "biuf" and name not in others
    }
    if "X" in matrices:
        return matrices["X"]
    if Path(path).suffix.lower() == ".mat" and "X" not in arrays and len(matrices) == 1:
        return next(iter(matrices.values()))
    found = ", ".join(f"{k} {v.shape}" for k, v in arrays.items()) or "nothing"
    raise DataError(f"{path}: expected a matrix X of numbers, found {found}.")


def _texts(labels: Iterable[Any]) -> list[str]:
    """Return labels as text: 7 and 7.0 are "7", what means that there is none is ""."""
    found = []
    for value in labels:
        text = "" if is_missing(value) else as_text(value).strip()
        if whole := _WHOLE.fullmatch(text):
            text = whole[1]
        found.append("" if text == str(UNLABELLED) else text)
    return found


def complete(
    rows: DomainRows, *, impute: bool = False, means: NDArray[np.float64] | None = None
) -> DomainRows:
    """Return rows whose features are all finite.

    Parameters
    ----------
    rows : DomainRows
        Rows as read.
    impute : bool, default=False
        Whether a number that is missing or not finite becomes the mean of its column.
    means : ndarray of shape (d,), optional
        The means to take; by default those of the finite numbers in the file.

    Raises
    ------
    DataError
        A number is missing and not to be imputed, or a column has none at all.
    """
    holes = ~np.isfinite(rows.X)
    if not holes.any():
        return rows
    if not impute:
        row, column = map(int, np.argwhere(holes)[0])
        value = rows.X[row, column]
        fault = "the number is missing" if np.isnan(value) else f"{value} is not finite"
        raise DataError(
            f"{rows.place(row, column)}: {fault} (of {holes.sum()} such). Fill it in, "
            "leave the column out with --drop, or take the means of columns with "
            "--impute."
        )
    known = np.where(holes, 0.0, rows.X)
    if means is None or len(means) != rows.X.shape[1]:
        counts = (~holes).sum(axis=0)
        if not counts.all():
            column = int(np.argmin(counts))
            raise DataError(
                f"{rows.place(0, column)}: the column has no number to take the mean "
                "of. Leave it out with --drop."
            )
        means = known.sum(axis=0) / counts
    note = f"{counted(int(holes.sum()), 'number')} imputed"
    filled = np.where(holes, means, rows.X)
    return replace(rows, X=filled, notes=(*rows.notes, note))


def require_dropped(names: Sequence[str], read: Sequence[DomainRows]) -> None:
    """Refuse columns to leave out that are in none of the files."""
    there = {name for rows in read for name in rows.dropped}
    for name in names:
        if name not in there:
            paths = " and ".join(rows.path for rows in read)
            known = dict.fromkeys(n for rows in read for n in rows.features)
            raise DataError(missing_name(paths, "drop", name, known))
