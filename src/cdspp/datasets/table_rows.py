"""Rows of a domain, read from tables and arrays of the user."""

from __future__ import annotations

import fnmatch
import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError, problems_text, refusals
from cdspp.core.files import same_file
from cdspp.core.labels import LabelColumn, as_text, read_label_column
from cdspp.core.names import PathLike
from cdspp.core.wording import counted, shortened
from cdspp.datasets import table_cells as kinds
from cdspp.datasets.table_doubts import doubts
from cdspp.datasets.table_faults import (
    cell_faults,
    double_names,
    likely_labels,
    name_faults,
)
from cdspp.datasets.table_files import Columns, no_column, read_file, similar_names
from cdspp.datasets.table_model import (
    ABSENT,
    FROM_INDEX,
    MISSING,
    ROW,
    ROWS,
    TEXT,
    Fact,
    Table,
    explained,
)

if TYPE_CHECKING:
    from cdspp.datasets.table_encoder import TableEncoder

# Kinds of columns that may be dropped.
CONSTANT = "constant"
KINDS = {"text": (kinds.TEXT,), "dates": (kinds.DATE, kinds.DURATION), CONSTANT: ()}
TABLE_SPECIFIC = (
    "shares of rows (frequency) and decompositions of text (skrub) are only valid for "
    "one table. Columns of --categories one-hot can be shared."
)
Refused = list[tuple[str, str]]  # columns that cannot be read, each with its fault
LABEL_TOPICS = ABSENT, MISSING, ROWS, TEXT


@dataclass(frozen=True, eq=False)
class DomainRows:
    """Rows of one domain, as read from a file.

    `X` (n, d) has NaN for missing numbers; `labels` are empty for unlabelled rows, and
    `label` is their column, if any, which `label_column` has as it was read; `ids` are
    the row numbers from 1 if the file has none, and `is_index` if their column is
    unnamed. `features` is empty if columns have no names; `places` count the `unit` of
    the file; `dropped` are the columns that were dropped;
    `width` is the number of features in the file, if `scaling` changed it. Of `notes`,
    the `doubts` are only for users who do not see how each column is read.
    """

    path: str
    X: NDArray[np.float64]
    ids: Sequence[str]
    labels: Sequence[str]
    features: tuple[str, ...] = ()
    places: Sequence[int] = ()
    unit: str = ROW
    has_ids: bool = False
    is_index: bool = False
    dropped: tuple[str, ...] = ()
    scaling: str = ""
    width: int = 0
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    label: str = ""
    label_column: LabelColumn = LabelColumn()
    facts: tuple[Fact, ...] = ()
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
        missing = [k for k, label in enumerate(self.labels) if not label]
        words = self.label_column.unlabelled
        if of_all and 0 < len(missing) < len(self.labels):
            share = f"{len(missing)} of {len(self.labels)} have none"
            text = (
                f"a source needs a label in every row, but {share} (first: "
                f"{self.place(missing[0])}). Label them, leave them out, or name "
                "another label column with --label."
            )
        elif len(missing) == len(self.labels):
            none = f"the column {self.label!r} has none"
            fault = none if self.label else "there is no column 'label'"
            fault += f" (read as unlabelled: {words})" if words else ""
            remedy = "Name the label column with --label, or label some rows."
            text = f"no row has a label; {fault}. {remedy}"
        else:
            return
        raise DataError(self.explain_labels(f"{self.path}: {text}"))

    def explain_labels(self, message: str) -> str:
        """Return a message on labels with the facts that explain it."""
        return explained(message, self.facts, *LABEL_TOPICS, columns=[self.label])

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
        return replace(
            self,
            X=self.X[left],
            ids=[self.ids[k] for k in left],
            labels=[self.labels[k] for k in left],
            places=[self.places[k] for k in left] if self.places else [],
            notes=(*self.notes, f"{n} without a label left out"),
        )

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
            text = f"{self.path}: {fault}. {remedy}"
            raise DataError(explained(text, self.facts, ROWS, MISSING))

    def require_names(self) -> None:
        """Raise DataError if the names are numbers, unless they number the columns."""
        names, n = list(self.features), len(self.features)
        counts = [[str(k + first) for k in range(n)] for first in (0, 1)]
        words = (k for k in names if not kinds.is_null(k))
        is_word = any(math.isnan(kinds.number(k)) for k in words)
        if names and names not in counts and not is_word:
            fault = f"expected column names in the first row, got {names[0]}, ..."
            raise DataError(f"{self.path}: {fault}. Put a row of names above it.")

    def place(self, row: int) -> str:
        """Return the place of a row in the file."""
        return f"{self.unit} {self.places[row] if self.places else row + 1}"

    def location(self, row: int, column: int) -> str:
        """Return the location of a number in the file."""
        names = self.features
        what = f"column {names[column]!r}" if names else f"feature {column + 1}"
        return f"{self.path}: {self.place(row)}, {what}"


