"""Beliefs on tables and arrays, before anything is fitted."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cdspp.core.errors import DataError, refusals
from cdspp.core.labels import require_distinct
from cdspp.core.names import ERROR, PathLike
from cdspp.core.wording import aligned, counted, shortened
from cdspp.datasets import table_cells as kinds
from cdspp.datasets import table_faults, table_rows
from cdspp.datasets.table_faults import with_arguments
from cdspp.datasets.table_files import SEPARATOR, SEPARATORS, Columns, read_file
from cdspp.datasets.table_model import MISSING, Fact, Table, as_frame
from cdspp.methods.labels import read_labels

if TYPE_CHECKING:
    import pandas as pd

    from cdspp.datasets.table_encoder import EncodedColumn
    from cdspp.datasets.table_rows import DomainRows

__all__ = [
    "BaseInspection",
    "Inspection",
    "cut",
    "doubt_lines",
    "inspect",
    "inspect_file",
    "values_text",
    "wrapped",
]

WIDTH = 100  # of lines
MOST_COLUMNS = 60  # of a table on a terminal
LETTERS = 24, 26, 24, 18  # of its cells
NONE = "empty"  # the cause of a missing number that no word marks
DOUBTFUL = "Doubtful:"
NAMES = {kinds.NUMBER: {",": "number with comma"}}
MOST_CLASSES = 20  # above this, labels that nearly all differ are in doubt


@dataclass(frozen=True, eq=False, repr=False)
class BaseInspection:
    """Beliefs on files; `refused` and `doubtful` say what to type."""

    beliefs: Mapping[str, Any] = field(kw_only=True)
    refused: tuple[str, ...] = field(default=(), kw_only=True)
    doubtful: tuple[str, ...] = field(default=(), kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return all beliefs and doubts, suitable for JSON."""
        doubts = {"refused": [*self.refused], "doubtful": [*self.doubtful]}
        return {**self.beliefs, **doubts}


@dataclass(frozen=True, eq=False, repr=False)
class Inspection(BaseInspection):
    """Beliefs on a table or on arrays; the text is for people.

    Attributes
    ----------
    rows : DomainRows
        The rows as a fit would read them, without the columns that it would refuse.
    beliefs : dict
        Format, encoding and the next likely one, labels with counts, and for each
        column its kind, range, and missing cells by cause.
    refused : tuple of str
        What the commands refuse, each with what to type.
    doubtful : tuple of str
        What may be meant otherwise.
    """

    rows: DomainRows

    def to_frame(self) -> pd.DataFrame:
        """Return one row per column of the table."""
        import pandas as pd

        names = ("name", "kind", "sign", "values", "low", "high", "missing", "fault")
        return pd.DataFrame(self.beliefs["columns"], columns=[*names])

    def __repr__(self) -> str:
        """Describe rows, labels, doubts and columns."""
        return "\n".join([*self.lines(), "", *aligned(self.grid(), left=(0, 1, 2, 3))])

    def lines(self) -> Iterator[str]:
        """Yield the rows, the labels, and what is refused or doubtful."""
        of = self.beliefs
        shown = replace(self.rows, notes=(), width=len(of["columns"]))
        yield from wrapped(shown.description(of["path"]))
        cells = SEPARATORS.get(of["separator"])
        encoding = of["encoding"] and of["encoding"].removesuffix("-sig").upper()
        read = [of["format"], encoding, cells and f"cells between {cells}"]
        yield from wrapped(f"  read as {', '.join(filter(None, read))}")
        if of["labels"]:
            counts = [f"{name} {n}" for name, n in of["labels"].items()]
            label = f" {of['label']!r}" if of["label"] else "s"
            yield from wrapped(f"  label{label}: {shortened(counts, MOST_CLASSES)}")
        elif likely := of["likely_label"]:
            yield f"  label: no column 'label'; {likely!r} is likely"
        if of["id"]:
            yield f"  id {of['id']!r}"
        yield from doubt_lines(self.refused, self.doubtful)

    def grid(self) -> list[list[str]]:
        """Return the table of the columns."""
        columns = self.beliefs["columns"]
        grid = [["column", "read as", "values", "missing"]]
        for column in columns[:MOST_COLUMNS]:
            missing = (f"{n} {cause}" for cause, n in column["missing"].items())
            texts = _kind_text(column), values_text(column), ", ".join(missing)
            grid.append([*map(cut, (column["name"], *texts), LETTERS)])
        if (rest := len(columns) - MOST_COLUMNS) > 0:
            grid.append([f"and {rest} more", "", "", ""])
        return grid


