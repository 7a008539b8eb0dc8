"""A table as every reader yields it: named columns of cells, and facts about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.labels import as_text
from cdspp.core.wording import counted
from cdspp.datasets.table_cells import number

if TYPE_CHECKING:
    import pandas as pd

# What a fact may explain: how text was read, cells without a value, what is not there,
# and rows that are there.
TEXT, MISSING, ABSENT, ROWS = "text", "missing", "absent", "rows"
LINE, ROW = "line", "row"  # of a file, as its user sees it
FROM_INDEX = "ids from the unnamed column"
PREAMBLE = "#", "%", "sep="  # first characters of lines above a header
MOST_PREAMBLE = 100  # lines
# Names of the arrays of labels and of identifiers.
ARRAYS = {"label": ("y", "label", "labels"), "id": ("ids", "id")}
FEATURES = "features"  # the array with the names of the columns


class Fact(NamedTuple):
    """A fact on a file that its cells do not show, known to its reader.

    It `explains` one of the kinds above, in `columns` only, or in all without any; `n`
    is the number of cells, if known.
    """

    text: str
    explains: str
    columns: tuple[str, ...] = ()
    n: int = 0


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of cells, alike for all formats.

    The index of `cells` is the place of a row minus one, as a user counts it who opens
    the file: lines of a text, or rows of a sheet, with all that is above. `label` and
    `id` are the names of two columns, which `cells` may lack. The names of features are
    only numbers if `is_named` is false; `dropped` are arrays left out on request.
    """

    cells: pd.DataFrame
    format: str
    label: str
    id: str
    facts: tuple[Fact, ...] = ()
    encoding: str = ""
    runner_up: str = ""
    of_arrays: bool = False
    is_named: bool = True
    dropped: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The noun that places of rows count."""
        return LINE if self.encoding else ROW

    def place(self, row: int) -> str:
        """Return where a row of cells is in the file."""
        return f"{self.unit} {int(self.cells.index[row]) + 1}"

    @property
    def is_index(self) -> bool:
        """True if the ids are an unnamed column, as the index of a data frame."""
        return any(fact.text == FROM_INDEX for fact in self.facts)


def explained(
    message: str, facts: Iterable[Fact], *topics: str, columns: Sequence[str] = ()
) -> str:
    """Return a message with the facts that explain it."""
    texts = [
        fact.text
        for fact in facts
        if fact.explains in topics
        and ({*columns} & {*fact.columns} or not fact.columns)
        and fact.text not in message
    ]
    if not texts:
        return message
    text = f"Note: {'; '.join(texts)}."
    return f"{message}\n  {text}" if "\n" in message else f"{message} {text}"


def name_of(cell: Any) -> str:
    """Return the name of a column, whose letters have one form in all files."""
    return as_text(cell)


def header_place(lines: Sequence[Sequence[str]], label: str) -> int:
    """Return the position of the header among the first lines, given as cells.

    If lines differ in their number of cells, the header is the line that contains the
    name of the label column. Otherwise it is the first line that is neither a comment
    nor a single cell above names; a comment with as many cells as a row is the header.
    """
    widths = [max((k for k, c in enumerate(of, 1) if c), default=0) for of in lines]
    filled = [k for k, width in enumerate(widths) if width]
    places = [k for k in filled if not lines[k][0].startswith(PREAMBLE)]
    if not places:
        return 0
    header, *others = places
    for place in others:
        if (
            widths[header] > 1
            or widths[place] < 2
            or any(map(_is_number, lines[place]))
        ):
            break
        header = place
    comment = max((k for k in filled if k < header), default=header)
    if lines[comment][0].startswith(PREAMBLE) and 1 < widths[comment] == widths[header]:
        header = comment
    first, labelled = filled[0], next((k for k in filled if label in lines[k]), header)
    if widths[labelled] > widths[first] or len(lines[labelled]) != len(lines[first]):
        header = labelled
    return header


def _is_number(cell: str) -> bool:
    return not math.isnan(number(cell))


def lines_above(n: int) -> list[Fact]:
    """Return the fact that lines above the header were left out, if any."""
    text = f"{counted(n, 'line')} above the header left out"
    return [Fact(text, ROWS)] if n else []


def with_header(cells: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Name the columns by the first row; drop columns with neither name nor cells."""
    header, rows = cells.iloc[0].map(name_of), cells.iloc[1:]
    rows = rows[rows.ne("").any(axis="columns")]
    repeats = rows[rows[rows.columns[0]].eq(cells.iloc[0, 0])]
    if len(repeats := repeats[repeats.eq(cells.iloc[0]).all(axis="columns")]):
        fault = f"{unit} {repeats.index[0] + 1} repeats the header"
        raise DataError(f"{fault}, as in files that were joined. Remove it.")
    is_used = header.ne("") | rows.ne("").any() | rows.empty
    return rows.loc[:, is_used].set_axis(header[is_used].tolist(), axis="columns")


