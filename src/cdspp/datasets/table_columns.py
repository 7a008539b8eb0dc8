"""Columns of a table: of which kind their cells are, and how these become numbers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.labels import NULL_WORDS
from cdspp.core.names import ERROR, ONE_HOT, PARTS
from cdspp.core.wording import shortened

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AMBIGUOUS",
    "BOOLEAN",
    "DATE",
    "ISO",
    "NUMBER",
    "TEXT",
    "EncodedColumn",
    "column_faults",
    "column_kind",
    "date_form",
    "days_of",
    "is_null",
    "number",
    "texts",
]

NUMBER, BOOLEAN, TEXT, DATE = "number", "boolean", "text", "date"
ISO, AMBIGUOUS = "ISO8601", "day or month first"
DATE_PARTS = {"year": "year", "month": "month", "day": "day", "weekday": "day_of_week"}

_WORDS = {"true": 1.0, "false": 0.0}
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})([ T]\d{1,2}:\d{2}\S*)?")


@dataclass(frozen=True)
class EncodedColumn:
    """How one column becomes numbers.

    `form` is that of `CATEGORIES` or `DATES`, or a library; `sign` the decimal sign of
    numbers or the format of dates; `values` are the categories, sorted.
    """

    name: str
    kind: str
    form: str = ""
    sign: str = "."
    values: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()

    def names(self) -> list[str]:
        """Return the names of the features that the column becomes."""
        if self.form == ONE_HOT:
            return [f"{self.name}={value}" for value in self.values]
        if self.form == PARTS:
            return [f"{self.name}.{part}" for part in DATE_PARTS]
        return [self.name]

    def encode(self, cells: pd.Series) -> NDArray[np.float64]:
        """Return the numbers of cells, a column for each of `names`."""
        if self.kind == NUMBER:
            return _numbers(cells, self.sign)[:, None]
        if self.kind == BOOLEAN:
            words = (str(cell).strip().lower() for cell in cells.to_numpy(dtype=object))
            return np.array([_WORDS.get(word, math.nan) for word in words])[:, None]
        if self.kind == DATE:
            days = days_of(cells, self.sign)
            if self.form == PARTS:
                parts = [getattr(days.dt, name) for name in DATE_PARTS.values()]
                return np.column_stack([part.to_numpy(dtype=float) for part in parts])
            whole = days.to_numpy().astype("datetime64[D]")
            counts = whole.astype(np.int64).astype(float)
            return np.where(np.isnat(whole), np.nan, counts)[:, None]
        found = np.array(texts(cells), dtype=object)
        if self.form == ONE_HOT:
            values = np.array(self.values, dtype=object)
            return np.asarray(found[:, None] == values, dtype=np.float64)
        shares = dict(zip(self.values, self.shares, strict=True))
        return np.array([shares.get(text, 0.0) for text in found])[:, None]


def column_faults(
    columns: Sequence[EncodedColumn], table: pd.DataFrame
) -> Iterator[tuple[EncodedColumn, str]]:
    """Yield each column that cannot be encoded, with the reason."""
    for column in columns:
        cells, what = table[column.name], f"column {column.name!r}"
        if column.form == ERROR:
            kind = "text" if column.kind == TEXT else "dates"
            found = dict.fromkeys(text for text in texts(cells) if text)
            yield column, f"{what} holds {kind} ({shortened([*map(repr, found)])})"
        elif column.sign == AMBIGUOUS:
            first = next(text for text in texts(cells) if text)
            yield column, f"{what}: {first!r} may begin with the day or the month"
        elif column.kind != TEXT:
            gaps = np.flatnonzero(np.isnan(column.encode(cells)[:, 0]))
            odd = [int(k) for k in gaps if not is_null(cells.iloc[k])]
            if not odd:
                continue
            kind = "true or false" if column.kind == BOOLEAN else f"a {column.kind}"
            kind += f" of the form {column.sign}" if column.kind == DATE else ""
            more = f" (of {len(odd)} such)" if len(odd) > 1 else ""
            shown = textwrap.shorten(repr(cells.iloc[odd[0]]), 40, placeholder="...")
            record = int(cells.index[odd[0]]) + 1
            yield column, f"record {record}, {what}: {shown} is not {kind}{more}"


def is_null(cell: Any) -> bool:
    """Whether a cell of a feature is empty, or one of the words for nothing."""
    return cell is None or str(cell).strip().lower() in NULL_WORDS


def column_kind(cells: pd.Series, decimal: str | None = None) -> tuple[str, str]:
    """Return the kind of a column and the decimal sign of its numbers.

    Half of the cells make a column of numbers, where a stray word is a fault. The comma
    is taken where cells have one, none has a point, and one cannot part thousands.
    """
    import pandas as pd

    if pd.api.types.is_bool_dtype(cells.dtype):
        return BOOLEAN, "."
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return NUMBER, "."
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return DATE, "."
    values = cells.to_numpy(dtype=object)
    if _floats(values) is not None:  # nearly all columns, at once
        words = all(isinstance(cell, (bool, np.bool_)) for cell in values)
        return (BOOLEAN if words and len(values) else NUMBER), "."
    present = [cell for cell in values if not is_null(cell)]
    sign = decimal or _decimal_sign(present)
    n_numbers = sum(not math.isnan(number(cell, sign)) for cell in present)
    if present and all(str(cell).strip().lower() in _WORDS for cell in present):
        return BOOLEAN, "."
    if 2 * n_numbers >= len(present):
        return NUMBER, sign
    return (DATE if all(map(_is_date, present)) else TEXT), "."


def _floats(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return cells as floats where NumPy can read all of them."""
    found = np.empty(len(values))
    try:
        found[:] = values
    except (TypeError, ValueError):
        return None
    return found


