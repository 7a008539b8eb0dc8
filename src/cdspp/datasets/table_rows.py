"""Rows of a domain, read from tables and arrays of the user."""

from __future__ import annotations

import fnmatch
import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.files import same_file
from cdspp.core.labels import LabelColumn, as_text, label_text, read_label_column
from cdspp.core.names import ERROR, PathLike
from cdspp.core.wording import counted, shortened
from cdspp.datasets import table_cells as kinds
from cdspp.datasets.table_doubts import doubts
from cdspp.datasets.table_files import Arrays, Columns, no_column, read_file

if TYPE_CHECKING:
    import pandas as pd

    from cdspp.datasets.table_encoder import EncodedColumn, TableEncoder

# Names of the arrays of labels and of identifiers.
ARRAYS = {"label": ("y", "label", "labels"), "id": ("ids", "id")}
FEATURES = "features"  # the array with the names of the columns
# Kinds of columns that may be dropped.
CONSTANT = "constant"
KINDS = {"text": kinds.TEXT, "dates": kinds.DATE, CONSTANT: ""}
REMEDIES = {
    kinds.TEXT: "encode text with --categories one-hot or frequency, ",
    kinds.DATE: "encode dates with --dates number or parts, ",
    kinds.AMBIGUOUS: "give the format of dates with --date-format (as %d/%m/%Y), ",
}
TABLE_SPECIFIC = (
    "shares of rows (frequency) and decompositions of text (skrub) are only valid for "
    "one table. Columns of --categories one-hot can be shared."
)
# Labels of a last row that holds totals.
TOTALS = {"total", "totals", "sum", "mean", "average", "gesamt", "summe", "mittelwert"}
TOTALS |= {"somme", "moyenne", "suma", "media", "soma", "合計", "合计", "总计"}


