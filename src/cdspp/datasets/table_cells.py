"""Cells of a table: numbers, days, durations, booleans or text, and their formats."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.labels import MISSING_MARKERS, cell_text

if TYPE_CHECKING:
    import pandas as pd

NUMBER, BOOLEAN, TEXT, NESTED = "number", "boolean", "text", "nested"
DATE, DURATION = "date", "duration"
ISO, AMBIGUOUS = "ISO8601", "ambiguous order"
BOOLEANS = {"true": 1.0, "false": 0.0}
CONTAINERS = (list, tuple, dict, set, np.ndarray)
# Groups of three digits, or in India of two before the last three.
_THOUSANDS = re.compile(
    r"[+-]?[1-9](\d{0,2}(,\d{3})+|\d?(,\d{2})+,\d{3})(\.\d*)?([eE][+-]?\d+)?"
)
AMBIGUOUS_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # decimals or thousands
_EXCHANGED = str.maketrans(".,", ",.")
# Full-width and minus signs, and blanks that keep a number on one line.
_USUAL = str.maketrans(
    "０１２３４５６７８９．，＋－−\u00a0\u2009\u202f\u3000", "0123456789.,+--    "
)
# Thousands separated by blanks or apostrophes, before either decimal sign.
_SPACED = re.compile(r"[+-]?[1-9]\d{0,2}(?:[ '’]\d{3})+(?:[.,]\d*)?")
# As pandas and spreadsheets write durations and times of day: 1 days 02:30:00.
_DURATION = re.compile(r"-?(\d+ days?,?( \+?|$))?(\d{1,3}:\d{2}:\d{2}(\.\d+)?)?")
# The maximum of the first, second and third part of a date.
_ORDERS = {"dmy": (31, 12, 9999), "mdy": (12, 31, 9999), "ymd": (99, 12, 31)}
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})([ T]\d{1,2}:\d{2}\S*)?")


def is_null(cell: Any) -> bool:
    """Return whether a cell of a feature is empty or a missing-value marker."""
    return cell is None or str(cell).strip().lower() in MISSING_MARKERS


def column_kind(cells: pd.Series) -> str:
    """Return the kind of a column.

    In a column of numbers, at least half of the cells are numbers; the rest are faults.
    """
    from pandas.api import types

    if types.is_bool_dtype(cells.dtype):
        return BOOLEAN
    if types.is_numeric_dtype(cells.dtype):
        return TEXT if types.is_complex_dtype(cells.dtype) else NUMBER
    if types.is_datetime64_any_dtype(cells.dtype):
        return DATE
    if types.is_timedelta64_dtype(cells.dtype):
        return DURATION
    values = cells.to_numpy(dtype=object)
    if isinstance(next((c for c in values if c is not None), None), CONTAINERS):
        return NESTED
    with suppress(TypeError, ValueError):  # fast path for nearly all columns
        if are_numbers(values):
            values.astype(np.float64)
            return NUMBER
    filled = [cell for cell in values if not is_null(cell)]
    if filled and all(str(cell).strip().lower() in BOOLEANS for cell in filled):
        return BOOLEAN
    others = (c for c in filled if math.isnan(number(c)))
    if 2 * sum(math.isnan(number(c, ",")) for c in others) <= len(filled):
        return NUMBER
    for kind, pattern in ((DATE, _DATE), (DURATION, _DURATION)):
        if all(
            pattern.fullmatch(c.strip()) if isinstance(c, str) else _typed(c) == kind
            for c in filled
        ):
            return kind
    return TEXT


def _typed(cell: Any) -> str:
    """Return the kind of a cell that is a date or a duration by its type."""
    if isinstance(cell, (timedelta, time, np.timedelta64)):
        return DURATION
    return DATE if hasattr(cell, "year") or isinstance(cell, np.datetime64) else ""


def decimal_sign(cells: pd.Series) -> str:
    """Return the decimal sign of a column, followed by ``?`` if it may be thousands."""
    signs = set[str]()
    if cells.dtype.kind in "biuf":
        return ""
    for cell in cells.to_numpy(dtype=object):
        if isinstance(cell, str) and ("." in cell or "," in cell and "," not in signs):
            text = number_text(cell)
            if AMBIGUOUS_NUMBER.fullmatch(text):
                signs.add(".?" if "." in text else ",?")
            elif not math.isnan(number(text)):
                return "."  # commas elsewhere are faults
            elif not math.isnan(number(text, ",")):
                signs.add(",")
    return "," if "," in signs else "".join(sorted(signs))


def number_text(cell: str) -> str:
    """Return a number in ASCII digits, without blanks or apostrophes."""
    text = (cell if cell.isascii() else cell.translate(_USUAL)).strip()
    return re.sub("[ '’]", "", text) if _SPACED.fullmatch(text) else text


def number(cell: Any, decimal: str = ".") -> float:
    """Return a cell as Python's `float` reads it; NaN if it is not a number.

    Of point and comma, the one that is not `decimal` may separate thousands. Neither a
    boolean nor text with an underscore is a number.
    """
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        text = number_text(cell)
        text = text if decimal == "." else text.translate(_EXCHANGED)
        grouped = "," in text and _THOUSANDS.fullmatch(text)
        cell = text.replace(",", "") if grouped else text
        if "_" in text:
            return math.nan
    elif isinstance(cell, (bool, np.bool_, np.datetime64, np.timedelta64)):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def are_numbers(values: NDArray[Any]) -> bool:
    """Return whether NumPy reads all cells as `number` does."""
    kinds = {*map(type, values)}
    if kinds & {bool, np.bool_, bytes, np.datetime64, np.timedelta64}:
        return False
    texts = values if kinds == {str} else [c for c in values if isinstance(c, str)]
    return "_" not in "".join(texts)


def texts(cells: pd.Series) -> list[str | None]:
    """Return the one form of each cell as text; None if it is empty."""
    values = cells.to_numpy(dtype=object)
    try:
        # Of equal cells, such as True and 1, each has its own text.
        keys = [(type(cell), cell) for cell in values]
        text_of = {k: None if is_null(k[1]) else cell_text(k[1]) for k in {*keys}}
    except TypeError:  # lists and dictionaries
        return [None if is_null(cell) else cell_text(cell) for cell in values]
    return [text_of[key] for key in keys]


def date_form(cells: pd.Series) -> str:
    """Return the format of dates in text: the only possible one; day first with points.

    Only four digits are certainly a year.
    """
    matches = [_DATE.fullmatch(text) for text in texts(cells) if text]
    parts = [match.group(1, 3, 4) for match in matches if match]
    if not parts or any(len(first) == 4 for first, *_ in parts):
        return ISO
    highest = np.array(parts, dtype=int).max(axis=0)
    mark = next(match[2] for match in matches if match)
    possible = [order for order, limits in _ORDERS.items() if (highest <= limits).all()]
    if mark == "." or not possible:
        possible = ["dmy"]
    if len(possible) > 1:
        return AMBIGUOUS
    year = "Y" if len(parts[0][2]) == 4 else "y"
    return mark.join(f"%{part}" for part in possible[0].replace("y", year))


def days_of(cells: pd.Series, form: str) -> pd.Series:
    """Return cells as days without a time zone; NaT if missing or not a date."""
    import pandas as pd

    if isinstance(cells.dtype, pd.PeriodDtype):
        cells = cells.dt.to_timestamp()
    if cells.dtype != object and not pd.api.types.is_string_dtype(cells.dtype):
        return cells.dt.tz_localize(None)
    days = pd.Series([*map(_day, cells)], index=cells.index, dtype=object)
    is_text = any(isinstance(day, str) for day in days)
    return pd.to_datetime(days, errors="coerce", format=form if is_text else ISO)


def _day(cell: Any) -> Any:
    """Return a cell without its time of day, as text that pandas can parse."""
    if is_null(cell):
        return None
    if isinstance(cell, str):
        return re.split("[ T]", cell.strip())[0]
    return cell.strftime("%Y-%m-%d")


def durations_of(cells: pd.Series) -> NDArray[np.float64]:
    """Return durations, and times of day, as numbers of days; NaN if missing."""
    import pandas as pd

    values = [
        None if is_null(c) else c if isinstance(c, timedelta) else str(c) for c in cells
    ]
    days = pd.to_timedelta(pd.Series(values, dtype=object), errors="coerce")
    return np.asarray(days / pd.Timedelta(days=1), dtype=np.float64)