def _decimal_sign(present: Sequence[Any]) -> str:
    found = [cell.strip() for cell in present if isinstance(cell, str)]
    commas = [text for text in found if _COMMA.fullmatch(text)]
    if not commas or all(map(_THOUSANDS.fullmatch, commas)):
        return "."
    points = [text for text in found if "." in text and "," not in text]
    return "." if any(not math.isnan(number(text)) for text in points) else ","


def number(cell: Any, decimal: str = ".") -> float:
    """Return a cell as Python's `float` reads it, NaN where it is no number."""
    if is_null(cell):
        return math.nan
    if decimal == "," and isinstance(cell, str):
        if not _COMMA.fullmatch(cell := cell.strip()) and "." in cell:
            return math.nan
        cell = cell.replace(".", "").replace(",", ".")
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _numbers(cells: pd.Series, decimal: str) -> NDArray[np.float64]:
    """Return cells as Python's `float` reads them, to the last bit; NaN where none."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(cells.dtype):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    values = cells.to_numpy(dtype=object)
    found = _floats(values)
    return np.array([number(k, decimal) for k in values]) if found is None else found


def texts(cells: pd.Series) -> list[str | None]:
    """Return the text of each cell without blanks around it, None where it is empty."""
    values = cells.to_numpy(dtype=object)
    known = {cell: None if is_null(cell) else str(cell).strip() for cell in {*values}}
    return [known[cell] for cell in values]


def _is_date(cell: Any) -> bool:
    if isinstance(cell, str):
        return _DATE.fullmatch(cell.strip()) is not None
    return hasattr(cell, "year")  # a date of Python's or of pandas


def date_form(cells: pd.Series) -> str:
    """Return the format of dates as text; days are first if above 12 or with points."""
    found = [_DATE.fullmatch(text) for text in texts(cells) if text]
    parts = [match.group(1, 2, 3, 4) for match in found if match]
    if not parts or any(len(part[0]) == 4 for part in parts):
        return ISO
    day_first = any(int(part[0]) > 12 for part in parts) or parts[0][1] == "."
    if not day_first and all(int(part[2]) <= 12 for part in parts):
        return AMBIGUOUS
    year = "%Y" if len(parts[0][3]) == 4 else "%y"
    return parts[0][1].join(("%d", "%m", year) if day_first else ("%m", "%d", year))


def days_of(cells: pd.Series, form: str) -> pd.Series:
    """Return cells as days without a time zone, NaT where one is missing or no date."""
    import pandas as pd

    if cells.dtype != object and not pd.api.types.is_string_dtype(cells.dtype):
        return cells.dt.tz_localize(None)
    days = pd.Series([*map(_day, cells)], index=cells.index, dtype=object)
    written = any(isinstance(day, str) for day in days)
    return pd.to_datetime(days, errors="coerce", format=form if written else ISO)


def _day(cell: Any) -> Any:
    """Return a cell without its time of day, as text in which pandas finds the date."""
    if is_null(cell):
        return None
    if isinstance(cell, str):
        return re.split("[ T]", cell.strip())[0]
    return cell.strftime("%Y-%m-%d")