@dataclass(frozen=True, eq=False)
class DomainRows:
    """Rows of one domain, as read from a file.

    `X` (n, d) has NaN for missing numbers; `labels` are empty for unlabelled rows, and
    `label` is their column, if any, which `label_column` has as it was read; `ids` are
    the row numbers from 1 if the file has none, and `is_index` if their column is
    unnamed. `features` is empty if columns have no names; `records` count the header;
    `dropped` are the columns that were dropped;
    `width` is the number of features in the file, if `scaling` changed it. Of `notes`,
    the `doubts` are only for users who do not see how each column is read.
    """

    path: str
    X: NDArray[np.float64]
    ids: Sequence[str]
    labels: Sequence[str]
    features: tuple[str, ...] = ()
    records: Sequence[int] = ()
    has_ids: bool = False
    is_index: bool = False
    dropped: tuple[str, ...] = ()
    scaling: str = ""
    width: int = 0
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    label: str = ""
    label_column: LabelColumn = LabelColumn()
    encoder: TableEncoder | None = None

    def description(self, role: str, other: DomainRows | None = None) -> str:
        """Describe the rows in one line, and the classes shared with another file."""
        labelled = [label for label in self.labels if label]
        words = self.label_column.unlabelled
        classes = counted(len(set(labelled)), "class")
        parts = [
            counted(len(self.labels), "row"),
            f"{len(labelled)} labelled in {classes}" if labelled else "no label",
            words and f"read as unlabelled: {words}",
            counted(self.width or self.X.shape[1], "feature"),
            self.scaling,
            *self.notes,
        ]
        text = f"{role}: {', '.join(filter(None, parts))}"
        if other is None:
            return text
        return f"{text}; classes: {len({*labelled} & {*other.labels})} in common"

    def positions(self, names: Sequence[str]) -> list[int]:
        """Return the positions of features."""
        places = {name: place for place, name in enumerate(self.features)}
        return [places[name] for name in names]

    @property
    def table_specific(self) -> frozenset[str]:
        """Features that no other table can share."""
        return self.encoder.table_specific() if self.encoder else frozenset()

    def require_labels(self, *, of_all: bool = False) -> None:
        """Raise DataError if no row has a label, or with `of_all` if some have none."""
        missing = [k for k, label in enumerate(self.labels, start=1) if not label]
        if of_all and 0 < len(missing) < len(self.labels):
            raise DataError(
                f"{self.path}: a source needs a label in every row, but {len(missing)} "
                f"of {len(self.labels)} have none (first: row {missing[0]}). Label "
                "them, leave them out, or name another label column with --label."
            )
        if len(missing) < len(self.labels):
            return
        none = f"the column {self.label!r} has none"
        fault = none if self.label else "there is no column 'label'"
        words = self.label_column.unlabelled
        words = words and f" (read as unlabelled: {words})"
        remedy = "Name the label column with --label, or label some rows."
        raise DataError(f"{self.path}: no row has a label; {fault}{words}. {remedy}")

    def require_decided(self) -> None:
        """Raise DataError if labels of a source are -1, which may be a class."""
        if n := self.label_column.undecided:
            fault = f"{n} of {counted(len(self.labels), 'label')} are -1"
            remedy = "Say --keep-label=-1 for a class, --unlabelled=-1 for no label"
            raise DataError(f"{self.path}: {fault}, a class or no label? {remedy}.")

    def without_declared(self) -> DomainRows:
        """Return a source without the rows whose label the user declared to be none."""
        left = [k for k, label in enumerate(self.labels) if label]
        if len(left) == len(self.labels) or not self.label_column.all_declared:
            return self
        n = counted(len(self.labels) - len(left), "row")
        parts = {k: [getattr(self, k)[i] for i in left] for k in ("ids", "labels")}
        parts["records"] = [self.records[i] for i in left] if self.records else []
        note = f"{n} without a label left out"
        return replace(self, X=self.X[left], notes=(*self.notes, note), **parts)

    def copy_note(self, other: DomainRows) -> str:
        """Return a message if nearly all rows of another file are in this one."""
        same = {*self.features} == {*other.features}
        if not same or self.X.shape[1] != other.X.shape[1]:
            return ""
        rows = other.X[:, other.positions(self.features) or ...]
        hashes = {hash(row.tobytes()) for row in self.X + 0.0}  # turns -0.0 into 0.0
        equal = [k for row in rows + 0.0 if (k := hash(row.tobytes())) in hashes]
        # With few values, equal rows occur by chance.
        if len(equal) < 0.9 * len(rows) or 2 * len({*equal}) < len(rows):
            return ""
        return (
            f"{len(equal)} of the {counted(len(rows), 'row')} of {other.path} are in "
            f"{self.path}, number by number. If one file is a copy of the other, it "
            "contains the labels that are to be predicted: give other rows."
        )

    def require_distinct_ids(self) -> None:
        """Raise DataError if two rows have the same id."""
        name, count = Counter(self.ids).most_common(1)[0]
        if count > 1:
            fault = f"the id {name!r} occurs {count} times, expected once"
            remedy = "Name another id column with --id, or leave out rows."
            raise DataError(f"{self.path}: {fault}. {remedy}")

    def require_names(self) -> None:
        """Raise DataError if the names are numbers, unless they number the columns."""
        names, n = list(self.features), len(self.features)
        counts = [[str(k + first) for k in range(n)] for first in (0, 1)]
        words = (k for k in names if not kinds.is_null(k))
        is_word = any(math.isnan(kinds.number(k)) for k in words)
        if names and names not in counts and not is_word:
            fault = f"expected column names in the first row, got {names[0]}, ..."
            raise DataError(f"{self.path}: {fault}. Put a row of names above it.")

    def location(self, row: int, column: int) -> str:
        """Return the location of a number in the file."""
        if not self.features:
            return f"{self.path}: row {row + 1}, feature {column + 1}"
        where = f"record {self.records[row]}" if self.records else f"row {row + 1}"
        return f"{self.path}: {where}, column {self.features[column]!r}"


def read_domain(
    path: PathLike, columns: Columns | None = None, encoder: TableEncoder | None = None
) -> DomainRows:
    """Read a domain from a table or from arrays.

    A table has a header (CSV, TSV, Parquet, XLSX): `label` (empty, -1 or one of
    `MISSING_MARKERS` if unlabelled) and `id` are optional columns, and all others are
    features; a first column without a name holds ids. Arrays (NPZ, MATLAB) are `X`, in
    MATLAB also a matrix of another name, and optionally `y`, `ids` and `features`, the
    names of columns. The `encoder` of another table matches features by name.
    DataError: the file is malformed.
    """
    columns = columns or Columns()
    try:
        content = read_file(Path(path), columns)
        for option in columns.required:
            name = getattr(columns, option)
            if name and name not in content:
                raise DataError(no_column(option, name, content))
        if isinstance(content, dict):
            rows = _from_arrays(content, str(path), columns)
        else:
            rows = _from_table(content, str(path), columns, encoder)
        if not rows.X.size:
            raise DataError("expected rows of features, got none.")
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    with np.errstate(over="ignore", invalid="ignore"):
        doubt_notes = tuple(doubts(rows.X, rows.features, rows.records))
    note = getattr(content, "attrs", {}).get("note")
    all_notes = (note, *doubt_notes) if note else doubt_notes
    return replace(rows, notes=(*rows.notes, *doubt_notes), doubts=all_notes)