def from_arrays(
    arrays: dict[str, NDArray[Any]], columns: Any, form: str, *, any_name: bool
) -> Table:
    """Return the table of a matrix X with arrays of labels, ids and names."""
    import pandas as pd

    dropped = tuple(name for name in columns.drop if name in arrays)
    arrays = {name: array for name, array in arrays.items() if name not in dropped}
    named = {part: _array_name(arrays, columns, part) for part in ARRAYS}
    special = [name for name in named.values() if name]
    matrix = _matrix_name(arrays, special, any_name=any_name)
    X = arrays[matrix]
    _check_lengths(X, {name: arrays[name] for name in special})
    names = _feature_names(arrays, X, special)
    header = [*map(str, range(1, X.shape[1] + 1))]
    header = header if names is None else [*map(name_of, names)]
    cells = pd.DataFrame(X, columns=header)
    parts = {name: pd.Series(arrays[name], dtype=None) for name in special}
    cells = pd.concat([cells, pd.DataFrame(parts)], axis="columns") if parts else cells
    others = [n for n in arrays if n not in (matrix, *special, FEATURES)]
    facts = (
        [Fact(f"other arrays left out: {', '.join(others)}", ABSENT)] if others else []
    )
    return Table(
        cells,
        form,
        named["label"] or "",
        named["id"] or "",
        tuple(facts),
        of_arrays=True,
        is_named=names is not None,
        dropped=dropped,
    )


def _feature_names(
    arrays: Mapping[str, NDArray[Any]], X: NDArray[Any], special: Sequence[str]
) -> NDArray[Any] | None:
    """Return the names of the columns of X, if any."""
    names = arrays.get(FEATURES)
    if names is None or names.dtype.kind not in "UO":  # a matrix may be called so
        return None
    is_distinct = len({*names, *special}) == len(names) + len(special)
    if names.shape != X.shape[1:] or not is_distinct:
        fault = f"{FEATURES} has shape {names.shape}, expected distinct names of"
        raise DataError(f"{fault} the {X.shape[1]} columns of X.")
    return names


def _check_lengths(X: NDArray[Any], parts: Mapping[str, NDArray[Any]]) -> None:
    """Raise DataError if labels or ids have another number of entries than X rows."""
    for name, values in parts.items():
        if values.shape != (len(X),):
            turned = values.shape == X.shape[1:]
            hint = " Rows of X are samples: transpose it." if turned else ""
            fault = f"{name} has shape {values.shape}, expected one entry for each of"
            raise DataError(f"{fault} the {len(X)} rows of X.{hint}")


def _array_name(arrays: Any, columns: Any, option: str) -> str | None:
    name = getattr(columns, option)
    if name in arrays:
        return str(name)
    candidates = [n for n in ARRAYS[option] if n in arrays]
    if len(candidates) > 1:
        remedy = f"Name the one with the {option}s: --{option} {candidates[0]}"
        raise DataError(f"it has the arrays {' and '.join(candidates)}. {remedy}")
    return candidates[0] if candidates else None


def _matrix_name(arrays: Any, excluded: Sequence[str], *, any_name: bool) -> str:
    """Return X; in MATLAB and safetensors files, else the only other numeric matrix."""
    matrices = {
        name: array.dtype.kind
        for name, array in arrays.items()
        if array.ndim == 2 and array.dtype.kind in "biufUmM" and name not in excluded
    }
    if "X" in matrices:
        return "X"
    numeric = [name for name, kind in matrices.items() if kind in "biuf"]
    if any_name and "X" not in arrays and len(numeric) == 1:
        return str(numeric[0])
    shapes = ", ".join(f"{k} {v.shape}" for k, v in arrays.items()) or "nothing"
    raise DataError(f"expected a matrix X of numbers, got {shapes}.")


def as_frame(X: Any) -> pd.DataFrame:
    """Return a data frame of pandas, of polars or Arrow, or rows of an array as one."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        return pd.DataFrame(X.to_pandas())
    if hasattr(X, "collect"):
        raise DataError(f"{type(X).__name__} has no rows yet. Pass its collect().")
    if hasattr(X, "tocsr"):
        raise DataError("sparse rows are numbers already, without names to encode.")
    rows = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if rows.ndim != 2:
        raise DataError(
            f"expected rows with columns, got an array of shape {rows.shape}."
        )
    return pd.DataFrame(rows)