def read_domain(
    path: PathLike,
    columns: Columns | None = None,
    encoder: TableEncoder | None = None,
    *checks: Callable[[DomainRows], object],
) -> DomainRows:
    """Read a domain from a table or from arrays.

    A table has a header (CSV, TSV, Parquet, XLSX): `label` (empty, -1 or one of
    `MISSING_MARKERS` if unlabelled) and `id` are optional columns, and all others are
    features; a first column without a name holds ids. Arrays (NPZ, MATLAB) are `X`, in
    MATLAB also a matrix of another name, and optionally `y`, `ids` and `features`, the
    names of columns. The `encoder` of another table matches features by name.
    DataError: the file is malformed; it lists all problems, those of `checks`, too.
    """
    columns, place, table = columns or Columns(), str(path), None
    try:
        table = read_file(Path(path), columns)
        rows, faults = domain_rows(table, place, columns, encoder)
    except DataError as error:
        raise file_error(place, [str(error)], table.facts if table else ()) from error
    more = [*refusals(*(partial(check, rows) for check in checks), place=place)]
    if faults:
        raise file_error(place, [*faults, *more], table.facts)
    if more:
        raise DataError(problems_text(place, more))
    return rows


def file_error(place: str, faults: Sequence[str], facts: Iterable[Fact]) -> DataError:
    """Return the error on the faults of a table, with the facts that explain it."""
    text = problems_text(place, faults)
    return DataError(explained(text, facts, ABSENT, ROWS, TEXT))


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


def domain_rows(
    table: Table, path: str, columns: Columns, encoder: TableEncoder | None = None
) -> tuple[DomainRows, list[str]]:
    """Return the rows of a table, without the columns that cannot be read, and faults.

    DataError: it lacks features of the encoder.
    """
    table, faults = _without_doubles(table)
    rows, (label, id_) = table.cells, (table.label, table.id)
    features, matched, notes = features_of(table, columns, encoder)
    faults += [*name_faults(table, columns), *cell_faults(table, features)]
    labels = read_label_column(
        rows[label].tolist() if label in rows else [""] * len(rows)
    )
    ids = rows[id_].tolist() if id_ in rows else range(1, len(rows) + 1)
    X, names, encoder, more, refused = _numbers(table, features, columns, encoder)
    told = _named_by_faults(table, features, columns) if faults else []
    faults += [text for name, text in refused if name not in told]
    if not X.size and not faults:
        faults.append("expected rows of features, got none.")
    with np.errstate(over="ignore", invalid="ignore"):
        doubt_notes = [*doubts(X, names, table.place)]
    told = [fact.text for fact in table.facts if fact.text != FROM_INDEX]
    found = DomainRows(
        path=path,
        X=X,
        ids=[*map(as_text, ids)],
        labels=labels.labels,
        label=label if label in rows else "",
        label_column=labels,
        features=names,
        places=[] if table.of_arrays else (rows.index + 1).tolist(),
        unit=table.unit,
        has_ids=id_ in rows,
        is_index=table.is_index,
        dropped=(*matched, *table.dropped),
        notes=(*(fact.text for fact in table.facts), *notes, *more, *doubt_notes),
        doubts=(*told, *doubt_notes),
        encoder=encoder,
        facts=table.facts,
    )
    return found, faults


def _without_doubles(table: Table) -> tuple[Table, list[str]]:
    """Return a table with the first column of each name, and faults of the others."""
    if faults := [*double_names(table)]:
        cells = table.cells.loc[:, ~table.cells.columns.duplicated()]
        table = replace(table, cells=cells)
    return table, faults


def _numbers(
    table: Table, features: list[str], columns: Columns, encoder: TableEncoder | None
) -> tuple[
    NDArray[np.float64], tuple[str, ...], TableEncoder | None, list[str], Refused
]:
    """Return the features as numbers, their names, their encoder, notes and faults."""
    # Not at the top: it needs scikit-learn, and most jobs read no table.
    from cdspp.datasets.table_encoder import column_faults, remedied

    cells, notes = table.cells[features], list[str]()
    if table.of_arrays and all(kind.kind in "biuf" for kind in cells.dtypes):
        names = tuple(features) if table.is_named else ()
        return cells.to_numpy(np.float64), names, None, notes, []
    if encoder is None:
        encoder, refused = _fitted(table, features, columns)
        codes, unseen = encoder.columns_, {}
    else:
        codes = encoder.columns_in(cells, columns.decimal)
        found = column_faults(codes, cells, table.place)
        refused = [(fault[0].name, remedied(fault)) for fault in found]
        unseen = encoder.unseen(cells)
        fitted = {column.name for column in encoder.columns_}
        if unknown := [name for name in features if name not in fitted]:
            text = f"{counted(len(unknown), 'column')} that the fit did not have"
            notes.append(f"left out: {text} ({shortened(unknown)})")
    notes += encoder.notes(codes)
    for name, n in unseen.items():
        notes.append(f"{name}: {n} of a value that the fit did not see")
    X = encoder.encode(cells, codes)
    return X, tuple(encoder.get_feature_names_out()), encoder, notes, refused