def gather_rows(
    read_rows: Callable[..., DomainRows], arguments: Iterable[tuple[Any, ...]]
) -> tuple[list[DomainRows], list[str]]:
    """Return the rows of files, read with the arguments for each, and all faults."""
    rows, faults = [], []
    for values in arguments:
        try:
            rows.append(read_rows(*values))
        except DataError as error:
            faults.append(str(error))
    return rows, faults


def _from_table(
    table: pd.DataFrame, path: str, columns: Columns, encoder: TableEncoder | None
) -> DomainRows:
    # Not at the top: it needs scikit-learn, and most jobs read no table.
    from cdspp.datasets.table_encoder import TableEncoder

    label, id_ = columns.named.values()
    rows, features, matched, notes = _features_of(table, columns, encoder)
    if encoder is None:
        options = TableEncoder().get_params()
        encoder = TableEncoder(**{name: getattr(columns, name) for name in options})
        if faults := encoder.learn(rows[features]):
            raise DataError(_faults_text(faults, encoder, rows))
        codes, unseen = encoder.columns_, {}
    else:
        codes, unseen = encoder.columns_in(rows, columns.decimal), encoder.unseen(rows)
        fitted = {column.name for column in encoder.columns_}
        if unknown := [name for name in features if name not in fitted]:
            text = f"{counted(len(unknown), 'column')} that the fit did not have"
            notes.append(f"left out: {text} ({shortened(unknown)})")
    notes += encoder.notes(codes)
    for name, n in unseen.items():
        notes.append(f"{name}: {n} of a value that the fit did not see")
    labels = read_label_column(_label_cells(rows, label))
    has_ids = id_ in rows
    return DomainRows(
        path=path,
        X=encoder.encode(rows, codes),
        ids=[*map(as_text, rows[id_] if has_ids else range(1, len(rows) + 1))],
        labels=labels.labels,
        label=label if label in rows else "",
        label_column=labels,
        features=tuple(encoder.get_feature_names_out()),
        records=[int(k) + 1 for k in rows.index],
        has_ids=has_ids,
        is_index=has_ids and id_ not in table,
        dropped=matched,
        notes=tuple(notes),
        encoder=encoder,
    )


def _label_cells(rows: pd.DataFrame, name: str) -> list[Any]:
    """Return the labels; refuse a last row of totals, judged by its label."""
    if name not in rows:
        return [""] * len(rows)
    labels: list[Any] = rows[name].tolist()
    text = str(labels[-1]).strip() if labels else ""
    if text.casefold() in TOTALS and len(labels) > labels.count(labels[-1]) == 1:
        fault = f"only the last row has the label {text!r}, as a row of totals would"
        raise DataError(f"{fault}. Remove the row, or rename its class.")
    return labels


def _features_of(
    table: pd.DataFrame, columns: Columns, encoder: TableEncoder | None
) -> tuple[pd.DataFrame, list[str], tuple[str, ...], list[str]]:
    """Return rows with distinct names, the features, which of `drop` match, notes."""
    id_, header = columns.named["id"], list(table)
    notes = [table.attrs["note"]] if "note" in table.attrs else []
    if header[0] == "" and id_ in header:  # the index of a data frame
        table, header = table.iloc[:, 1:], header[1:]
        notes.append("the unnamed column left out")
    elif header[0] == "":
        header[0] = id_
        notes.append("ids from the unnamed column")
    for name, count in Counter(header).items():
        if count > 1:
            raise DataError(f"the header has the column {name!r} twice. Rename one.")
    rows = table.set_axis(header, axis="columns")
    for name in columns.named.values():
        first = next((cell for cell in rows.get(name, ()) if cell is not None), None)
        if isinstance(first, kinds.CONTAINERS):
            fault = f"column {name!r} holds lists or dictionaries"
            raise DataError(f"{fault}, expected one label or identifier per cell.")
    dropped, matched = _to_drop(rows, columns) if columns.drop else (set[str](), ())
    if encoder is not None:  # its columns stay, though they may be constant here
        dropped -= {column.name for column in encoder.columns_}
    others = dropped.union(columns.named.values())
    features = [name for name in header if name not in others]
    for name, (option, current) in product(features, columns.named.items()):
        if name.lower() in (current.lower(), option):
            quoted = shlex.quote(name)
            raise DataError(
                f"the header has a column {name!r}, but the {option} column is "
                f"{current!r}. Name it with --{option} {quoted}, leave it out with "
                f"--drop {quoted}, or rename it if it is a feature."
            )
    if omitted := [k for k in header if k in dropped and k not in columns.drop]:
        notes.append(f"left out: {shortened(omitted)}")
    return rows, features, matched, notes


