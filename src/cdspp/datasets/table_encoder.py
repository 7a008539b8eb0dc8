"""Columns of a table as numbers: the encoding is decided once and kept."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cdspp.core.errors import DataError
from cdspp.core.names import CATEGORIES, DATES, ERROR, ONE_HOT, PARTS
from cdspp.core.wording import counted, shortened
from cdspp.datasets.column_kinds import (
    AMBIGUOUS,
    BOOLEAN,
    DATE,
    NUMBER,
    TEXT,
    booleans,
    column_kind,
    date_form,
    dates,
    is_null,
    numbers,
    texts,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EncodedColumn", "TableEncoder", "column_faults"]

DATE_PARTS = {"year": "year", "month": "month", "day": "day", "weekday": "day_of_week"}


@dataclass(frozen=True)
class EncodedColumn:
    """How one column becomes numbers.

    `form` is that of `CATEGORIES` or `DATES`; `sign` the decimal sign of numbers or the
    format of dates; `values` are the categories, sorted, with their `shares` of rows.
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
            return numbers(cells, self.sign)[:, None]
        if self.kind == BOOLEAN:
            return booleans(cells)[:, None]
        if self.kind == DATE:
            days = dates(cells, self.sign)
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
        return np.array([[shares.get(text, 0.0)] for text in found])


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns the columns of a data frame into numbers and remembers how.

    Numbers stay as they are. Booleans, and the words true and false, become 1 and 0.
    Text and dates are errors, all columns at once, unless `categories` and `dates`
    choose an encoding. `transform` matches columns by name, in any order.

    Parameters
    ----------
    categories : {'error', 'one-hot', 'frequency'}, default='error'
        Encoding of text: one column of zeros and ones for each value, or one column
        with the share of the fitted rows that have the value. A missing value, or one
        that `fit` did not see, becomes zeros.
    dates : {'error', 'number', 'parts'}, default='error'
        Encoding of dates: days since 1970, or year, month, day of the month and day of
        the week (0 is Monday).
    decimal : {'.', ','} or None, default=None
        Decimal sign of numbers written as text. None finds it column by column.
    date_format : str or None, default=None
        Format of dates written as text, as `datetime.strptime` takes it. None reads ISO
        dates, and others where a number above 12, or points, tell day from month.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        How each column is encoded.
    feature_names_in_ : ndarray of str of shape (n_columns,)
        Names of the columns.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Cost: linear in the number of cells.

    Examples
    --------
    >>> import pandas as pd
    >>> from cdspp import TableEncoder
    >>> rows = pd.DataFrame({"age": [41, 52], "site": ["A", "B"]})
    >>> encoder = TableEncoder(categories="one-hot").fit(rows)
    >>> list(encoder.get_feature_names_out())
    ['age', 'site=A', 'site=B']
    >>> encoder.transform(rows)
    array([[41.,  1.,  0.],
           [52.,  0.,  1.]])
    """

    def __init__(
        self,
        *,
        categories: str = ERROR,
        dates: str = ERROR,
        decimal: str | None = None,
        date_format: str | None = None,
    ) -> None:
        self.categories = categories
        self.dates = dates
        self.decimal = decimal
        self.date_format = date_format

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide how each column is encoded.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Rows.
        y : None
            Ignored.

        Raises
        ------
        DataError
            Columns hold text or dates and no option encodes these, or cells that are no
            numbers; the message names every such column.
        ValueError
            An option has an unknown value.
        """
        self.learn(X)
        faults = [fault for _, fault in column_faults(self.columns_, X)]
        if faults:
            raise DataError(
                f"{'; '.join(faults)}. Choose `categories` and `dates` to encode text "
                "and dates, or leave these columns out."
            )
        return self

    def learn(self, X: pd.DataFrame) -> None:
        """Decide the encoding of each column, whatever `column_faults` says of it."""
        if twice := [name for name, n in Counter(map(str, X)).items() if n > 1]:
            raise DataError(f"the table has the column {twice[0]!r} more than once.")
        for option, known in (("categories", CATEGORIES), ("dates", DATES)):
            if (given := getattr(self, option)) not in known:
                raise ValueError(f"{option} must be one of {known}, got {given!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.', ',' or None, got {self.decimal!r}.")
        self.columns_ = [self._decided(str(name), cells) for name, cells in X.items()]
        self._name_columns()

    def _decided(self, name: str, cells: pd.Series) -> EncodedColumn:
        kind, decimal = column_kind(cells, self.decimal)
        if kind == NUMBER:
            return EncodedColumn(name, kind, sign=decimal)
        if kind == DATE:
            form = self.date_format or date_form(cells)
            return EncodedColumn(name, kind, self.dates, form)
        if kind == BOOLEAN:
            return EncodedColumn(name, kind)
        counts = Counter(text for text in texts(cells) if text is not None)
        values = tuple(sorted(counts))
        shares = tuple(counts[value] / len(cells) for value in values)
        return EncodedColumn(name, kind, self.categories, values=values, shares=shares)

    def _name_columns(self) -> None:
        names = [column.name for column in self.columns_]
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the columns as numbers, NaN where a number or a date is missing.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Rows with the columns of the fit, in any order; others are ignored.

        Returns
        -------
        numbers : ndarray of shape (n_rows, n_features)
            One column for each name of `get_feature_names_out`.

        Raises
        ------
        DataError
            A column is missing, or cells are no numbers in a column of numbers.
        """
        check_is_fitted(self)
        known = set(map(str, X))
        if lacking := [c.name for c in self.columns_ if c.name not in known]:
            raise DataError(
                f"the table lacks {counted(len(lacking), 'column')} of the fit: "
                f"{shortened(lacking)}."
            )
        if faults := [fault for _, fault in column_faults(self.columns_, X)]:
            raise DataError(f"{'; '.join(faults)}.")
        parts = [column.encode(X[column.name]) for column in self.columns_]
        return np.hstack([np.empty((len(X), 0)), *parts])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, such as ``site=A`` or ``seen.year``."""
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.names()]
        return np.array(names, dtype=object)

    def notes(self) -> list[str]:
        """Say, for each encoding in use, which columns have it."""
        groups: dict[str, list[str]] = {}
        for column in self.columns_:
            if column.kind == TEXT:
                shown = f"{column.name} ({counted(len(column.values), 'value')})"
                groups.setdefault(f"text as {column.form}", []).append(shown)
            elif column.kind == DATE:
                form = "days since 1970" if column.form != PARTS else "year to weekday"
                groups.setdefault(f"dates as {form}", []).append(column.name)
            elif column.kind == BOOLEAN:
                groups.setdefault("true and false as 1 and 0", []).append(column.name)
            elif column.sign == ",":
                groups.setdefault("decimal commas", []).append(column.name)
        return [f"{how}: {shortened(names)}" for how, names in groups.items()]

    def unseen(self, X: pd.DataFrame) -> dict[str, int]:
        """Count, by column, cells with a category that `fit` did not see."""
        found: dict[str, int] = {}
        for column in self.columns_:
            if column.kind == TEXT:
                known = {*column.values, None}
                n = sum(text not in known for text in texts(X[column.name]))
                found |= {column.name: n} if n else {}
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return options and columns in a form that JSON can hold."""
        columns = [asdict(column) for column in self.columns_]
        return {**self.get_params(), "columns": columns}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        """Return the encoder of `to_dict`; ValueError where it is damaged."""
        try:
            options = {key: value for key, value in kept.items() if key != "columns"}
            encoder = cls(**options)
            encoder.columns_ = [
                EncodedColumn(
                    **{
                        key: str(entry[key]) for key in ("name", "kind", "form", "sign")
                    },
                    values=tuple(map(str, entry["values"])),
                    shares=tuple(map(float, entry["shares"])),
                )
                for entry in kept["columns"]
            ]
        except (KeyError, TypeError) as error:
            raise ValueError(f"no encoder of a table ({error!r})") from error
        encoder._name_columns()
        return encoder


def column_faults(
    columns: Sequence[EncodedColumn], table: pd.DataFrame
) -> Iterator[tuple[EncodedColumn, str]]:
    """Yield each column that cannot be encoded, with the reason.

    The index of the table, plus one, is the number of the record in a file.
    """
    for column in columns:
        cells, what = table[column.name], f"column {column.name!r}"
        if column.form == ERROR:
            kind = "text" if column.kind == TEXT else "dates"
            found = dict.fromkeys(text for text in texts(cells) if text)
            yield column, f"{what} holds {kind} ({shortened([*map(repr, found)])})"
        elif column.sign == AMBIGUOUS:
            first = next(text for text in texts(cells) if text)
            yield column, f"{what}: {first!r} may begin with the day or the month"
        elif odd := _odd_cells(column, cells):
            kind = "true or false" if column.kind == BOOLEAN else f"a {column.kind}"
            more = f" (of {len(odd)} such)" if len(odd) > 1 else ""
            shown = textwrap.shorten(repr(cells.iloc[odd[0]]), 40, placeholder="...")
            record = int(cells.index[odd[0]]) + 1
            yield column, f"record {record}, {what}: {shown} is not {kind}{more}"


def _odd_cells(column: EncodedColumn, cells: pd.Series) -> list[int]:
    """Return the places of cells that are there and not of the kind of their column."""
    if column.kind == TEXT:
        return []
    empty = np.flatnonzero(np.isnan(column.encode(cells)[:, 0]))
    return [int(k) for k in empty if not is_null(cells.iloc[k])]
