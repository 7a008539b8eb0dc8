"""What the cells of a column are: numbers, true and false, text or dates."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.labels import NULL_WORDS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AMBIGUOUS",
    "BOOLEAN",
    "DATE",
    "NUMBER",
    "TEXT",
    "booleans",
    "column_kind",
    "date_form",
    "dates",
    "is_null",
    "number",
    "numbers",
    "texts",
]

NUMBER, BOOLEAN, TEXT, DATE = "number", "boolean", "text", "date"
ISO, AMBIGUOUS = "ISO8601", "day or month first"

_WORDS = {"true": 1.0, "false": 0.0}
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})([ T]\d{1,2}:\d{2}\S*)?")


def is_null(cell: Any) -> bool:
    """Whether a cell of a feature is empty, or one of the words for nothing."""
    return cell is None or str(cell).strip().lower() in NULL_WORDS


def column_kind(cells: pd.Series, decimal: str | None = None) -> tuple[str, str]:
    """Return the kind of a column and the decimal sign of its numbers.

    Where half of the cells or more are numbers the column is one of numbers: a stray
    word in it is a fault, not a category. Without a `decimal` sign, the comma is taken
    where cells have one, no cell has a point, and not every comma may part thousands.
    """
    import pandas as pd

    if pd.api.types.is_bool_dtype(cells.dtype):
        return BOOLEAN, "."
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return NUMBER, "."
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return DATE, "."
    values = cells.to_numpy(dtype=object)
    if _are_floats(values):  # nearly all columns, at once
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


def _are_floats(values: NDArray[Any]) -> bool:
    try:
        np.empty(len(values))[:] = values
    except (TypeError, ValueError):
        return False
    return True


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


def numbers(cells: pd.Series, decimal: str = ".") -> NDArray[np.float64]:
    """Return cells as Python's `float` reads them, to the last bit; NaN where none."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(cells.dtype):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    values, found = cells.to_numpy(dtype=object), np.empty(len(cells))
    try:
        found[:] = values
    except (TypeError, ValueError):
        found[:] = [number(cell, decimal) for cell in values]
    return found


def booleans(cells: pd.Series) -> NDArray[np.float64]:
    """Return 1 for true, 0 for false, NaN for anything else."""
    words = (str(cell).strip().lower() for cell in cells.to_numpy(dtype=object))
    return np.array([_WORDS.get(word, math.nan) for word in words])


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
    """Return the format of dates written as text: ISO, or an order of day and month.

    Days stand first where one is above 12, or where points part them; `AMBIGUOUS` where
    nothing tells.
    """
    found = [_DATE.fullmatch(text) for text in texts(cells) if text]
    parts = [match.group(1, 2, 3, 4) for match in found if match]
    if not parts or any(len(part[0]) == 4 for part in parts):
        return ISO
    day_first = any(int(part[0]) > 12 for part in parts) or parts[0][1] == "."
    if not day_first and all(int(part[2]) <= 12 for part in parts):
        return AMBIGUOUS
    year = "%Y" if len(parts[0][3]) == 4 else "%y"
    return parts[0][1].join(("%d", "%m", year) if day_first else ("%m", "%d", year))


def dates(cells: pd.Series, form: str) -> pd.Series:
    """Return cells as days without a time zone, NaT where one is missing or no date."""
    import pandas as pd

    if cells.dtype == object or pd.api.types.is_string_dtype(cells.dtype):
        days = [_day(cell) for cell in cells]
        written = form != ISO and any(isinstance(day, str) for day in days)
        cells = pd.Series(days, index=cells.index, dtype=object)
        parse = {"format": form} if written else {"format": ISO}
        return pd.to_datetime(cells, errors="coerce", **parse)
    return cells.dt.tz_localize(None)


def _day(cell: Any) -> Any:
    """Return a cell without its time of day, as text in which pandas finds the date."""
    if is_null(cell):
        return None
    if isinstance(cell, str):
        return re.split("[ T]", cell.strip())[0]
    return cell.strftime("%Y-%m-%d")