def _to_drop(rows: pd.DataFrame, columns: Columns) -> tuple[set[str], tuple[str, ...]]:
    """Return the columns to leave out, and which of `columns.drop` match any."""
    header = [name for name in rows if name not in columns.named.values()]
    matches: dict[str, set[str]] = {}
    for text in columns.drop:
        if text in rows:
            matches[text] = {text}
        elif text == CONSTANT:
            matches[text] = {n for n in header if len({*kinds.texts(rows[n])}) <= 1}
        elif text in KINDS:
            kind = KINDS[text]
            matches[text] = {n for n in header if kinds.column_kind(rows[n]) == kind}
        else:
            matches[text] = set(fnmatch.filter(header, text))
    effective = tuple(text for text, names in matches.items() if names or text in KINDS)
    return set().union(*matches.values()), effective


def _faults_text(
    faults: Sequence[tuple[EncodedColumn, str]], encoder: TableEncoder, cells: Any
) -> str:
    """Name the columns that cannot be encoded, and the options for them."""
    refused = {column.kind for column, _ in faults if column.form == ERROR}
    refused |= {column.sign for column, _ in faults} & {kinds.AMBIGUOUS}
    remedies = "".join(REMEDIES[kind] for kind in REMEDIES if kind in refused)
    names = " ".join(f"--drop {shlex.quote(column.name)}" for column, _ in faults[:5])
    text = "; ".join(fault for _, fault in faults[:5])
    rest = f"; and {len(faults) - 5} more columns" if len(faults) > 5 else ""
    numbers = (c.name for c in encoder.columns_ if c.kind == kinds.NUMBER)
    gaps = [repr(name) for name in numbers if any(map(kinds.is_null, cells[name]))]
    gap_note = f" Numbers are missing in {shortened(gaps)}: --impute." if gaps else ""
    return (
        f"{text}{rest}. Every column except labels and ids is a feature: name those "
        f"with --label and --id, {remedies}or leave columns out with {names}.{gap_note}"
    )


def _from_arrays(arrays: Arrays, path: str, columns: Columns) -> DomainRows:
    label, id_ = (_array_name(arrays, columns, part) for part in ARRAYS)
    X = _matrix(arrays, path, (label, id_, *columns.drop))
    n = len(X)
    labels = np.full(n, "") if label is None else arrays[label]
    ids = np.arange(1, n + 1) if id_ is None else arrays[id_]
    for name, values in ((label, labels), (id_, ids)):
        if values.shape != (n,):
            turned = values.shape == X.shape[1:]
            hint = " Rows of X are samples: transpose it." if turned else ""
            fault = f"{name} has shape {values.shape}, expected one entry for each of"
            raise DataError(f"{fault} the {n} rows of X.{hint}")
    names = arrays.get(FEATURES) if FEATURES not in columns.drop else None
    if names is None or names.dtype.kind not in "UO":  # a matrix may be called so
        names = np.empty(0, object)
    elif names.shape != X.shape[1:] or len({*names}) < len(names):
        fault = f"{FEATURES} has shape {names.shape}, expected distinct names of"
        raise DataError(f"{fault} the {X.shape[1]} columns of X.")
    column = read_label_column(labels.tolist())
    return DomainRows(
        path=path,
        X=X.astype(np.float64),
        features=tuple(map(str, names)),
        ids=[*map(as_text, ids)],
        labels=column.labels,
        label=label or "",
        label_column=column,
        has_ids=id_ is not None,
        dropped=tuple(name for name in columns.drop if name in arrays),
    )


