"""Columns of a table: of which kind their cells are, and how these become numbers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.labels import MISSING_MARKERS
from cdspp.core.names import ERROR, ONE_HOT, PARTS
from cdspp.core.wording import shortened

if TYPE_CHECKING:
    import pandas as pd

NUMBER, BOOLEAN, TEXT, DATE, NESTED = "number", "boolean", "text", "date", "nested"
REFUSED = {TEXT: "text", DATE: "dates", NESTED: "lists or dictionaries"}
ISO, AMBIGUOUS = "ISO8601", "ambiguous order"
EITHER = "point or comma"  # in place of a decimal sign
TOO_MANY = "too many values"  # for one-hot: nearly all cells differ
SEPARATOR = "separator"  # of cells in a text file, among the `attrs` of its table
DATE_PARTS = {"year": "year", "month": "month", "day": "day", "weekday": "day_of_week"}

_BOOLEANS = {"true": 1.0, "false": 0.0}
CONTAINERS = (list, tuple, dict, set, np.ndarray)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?([eE][+-]?\d+)?")
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # decimals, or a thousand
_EXCHANGED = str.maketrans(".,", ",.")
# The highest first, second and third part of a date.
_ORDERS = {"dmy": (31, 12, 9999), "mdy": (12, 31, 9999), "ymd": (99, 12, 31)}
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

    def encode(self, cells: pd.Series) -> NDArray[np.float64]:
        """Return the numbers of cells, a column for each feature that they become."""
        import pandas as pd

        values = cells.to_numpy(dtype=object)
        if self.kind == NUMBER:
            # As Python's `float` reads them, to the last bit.
            if pd.api.types.is_numeric_dtype(cells.dtype):
                found = cells.to_numpy(dtype=np.float64, na_value=np.nan)
            elif self.sign != "." or (found := _floats(values)) is None:
                found = np.array([number(cell, self.sign) for cell in values])
            return np.asarray(found)[:, None]
        if self.kind == BOOLEAN:
            words = (str(cell).strip().lower() for cell in values)
            return np.array([_BOOLEANS.get(word, math.nan) for word in words])[:, None]
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
            found = dict.fromkeys(text for text in texts(cells) if text)
            shown = shortened([*map(repr, found)])
            yield column, f"{what} holds {REFUSED[column.kind]} ({shown})"
        elif column.form == TOO_MANY:
            many = f"{len(column.values)} different values in {len(cells)} rows"
            yield column, f"{what} holds {many}, too many for one-hot"
        elif column.sign == AMBIGUOUS:
            first = next(text for text in texts(cells) if text)
            year = re.search(r"\d{4}", first)
            parts = "day or the month" if year else "day, the month or the year"
            yield column, f"{what}: {first!r} may begin with the {parts}"
        elif column.sign == EITHER:
            first = next(t for t in texts(cells) if t and _AMBIGUOUS.fullmatch(t))
            both = f"{number(first):g} or {number(first, ','):g}"
            how = "name the decimal sign by --decimal"
            yield column, f"{what}: {first!r} may be {both} ({how})"
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
    """Return whether a cell of a feature is empty or a missing-value marker."""
    return cell is None or str(cell).strip().lower() in MISSING_MARKERS


def column_kind(cells: pd.Series) -> str:
    """Return the kind of a column.

    Half of the cells make a column of numbers, where a stray word is a fault.
    """
    import pandas as pd

    if pd.api.types.is_bool_dtype(cells.dtype):
        return BOOLEAN
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return NUMBER
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return DATE
    values = cells.to_numpy(dtype=object)
    if isinstance(next((c for c in values if c is not None), None), CONTAINERS):
        return NESTED
    if _floats(values) is not None:  # nearly all columns, at once
        words = all(isinstance(cell, (bool, np.bool_)) for cell in values)
        return BOOLEAN if words and len(values) else NUMBER
    present = [cell for cell in values if not is_null(cell)]
    if present and all(str(cell).strip().lower() in _BOOLEANS for cell in present):
        return BOOLEAN
    unread = (c for c in present if math.isnan(number(c)))
    if 2 * sum(math.isnan(number(c, ",")) for c in unread) <= len(present):
        return NUMBER
    dated = (
        _DATE.fullmatch(c.strip()) if isinstance(c, str) else hasattr(c, "year")
        for c in present
    )
    return DATE if all(dated) else TEXT


def _floats(values: NDArray[Any]) -> NDArray[np.float64] | None:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def with_signs(
    columns: Sequence[EncodedColumn], table: pd.DataFrame, decimal: str | None
) -> list[EncodedColumn]:
    """Return columns with the decimal signs that their numbers have in a table.

    Numbers such as 0,5 or 1,234.5 are clear. For 1.234, which may be 1234, `decimal`
    decides, else the clear columns, semicolons between cells, or commas at the fit of
    `columns`. Where these stand against decimals, or nothing for a comma, it is EITHER.
    """
    shown = {c.name: _decimal_sign(table[c.name]) for c in columns if c.kind == NUMBER}
    clear = {sign for sign in shown.values() if sign in (".", ",")}
    commas = table.attrs.get(SEPARATOR) == ";" or any(c.sign == "," for c in columns)
    sign = EITHER if len(clear) > 1 else [*clear, "," if commas else "."][0]
    signs = {f"{sign}?": decimal or sign, "": ".", ".": ".", ",": ","}
    other = decimal or EITHER
    return [
        replace(c, sign=signs.get(shown[c.name], other)) if c.name in shown else c
        for c in columns
    ]


def _decimal_sign(cells: pd.Series) -> str:
    """Return the decimal sign of a column; ``?`` follows where thousands have it."""
    found = set[str]()
    for cell in cells.to_numpy(dtype=object):
        if isinstance(cell, str) and ("." in cell or "," in cell and "," not in found):
            text = cell.strip()
            if _AMBIGUOUS.fullmatch(text):
                found.add(".?" if "." in text else ",?")
            elif not math.isnan(number(text)):
                return "."  # a comma elsewhere is a fault
            elif not math.isnan(number(text, ",")):
                found.add(",")
    return "," if "," in found else "".join(sorted(found))


def number(cell: Any, decimal: str = ".") -> float:
    """Return a cell as Python's `float` reads it, NaN where it is no number.

    The other sign than `decimal` may part thousands.
    """
    if isinstance(cell, str):
        text = cell.strip() if decimal == "." else cell.strip().translate(_EXCHANGED)
        grouped = "," in text and _THOUSANDS.fullmatch(text)
        cell = text.replace(",", "") if grouped else text
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def texts(cells: pd.Series) -> list[str | None]:
    """Return the text of each cell without blanks around it, None where it is empty."""
    values = cells.to_numpy(dtype=object)
    try:
        known = {c: None if is_null(c) else str(c).strip() for c in {*values}}
    except TypeError:  # lists and dictionaries
        return [None if is_null(cell) else str(cell).strip() for cell in values]
    return [known[cell] for cell in values]


def date_form(cells: pd.Series) -> str:
    """Return the format of dates as text: the only possible, or points after the day.

    Only four digits are surely a year.
    """
    found = [_DATE.fullmatch(text) for text in texts(cells) if text]
    parts = [match.group(1, 3, 4) for match in found if match]
    if not parts or any(len(first) == 4 for first, *_ in parts):
        return ISO
    highest = np.array(parts, dtype=int).max(axis=0)
    mark = next(match[2] for match in found if match)
    possible = [order for order, most in _ORDERS.items() if (highest <= most).all()]
    if mark == "." or not possible:
        possible = ["dmy"]
    if len(possible) > 1:
        return AMBIGUOUS
    year = "Y" if len(parts[0][2]) == 4 else "y"
    return mark.join(f"%{part}" for part in possible[0].replace("y", year))


def days_of(cells: pd.Series, form: str) -> pd.Series:
    """Return cells as days without a time zone, NaT where one is missing or no date."""
    import pandas as pd

    if isinstance(cells.dtype, pd.PeriodDtype):
        cells = cells.dt.to_timestamp()
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