def inspect(X: Any, y: Any = None) -> Inspection:
    """Return what is believed of rows and labels, before anything is fitted.

    Parameters
    ----------
    X : array, sparse matrix, or data frame of pandas, polars or Arrow, (n, d)
        Rows of features.
    y : array-like of shape (n,), default=None
        Their labels; -1 and missing values are unlabelled.

    Returns
    -------
    Inspection
        Its text shows the beliefs; `to_frame` has a row per column, `to_dict` all.

    Raises
    ------
    DataError
        `X` is no table, or `y` has another number of entries.

    Examples
    --------
    >>> import cdspp
    >>> cdspp.inspect([[1.5, 99], [2.5, 3], [3.5, 4]], ["cat", "dog", None])
    X: 3 rows, 2 labelled in 2 classes, 2 features
      read as list
      labels: cat 1, dog 1
      Doubtful:
      - 99 in 1 may mark missing numbers
    <BLANKLINE>
    column  read as  values      missing
    0       number   1.5 to 3.5
    1       number   3 to 99
    """
    labels = [""] * (n := X.shape[0] if hasattr(X, "shape") else len(X))
    if y is not None:
        values, labelled = read_labels(y)
        if len(labelled) != n:
            raise DataError(
                f"y has {len(labelled)} entries, expected one for {n} rows."
            )
        texts = iter(map(str, values.tolist()))
        labels = [next(texts) if known else "" for known in labelled.tolist()]
    form = type(X).__module__.partition(".")[0].replace("builtins", type(X).__name__)
    if hasattr(X, "tocsc"):
        return _of_sparse(X.tocsc(), labels)
    cells = as_frame(X).reset_index(drop=True)
    cells = cells.set_axis([*map(str, cells)], axis="columns")
    table = Table(cells, form, "", "", of_arrays=True)
    # Imputing is the caller's, not an argument of a fit.
    found = _of_table(table, "X", Columns(), impute=True)
    rows = replace(found.rows, labels=labels)
    refused = [re.sub(", or --drop .*", "", text) for text in found.refused]
    if n_gaps := int((~np.isfinite(rows.X)).sum()):
        gaps = f"{counted(n_gaps, 'number')} missing or infinite: fill them in"
        refused.append(f"{gaps}, as by sklearn.impute.SimpleImputer")
    doubtful = (*found.doubtful, *_doubts(rows))
    return Inspection(
        rows,
        beliefs={**found.beliefs, **_labels_of(rows)},
        refused=tuple(map(with_arguments, refused)),
        doubtful=tuple(map(with_arguments, doubtful)),
    )


def inspect_file(
    path: PathLike,
    columns: Columns | None = None,
    *,
    impute: bool = False,
    of_source: bool = True,
) -> Inspection:
    """Return what is believed of a file; DataError: it cannot be read at all.

    With `impute`, missing numbers are no fault; only a source refuses labels -1.
    """
    columns = columns or Columns(required=("label",))
    try:
        table = read_file(Path(path), columns)
        found = _of_table(table, str(path), columns, impute=impute)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if not of_source:
        return found
    undecided = refusals(found.rows.require_decided, place=str(path))
    return replace(found, refused=(*found.refused, *undecided))