def _fitted(
    table: Table, features: list[str], columns: Columns
) -> tuple[TableEncoder, Refused]:
    """Return an encoder of the columns that can be read, and faults of the others."""
    from cdspp.datasets.table_encoder import TableEncoder, remedied

    options = TableEncoder().get_params()
    encoder = TableEncoder(**{name: getattr(columns, name) for name in options})
    refused = encoder.learn(table.cells[features], table.place)
    if refused:
        names = [column.name for column, _ in refused]
        encoder.learn(table.cells[[name for name in features if name not in names]])
    return encoder, [
        (fault[0].name, remedied(fault, f"--drop {shlex.quote(fault[0].name)}"))
        for fault in refused
    ]


def _named_by_faults(table: Table, features: list[str], columns: Columns) -> list[str]:
    """Return features that faults name, as they may hold labels or ids."""
    special = {"label", "id", table.label.lower(), table.id.lower()}
    names = [name for name in features if name.lower() in special]
    for option in columns.required:
        if (name := columns.named[option]) not in table.cells:
            names += similar_names(name, features)
            names += likely_labels(table)[:1] if option == "label" else []
    return names


def features_of(
    table: Table, columns: Columns, encoder: TableEncoder | None = None
) -> tuple[list[str], tuple[str, ...], list[str]]:
    """Return the features, which of `drop` match, and notes."""
    header, notes = list(table.cells), list[str]()
    dropped, matched = _to_drop(table, columns) if columns.drop else (set[str](), ())
    if encoder is not None:  # its columns stay, though they may be constant here
        dropped -= {column.name for column in encoder.columns_}
    others = dropped.union((table.label, table.id))
    features = [name for name in header if name not in others]
    if omitted := [k for k in header if k in dropped and k not in columns.drop]:
        notes.append(f"left out: {shortened(omitted)}")
    return features, matched, notes


def _to_drop(table: Table, columns: Columns) -> tuple[set[str], tuple[str, ...]]:
    """Return the columns to leave out, and which of `columns.drop` match any."""
    rows = table.cells
    header = [name for name in rows if name not in (table.label, table.id)]
    matches: dict[str, set[str]] = {}
    for text in columns.drop:
        if text in rows:
            matches[text] = {text}
        elif text == CONSTANT:
            matches[text] = {n for n in header if len({*kinds.texts(rows[n])}) <= 1}
        elif text in KINDS:
            of = KINDS[text]
            matches[text] = {n for n in header if kinds.column_kind(rows[n]) in of}
        else:
            matches[text] = set(fnmatch.filter(header, text))
    effective = tuple(text for text, names in matches.items() if names or text in KINDS)
    return set().union(*matches.values()), effective


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
        text = (
            f"{rows.location(row, column)}: {fault} ({holes.sum()} in all{more}). "
            f"Fill it in,{drop} or impute column means with --impute."
        )
        empty = [
            rows.features[k] for k in np.flatnonzero(holes.any(axis=0)) if rows.features
        ]
        raise DataError(explained(text, rows.facts, MISSING, columns=empty))
    if means is None or len(means) != rows.X.shape[1]:
        counts = (~holes).sum(axis=0)
        if not counts.all():
            column = int(np.argmin(counts))
            fault = "the column has no number to take a mean of"
            remedy = "Fill it in" if fitted else "Leave it out with --drop"
            text = f"{rows.location(0, column)}: {fault}. {remedy}."
            raise DataError(explained(text, rows.facts, MISSING, columns=rows.features))
        means = np.where(holes, 0.0, rows.X).sum(axis=0) / counts
    note = f"{counted(int(holes.sum()), 'number')} imputed"
    return replace(rows, X=np.where(holes, means, rows.X), notes=(*rows.notes, note))


def explain_classes(message: str, tables: Iterable[DomainRows]) -> str:
    """Return a message on the classes of files with the facts that explain it."""
    for rows in tables:
        facts = (fact._replace(text=f"{rows.path}: {fact.text}") for fact in rows.facts)
        message = explained(message, facts, MISSING, TEXT, columns=[rows.label])
    return message


@contextmanager
def classes_explained(tables: Iterable[DomainRows]) -> Iterator[None]:
    """Add the facts on files to an error on their classes."""
    try:
        yield
    except DataError as error:
        raise DataError(explain_classes(str(error), tables)) from error


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