def _array_name(arrays: Arrays, columns: Columns, option: str) -> str | None:
    name: str | None = getattr(columns, option)
    if name in arrays:
        return name
    candidates = [n for n in ARRAYS[option] if n in arrays and n not in columns.drop]
    if len(candidates) > 1:
        remedy = f"Name the one with the {option}s: --{option} {candidates[0]}"
        raise DataError(f"it has the arrays {' and '.join(candidates)}. {remedy}")
    return candidates[0] if candidates else None


def _matrix(arrays: Arrays, path: str, excluded: Sequence[str | None]) -> NDArray[Any]:
    """Return X; in MATLAB and safetensors files, else the only other numeric matrix."""
    matrices = {
        name: array
        for name, array in arrays.items()
        if array.ndim == 2 and array.dtype.kind in "biuf" and name not in excluded
    }
    if "X" in matrices:
        return matrices["X"]
    any_name = Path(path).suffix.lower() in (".mat", ".safetensors")
    if any_name and "X" not in arrays and len(matrices) == 1:
        return next(iter(matrices.values()))
    shapes = ", ".join(f"{k} {v.shape}" for k, v in arrays.items()) or "nothing"
    raise DataError(f"expected a matrix X of numbers, got {shapes}.")


def complete(
    rows: DomainRows,
    *,
    impute: bool = False,
    means: NDArray[np.float64] | None = None,
    fitted: bool = False,
) -> DomainRows:
    """Return finite rows, or raise DataError; with `impute`, means fill the gaps.

    `fitted` columns belong to a model and cannot be left out.
    """
    holes = ~np.isfinite(rows.X)
    if not holes.any():
        return rows
    if not impute:
        row, column = map(int, np.argwhere(holes)[0])
        value = rows.X[row, column]
        fault = "the number is missing" if np.isnan(value) else f"{value} is not finite"
        columns = [k for k in np.flatnonzero(holes.any(axis=0)) if k != column]
        names = [repr(rows.features[k]) for k in columns] if rows.features else []
        more = f", also in {shortened(names, 5)}" if names else ""
        drop = "" if fitted else " leave the column out with --drop,"
        raise DataError(
            f"{rows.location(row, column)}: {fault} ({holes.sum()} in all{more}). "
            f"Fill it in,{drop} or impute column means with --impute."
        )
    if means is None or len(means) != rows.X.shape[1]:
        counts = (~holes).sum(axis=0)
        if not counts.all():
            column = int(np.argmin(counts))
            fault = "the column has no number to take a mean of"
            remedy = "Fill it in" if fitted else "Leave it out with --drop"
            raise DataError(f"{rows.location(0, column)}: {fault}. {remedy}.")
        means = np.where(holes, 0.0, rows.X).sum(axis=0) / counts
    note = f"{counted(int(holes.sum()), 'number')} imputed"
    return replace(rows, X=np.where(holes, means, rows.X), notes=(*rows.notes, note))


def read_class_map(path: PathLike) -> dict[str, str]:
    """Return the class of each label in a table of two columns; "" is no label.

    DataError: it has other columns, or two classes for a label.
    """
    try:
        table: Any = read_file(Path(path), Columns())
        if isinstance(table, dict) or table.shape[1] != 2:
            header = " and ".join(map(repr, table)) or "none"
            fault = f"expected two columns, a label and its class, got {header}"
            raise DataError(f"{fault}. Write them below a header.")
        classes: dict[str, str] = {}
        for old, new in zip(*(map(label_text, table[c]) for c in table), strict=True):
            if classes.setdefault(old, new) != new:
                both = f"{classes[old]!r} and {new!r}"
                fault = f"the label {old!r} has the classes {both}"
                raise DataError(f"{fault}. Keep one.")
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return classes


def require_dropped(names: Sequence[str], tables: Sequence[DomainRows]) -> None:
    """Refuse columns to leave out that are in none of the files."""
    for name in names:
        if not any(name in rows.dropped for rows in tables):
            paths = " and ".join(rows.path for rows in tables)
            features = dict.fromkeys(n for rows in tables for n in rows.features)
            raise DataError(f"{paths}: {no_column('drop', name, features)}")


def require_two_files(paths: Mapping[str, PathLike]) -> None:
    """Refuse one file for two domains: the source would have the test labels."""
    for one, other in combinations(paths, 2):
        if same_file(paths[one], paths[other]):
            raise DataError(
                f"{paths[other]}: given as both {one} and {other}, so that the source "
                "would contain the labels to be predicted. Give two different files."
            )