def _of_table(
    table: Table, path: str, columns: Columns, *, impute: bool = False
) -> Inspection:
    from cdspp.datasets.table_encoder import TableEncoder

    rows, refused = table_rows.domain_rows(table, path, columns)
    table = replace(table, cells=table.cells.loc[:, ~table.cells.columns.duplicated()])
    is_unnamed = table.label not in table.cells and "label" in columns.required
    likely = table_faults.likely_labels(table)[:1] if is_unnamed else []
    options = {name: getattr(columns, name) for name in TableEncoder().get_params()}
    encoder = TableEncoder(**options)
    features = table_rows.features_of(table, columns)[0]
    faults = encoder.learn(table.cells[features], table.place)
    reasons = {column.name: text for column, text in faults}
    refused += _row_faults(rows, impute)
    beliefs = {**_labels_of(rows), **_file_of(table, path)}
    beliefs["likely_label"] = "".join(likely)
    beliefs["columns"] = [
        _column(c, table.cells[c.name], table.facts, reasons.get(c.name, ""))
        for c in encoder.columns_
    ]
    doubts = *rows.doubts, *_doubts(rows)
    return Inspection(rows, beliefs=beliefs, refused=(*refused,), doubtful=doubts)


def _file_of(table: Table, path: str) -> dict[str, Any]:
    return {
        "path": path,
        "format": table.format,
        "encoding": table.encoding,
        "runner_up": table.runner_up,
        "separator": table.cells.attrs.get(SEPARATOR, ""),
        "facts": [fact._asdict() for fact in table.facts],
        "id": table.id if table.id in table.cells else "",
    }


def _row_faults(rows: DomainRows, impute: bool) -> Iterator[str]:
    """Yield what a fit refuses in rows: labels and ids in doubt, missing numbers."""
    checks: list[Callable[[], object]]
    checks = [lambda: require_distinct({rows.path: rows.labels})]
    if rows.has_ids:
        checks.append(rows.require_distinct_ids)
    if rows.label:
        checks.append(rows.require_labels)
    checks.append(lambda: table_rows.complete(rows, impute=impute))
    return refusals(*checks, place=rows.path)


def _doubts(rows: DomainRows) -> Iterator[str]:
    """Yield doubts about the header and about what the labels are."""
    yield from refusals(rows.require_names, place=rows.path)
    labelled = [label for label in rows.labels if label]
    n = len({*labelled})
    if n > max(MOST_CLASSES, len(labelled) / 2):
        text = f"{n} classes in {counted(len(labelled), 'labelled row')}"
        yield f"{text}: if these are numbers or ids, name another column with --label"


def _labels_of(rows: DomainRows) -> dict[str, Any]:
    column = rows.label_column
    return {
        "rows": len(rows.labels),
        "label": rows.label,
        "likely_label": "",
        "labels": dict(Counter(filter(None, rows.labels)).most_common()),
        "unlabelled": sum(not label for label in rows.labels),
        "read_as_unlabelled": column.unlabelled,
        "undecided": column.undecided,
    }


def _of_sparse(X: Any, labels: Sequence[str]) -> Inspection:
    """Return what is believed of sparse rows, whose zeros are not expanded."""
    columns = []
    for j in range(X.shape[1]):
        values = X.data[X.indptr[j] : X.indptr[j + 1]]
        ends = values[np.isfinite(values)]
        if len(values) < X.shape[0]:
            ends = np.append(ends, 0)
        gaps = int(np.isnan(values).sum())
        columns.append(
            {
                "name": str(j),
                "kind": kinds.NUMBER,
                "sign": ".",
                "values": 0,
                "low": float(ends.min()) if len(ends) else None,
                "high": float(ends.max()) if len(ends) else None,
                "missing": {NONE: gaps} if gaps else {},
                "fault": "",
            }
        )
    rows = table_rows.DomainRows("X", X, [*map(str, range(X.shape[0]))], labels)
    share = X.nnz / max(1, X.shape[0] * X.shape[1])
    form = f"sparse rows, {100 * share:.3g} % stored"
    beliefs: dict[str, Any] = dict.fromkeys(("encoding", "runner_up", "separator"), "")
    beliefs |= {"path": "X", "format": form, "facts": [], "id": "", **_labels_of(rows)}
    return Inspection(rows, beliefs={**beliefs, "columns": columns})


