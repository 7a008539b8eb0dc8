"""Rows of a domain from the user's tables and arrays."""

from __future__ import annotations

import math
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
from cdspp.datasets.table_files import ID, LABEL, Arrays, Columns, no_column, read_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DomainRows", "complete", "read_domain", "require_dropped"]

# What labels and identifiers are called among arrays.
LABEL_ARRAYS, ID_ARRAYS = ("y", "label", "labels"), ("ids", "id")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")


@dataclass(frozen=True, eq=False)
class DomainRows:
    """Rows of one domain as a file gives them.

    `X` (n, d) has NaN where a number is missing; `labels` are text, empty where a row
    has none; `ids` are the row numbers from 1 where the file has none. `features` are
    the names of the columns, empty where the file has no names; `records` the numbers
    of the rows in the file, where a header is a record as well; `dropped` the columns
    to leave out that were there; `null_words` the words, counted, that stand where
    there is no label. `width` is the number of features in the file, where `scaling`
    left X another, and `notes` is what else is to be said.
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
        parts = [
            counted(len(self.labels), "row"),
            f"{len(known)} labelled in {classes}" if known else "no label",
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


def read_domain(path: str | Path, columns: Columns | None = None) -> DomainRows:
    """Read a domain from a table or from arrays.

    A table has a header (CSV, TSV, Parquet, XLSX): `label` (empty, -1 or one of
    `NULL_WORDS` where unlabelled) and `id` are optional columns, all others are
    features; a first column without a name holds ids. Arrays (NPZ, MATLAB) are `X`, in
    MATLAB also a matrix of another name, if wanted, `y` and `ids`. DataError says where
    the file is malformed.
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
            raise DataError(no_column(path, option, asked, header))
    if header[0] == "":  # the index of a data frame, as pandas writes it
        if id_ in header:
            table, header = table.iloc[:, 1:], header[1:]
            notes = ["the column without a name left out"]
        else:
            header[0] = id_
            notes = ["ids from the column without a name"]
    features = _feature_names(header, path, columns)
    rows = table.set_axis(header, axis="columns")
    labels = rows[label].tolist() if label in rows else [""] * len(rows)
    has_ids = id_ in rows
    return DomainRows(
        path=path,
        X=_numbers(rows[features], path),
        ids=[*map(as_text, rows[id_] if has_ids else range(1, len(rows) + 1))],
        labels=_texts(labels),
        features=tuple(features),
        records=[int(number) + 1 for number in rows.index],
        has_ids=has_ids,
        dropped=tuple(name for name in columns.drop if name in header),
        notes=tuple(notes),
        null_words=null_words(labels),
    )


def _feature_names(header: Sequence[str], path: str, columns: Columns) -> list[str]:
    """Return the columns that are features, none of which looks like another part."""
    for name, count in Counter(header).items():
        if count > 1:
            raise DataError(f"{path}: the header has the column {name!r} twice.")
    named = {LABEL: columns.label or LABEL, ID: columns.id or ID}
    others = {*named.values(), *columns.drop}
    features = [name for name in header if name not in others]
    for name in features:
        for option, there in named.items():
            if name.lower() in (there.lower(), option):
                raise DataError(
                    f"{path}: the header has a column {name!r}, but the column of "
                    f"{option}s is {there!r}. Name it by --{option} "
                    f"{shlex.quote(name)}, leave it out with --drop "
                    f"{shlex.quote(name)}, or give a feature another name."
                )
    return features


def _numbers(cells: pd.DataFrame, path: str) -> NDArray[np.float64]:
    """Return the features, or refuse the first cell, row by row, that is no number."""
    X, faults = np.empty(cells.shape), []
    for k, (_, column) in enumerate(cells.items()):
        X[:, k], wrong = _read_column(column)
        faults += [(row, k) for row in wrong]
    if not faults:
        return X
    row, k = min(faults)
    cell, name, record = cells.iloc[row, k], cells.columns[k], cells.index[row] + 1
    shown = repr(cell) if len(repr(cell)) <= 40 else f"{repr(cell)[:37]}..."
    remedy = (
        "Every column but those of labels and ids is a feature: name them by --label "
        f"and --id, or leave this one out with --drop {shlex.quote(name)}."
    )
    if isinstance(cell, str) and re.fullmatch(r"[+-]?\d*,\d+", cell.strip()):
        remedy = "Write a decimal point."
    raise DataError(
        f"{path}: record {record}, column {name!r}: {shown} is not a number. {remedy}"
    )


def _read_column(column: pd.Series) -> tuple[Any, list[int]]:
    """Read a feature: its numbers, and the row of the first cell that holds none.

    Text is read as Python's own `float` reads it, to the last bit; NaN is missing.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), []
    cells = column.to_numpy(dtype=object)
    try:
        return cells.astype(np.float64), []
    except (TypeError, ValueError):
        values = np.array([_number(cell) for cell in cells])
    gaps: list[int] = np.flatnonzero(np.isnan(values)).tolist()
    return values, [row for row in gaps if not _is_missing(cells[row])][:1]


def _is_missing(cell: Any) -> bool:
    return str(cell).strip().lower() in NULL_WORDS


def _number(cell: Any) -> float:
    try:
        return math.nan if _is_missing(cell) else float(cell)
    except (TypeError, ValueError):
        return math.nan


def _from_arrays(arrays: Arrays, path: str, columns: Columns) -> DomainRows:
    label = _array_name(arrays, path, columns, "label", LABEL_ARRAYS)
    id_ = _array_name(arrays, path, columns, "id", ID_ARRAYS)
    X = _matrix(arrays, path, (label, id_, *columns.drop))
    n = len(X)
    labels = np.full(n, "") if label is None else arrays[label]
    ids = np.arange(1, n + 1) if id_ is None else arrays[id_]
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
        ids=[*map(as_text, ids)],
        labels=_texts(labels.tolist()),
        null_words=null_words(labels.tolist()),
        has_ids=id_ is not None,
        dropped=tuple(name for name in columns.drop if name in arrays),
    )


def _array_name(
    arrays: Arrays, path: str, columns: Columns, option: str, usual: Sequence[str]
) -> str | None:
    asked: str | None = getattr(columns, option)
    if asked in arrays:
        return asked
    if asked and option in columns.required:
        raise DataError(no_column(path, option, asked, arrays))
    found = [n for n in usual if n in arrays and n not in columns.drop]
    if len(found) > 1:
        raise DataError(
            f"{path}: has {' and '.join(found)}. Say which holds the {option}s: "
            f"--{option} {found[0]}"
        )
    return found[0] if found else None


def _matrix(arrays: Arrays, path: str, others: Sequence[str | None]) -> NDArray[Any]:
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
    """Return rows whose features are all finite, or raise DataError.

    With `impute`, a number that is missing or not finite becomes the mean of its
    column: of `means` (d,), or of the finite numbers in the file.
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
    if means is None or len(means) != rows.X.shape[1]:
        counts = (~holes).sum(axis=0)
        if not counts.all():
            column = int(np.argmin(counts))
            raise DataError(
                f"{rows.place(0, column)}: the column has no number to take the mean "
                "of. Leave it out with --drop."
            )
        means = np.where(holes, 0.0, rows.X).sum(axis=0) / counts
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
            raise DataError(no_column(paths, "drop", name, known))