def _column(
    column: EncodedColumn, cells: pd.Series, facts: Iterable[Fact], fault: str
) -> dict[str, Any]:
    """Return kind, format, range, missing cells and fault of a column."""
    ends = _ends(column, cells)
    return {
        "name": column.name,
        "kind": column.kind,
        "form": "" if column.form == ERROR else column.form,
        "sign": column.sign,
        "values": len(column.values),
        "first": [*column.values[:4]],
        "low": ends[0] if ends else None,
        "high": ends[1] if ends else None,
        "missing": _missing(column.name, cells, facts),
        "fault": fault,
    }


def _missing(name: str, cells: pd.Series, facts: Iterable[Fact]) -> dict[str, int]:
    """Count the missing cells of a column by their cause."""
    if cells.dtype.kind in "biufmM":
        causes = Counter({NONE: int(cells.isna().sum())})
    else:
        values = (c if isinstance(c, str) else None for c in cells if kinds.is_null(c))
        causes = Counter((text or "").strip() or NONE for text in values)
    for fact in facts:
        if fact.explains == MISSING and name in fact.columns and fact.n:
            causes[NONE] -= fact.n
            causes[fact.text.partition(" in ")[0].partition(" ")[2]] = fact.n
    return dict(+causes)


def _ends(column: EncodedColumn, cells: pd.Series) -> tuple[Any, Any] | None:
    """Return the least and greatest value of a column that has an order."""
    if column.kind == kinds.DATE and column.sign != kinds.AMBIGUOUS:
        days = kinds.days_of(cells, column.sign).dropna()
        return (str(days.min().date()), str(days.max().date())) if len(days) else None
    is_number = column.kind == kinds.NUMBER and column.sign in (".", ",")
    if not is_number and column.kind != kinds.DURATION:
        return None
    numbers = column.encode(cells)
    finite = numbers[np.isfinite(numbers)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None


def _kind_text(column: Mapping[str, Any]) -> str:
    kind, sign, form = column["kind"], column["sign"], column.get("form")
    text = NAMES.get(kind, {}).get(sign, kind)
    if kind == kinds.DATE and sign != kinds.ISO:
        text = f"{kind} {sign}"
    text += f" as {form}" if form else ""
    return f"{text}, refused" if column["fault"] else text


def values_text(column: Mapping[str, Any]) -> str:
    """Return the range of a column, or its values."""
    low, high = column["low"], column["high"]
    if low is None:
        n, first = column["values"], column.get("first", ())
        return f"{n}: {shortened(first)}" if n else ""
    if isinstance(low, str):
        return f"{low} to {high}"
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"


def doubt_lines(refused: Iterable[str], doubtful: Iterable[str]) -> Iterator[str]:
    """Yield what is refused and what is doubtful, below a heading each."""
    refused = [*refused]
    number = f"{counted(len(refused), 'problem')}, refused until you decide:"
    for heading, texts in ((number, refused), (DOUBTFUL, [*doubtful])):
        if texts:
            yield f"  {heading}"
        for text in texts:
            head, *table = text.split("\n")
            yield from wrapped(f"  - {head}")
            yield from table


def wrapped(text: str) -> list[str]:
    """Return a text in lines of a terminal, the further ones indented."""
    indent = " " * (2 + len(text) - len(text.lstrip(" -")))
    wrapper = textwrap.TextWrapper(WIDTH, subsequent_indent=indent)
    wrapper.break_long_words = wrapper.break_on_hyphens = False  # to be copied
    return wrapper.wrap(text)


def cut(text: str, most: int) -> str:
    """Return a text of at most this many letters, with dots for the rest."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
