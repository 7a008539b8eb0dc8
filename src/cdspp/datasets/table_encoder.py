"""Columns of a table as numbers, by an encoding that is decided once and stored."""

from __future__ import annotations

import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cdspp.core.discovery import nearest
from cdspp.core.errors import DataError, problems_text
from cdspp.core.names import CATEGORIES, DATES, ERROR, ONE_HOT, PARTS, SKRUB
from cdspp.core.wording import counted, shortened
from cdspp.datasets import table_cells as kinds
from cdspp.datasets import table_files as files
from cdspp.datasets.table_faults import with_arguments
from cdspp.datasets.table_model import as_frame

if TYPE_CHECKING:
    import pandas as pd

REFUSED = {
    "text": "text",
    "date": "dates",
    "duration": "durations",
    "nested": "lists or dictionaries",
}
EITHER = "point or comma"  # undecided decimal sign
TOO_MANY = "too many values"  # for one-hot: nearly all cells differ
REMEDIES = {
    kinds.TEXT: "encode text with --categories one-hot or frequency",
    kinds.DATE: "encode dates with --dates number or parts",
    kinds.DURATION: "encode durations with --dates number",
    kinds.NESTED: "write one value per cell",
    TOO_MANY: "encode text with --categories frequency",
    EITHER: "name the decimal sign with --decimal",
    kinds.AMBIGUOUS: "give the format of dates with --date-format (as %d/%m/%Y)",
}
DATE_PARTS = {"year": "year", "month": "month", "day": "day", "weekday": "day_of_week"}
Place = Callable[[int], str]
NOT_SAVABLE = (
    "a model file cannot store an encoder of skrub. Leave --model out, or encode text "
    "and dates with --categories and --dates."
)


@dataclass(frozen=True)
class EncodedColumn:
    """The encoding of one column.

    `form` is one of `CATEGORIES` or `DATES`, or a library; `sign` is the decimal sign
    of numbers or the format of dates; `values` are the sorted categories.
    """

    name: str
    kind: str
    form: str = ""
    sign: str = "."
    values: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()

    def encode(self, cells: pd.Series) -> NDArray[np.float64]:
        """Return the numbers of cells, with one column per resulting feature."""
        import pandas as pd

        values: NDArray[Any] = cells.to_numpy(dtype=object)
        if self.kind == kinds.NUMBER:
            # Exactly as Python's `float` reads them.
            if pd.api.types.is_numeric_dtype(cells.dtype):
                floats = cells.to_numpy(dtype=np.float64, na_value=np.nan)
                return np.asarray(floats)[:, None]
            with suppress(TypeError, ValueError):
                if self.sign == "." and kinds.are_numbers(values):
                    return values.astype(np.float64)[:, None]
            return np.array([kinds.number(k, self.sign) for k in values])[:, None]
        if self.kind == kinds.BOOLEAN:
            words = (str(cell).strip().lower() for cell in values)
            numbers = [kinds.BOOLEANS.get(word, math.nan) for word in words]
            return np.array(numbers)[:, None]
        if self.kind == kinds.DURATION:
            return kinds.durations_of(cells)[:, None]
        if self.kind == kinds.DATE:
            days = kinds.days_of(cells, self.sign)
            if self.form == PARTS:
                parts = [getattr(days.dt, name) for name in DATE_PARTS.values()]
                return np.column_stack([part.to_numpy(dtype=float) for part in parts])
            dates = days.to_numpy().astype("datetime64[D]")
            counts = dates.astype(np.int64).astype(float)
            return np.where(np.isnat(dates), np.nan, counts)[:, None]
        categories = np.array(kinds.texts(cells), dtype=object)
        if self.form == ONE_HOT:
            values = np.array(self.values, dtype=object)
            return np.asarray(categories[:, None] == values, dtype=np.float64)
        shares = dict(zip(self.values, self.shares, strict=True))
        return np.array([shares.get(text, 0.0) for text in categories])[:, None]


def column_faults(
    columns: Sequence[EncodedColumn], table: pd.DataFrame, place: Place
) -> Iterator[tuple[EncodedColumn, str]]:
    """Yield each column that cannot be encoded, with the reason; name a row's place."""
    for column in columns:
        cells, what = table[column.name], f"column {column.name!r}"
        if column.form == ERROR:
            distinct = dict.fromkeys(text for text in kinds.texts(cells) if text)
            text = shortened([*map(repr, distinct)])
            yield column, f"{what} holds {REFUSED[column.kind]} ({text})"
        elif column.form == TOO_MANY:
            many = f"{len(column.values)} different values in {len(cells)} rows"
            yield column, f"{what} holds {many}, too many for one-hot"
        elif column.sign == kinds.AMBIGUOUS:
            cell = next(text for text in kinds.texts(cells) if text)
            yield column, f"{what}: {cell!r} has no clear order of day, month and year"
        elif column.sign == EITHER:
            unclear = kinds.AMBIGUOUS_NUMBER
            cell = next(t for t in kinds.texts(cells) if t and unclear.fullmatch(t))
            readings = f"{kinds.number(cell):g} or {kinds.number(cell, ','):g}"
            yield column, f"{what}: {cell!r} may be {readings}"
        elif column.kind != kinds.TEXT:
            gaps = np.flatnonzero(np.isnan(column.encode(cells)[:, 0]))
            faulty = [int(k) for k in gaps if not kinds.is_null(cells.iloc[k])]
            if not faulty:
                continue
            of_words = column.kind == kinds.BOOLEAN
            kind = "true or false" if of_words else f"a {column.kind}"
            kind += f" of the form {column.sign}" if column.kind == kinds.DATE else ""
            count = f" ({len(faulty)} in all)" if len(faulty) > 1 else ""
            text = textwrap.shorten(repr(cells.iloc[faulty[0]]), 40, placeholder="...")
            yield column, f"{place(faulty[0])}, {what}: {text} is not {kind}{count}"


def remedied(fault: tuple[EncodedColumn, str], leave: str = "") -> str:
    """Return the fault of a column with its remedy, and how to `leave` it out."""
    column, text = fault
    refused = column.kind if column.form == ERROR else column.sign
    refused = TOO_MANY if column.form == TOO_MANY else refused
    remedies = [REMEDIES.get(refused, "correct the cells"), leave]
    return f"{text}: {', or '.join(filter(None, remedies))}"


def _refuse(faults: Sequence[tuple[EncodedColumn, str]], leave: str = "") -> None:
    """Raise DataError if columns of a frame cannot be encoded."""
    if faults:
        texts = [remedied(fault, leave) for fault in faults]
        raise DataError(with_arguments(problems_text("the table", texts)))


def row_place(row: int) -> str:
    """Return the place of a row that is in no file."""
    return f"row {row + 1}"


def with_signs(
    columns: Sequence[EncodedColumn], table: pd.DataFrame, decimal: str | None
) -> list[EncodedColumn]:
    """Return columns with the decimal signs of their numbers in a table.

    Numbers such as 0,5 or 1,234.5 are clear. For 1.234, which may be 1234, the sign
    comes from `decimal`, else from clear columns, semicolons between cells, or commas
    at the fit of `columns`. Without evidence, or if columns disagree, it is EITHER.
    """
    numbers = [column for column in columns if column.kind == kinds.NUMBER]
    marks = {c.name: kinds.decimal_sign(table[c.name]) for c in numbers}
    clear = {sign for sign in marks.values() if sign in (".", ",")}
    commas = any(column.sign == "," for column in columns)
    commas |= table.attrs.get(files.SEPARATOR) == ";"
    sign = EITHER if len(clear) > 1 else [*clear, "," if commas else "."][0]
    signs = {f"{sign}?": decimal or sign, "": ".", ".": ".", ",": ","}
    default = decimal or EITHER
    return [
        replace(c, sign=signs.get(marks[c.name], default)) if c.name in marks else c
        for c in columns
    ]


@dataclass(eq=False, repr=False, kw_only=True)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns the columns of a data frame into numbers and remembers the encoding.

    Numbers stay as they are. Booleans, and the words true and false, become 1 and 0.
    Text and dates raise one DataError that names all such columns, unless `categories`
    and `dates` encode them. `transform` matches columns by name, in any order.

    Parameters
    ----------
    categories : {'error', 'one-hot', 'frequency'}, default='error'
        Encoding of text: one column of zeros and ones for each value, or one column
        with the share of the fitted rows that have the value. A missing value, or one
        that `fit` did not see, becomes zeros.
    dates : {'error', 'number', 'parts'}, default='error'
        Encoding of dates: days since 1970, or year, month, day of the month and day of
        the week (0 is Monday). Durations become days with either.
    decimal : {'.', ','} or None, default=None
        Decimal sign of numbers in text that may be thousands: 1.234 or 14,250. None
        uses that of clear columns, such as 0,5, or else of a file with semicolons, and
        refuses contradictions.
    date_format : str or None, default=None
        Format of dates in text, in the notation of `datetime.strptime`, for columns in
        which it matches a date. Other columns hold ISO dates, or dates whose order is
        clear from points or high numbers.
    vectorise : {'skrub'} or None, default=None
        Library that encodes text and dates instead of `categories` and `dates`:
        skrub's `TableVectorizer`, one-hot for up to 40 values of a column and tf-idf
        with a truncated SVD beyond. Needs ``pip install 'cdspp[tables]'``. A model file
        cannot store this encoder.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        The encoding of each column.

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

    categories: str = "error"
    dates: str = "error"
    decimal: str | None = None
    date_format: str | None = None
    vectorise: str | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide the encoding of each column.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Rows: a frame of pandas, polars or Arrow, or an array.
        y : None
            Ignored.

        Raises
        ------
        DataError
            Columns hold text or dates that no option encodes, or cells that are not
            numbers; the message names every affected column.
        ValueError
            An option has an unknown value.
        """
        _refuse(self.learn(X), "leave the column out")
        return self

    def learn(
        self, X: Any, place: Place = row_place
    ) -> list[tuple[EncodedColumn, str]]:
        """Decide the encoding of each column, and return the `column_faults`."""
        X = as_frame(X)
        X = X.set_axis([*map(str, X)], axis="columns")
        if doubles := [name for name, n in Counter(map(str, X)).items() if n > 1]:
            raise DataError(f"the table has the column {doubles[0]!r} more than once.")
        for option, choices in (("categories", CATEGORIES), ("dates", DATES)):
            if (value := getattr(self, option)) not in choices:
                raise ValueError(f"{option} must be one of {choices}, got {value!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.', ',' or None, got {self.decimal!r}.")
        if self.vectorise not in (None, SKRUB):
            raise ValueError(f"vectorise must be {SKRUB!r}, got {self.vectorise!r}.")
        columns = [self._encoding_of(str(name), cells) for name, cells in X.items()]
        self.columns_ = with_signs(columns, X, self.decimal)
        faults, self._vectoriser = [*column_faults(self.columns_, X, place)], None
        if any(column.form == SKRUB for column in self.columns_) and not faults:
            from skrub import StringEncoder, TableVectorizer

            vectoriser = TableVectorizer(high_cardinality=StringEncoder(random_state=0))
            self._vectoriser = vectoriser.fit(self._text_and_dates(X))
        return faults

    def _text_and_dates(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return parsed text and dates for the library that encodes them."""
        import pandas as pd

        columns = {
            c.name: kinds.days_of(X[c.name], c.sign)
            if c.kind == kinds.DATE
            else pd.Series(kinds.texts(X[c.name]), index=X.index)
            for c in self.columns_
            if c.form == SKRUB
        }
        return pd.DataFrame(columns)

    def _encoding_of(self, name: str, cells: pd.Series) -> EncodedColumn:
        kind = kinds.column_kind(cells)
        if kind in (kinds.NUMBER, kinds.BOOLEAN, kinds.NESTED):
            return EncodedColumn(name, kind, ERROR if kind == kinds.NESTED else "")
        if kind == kinds.DURATION:
            return EncodedColumn(name, kind, DATES[1] if self.vectorise else self.dates)
        if kind == kinds.DATE:
            form = self.date_format or ""
            if not form or kinds.days_of(cells, form).isna().all():
                form = kinds.date_form(cells)
            return EncodedColumn(name, kind, self.vectorise or self.dates, form)
        if self.vectorise:
            return EncodedColumn(name, kind, self.vectorise)
        counts = Counter(text for text in kinds.texts(cells) if text is not None)
        values = tuple(sorted(counts))
        shares = tuple(counts[value] / len(cells) for value in values)
        form = self.categories
        if form == ONE_HOT and len(values) >= max(20, 0.9 * counts.total()):
            form = TOO_MANY
        return EncodedColumn(name, kind, form, values=values, shares=shares)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns."""
        return np.array([column.name for column in self.columns_], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return len(self.columns_)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the columns as numbers, NaN if a number or a date is missing.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Rows with the columns of the fit, in any order; other columns are ignored.

        Returns
        -------
        numbers : ndarray of shape (n_rows, n_features)
            One column per name of `get_feature_names_out`.

        Raises
        ------
        DataError
            A column is missing, or a column of numbers has other cells.
        """
        X = as_frame(X)
        X = X.set_axis([*map(str, X)], axis="columns")
        columns = self.columns_in(X, self.decimal)
        _refuse([*column_faults(columns, X, row_place)])
        return self.encode(X, columns)

    def columns_in(self, X: Any, decimal: str | None = None) -> list[EncodedColumn]:
        """Return the columns as in a table that may write numbers differently."""
        check_is_fitted(self)
        header, fitted = [*map(str, X)], {c.name: c for c in self.columns_}
        available = {*header}
        if missing := [name for name in fitted if name not in available]:
            unknown = [name for name in header if name not in fitted]
            pairs = ((name, nearest(name, unknown)) for name in missing)
            hints = [f"{name!r} ({k!r}?)" if k else repr(name) for name, k in pairs]
            count = counted(len(missing), "column")
            text = f"the table lacks {count} of the fit: {shortened(hints, 5)}"
            raise DataError(f"{text}. Rename or add them.")
        return with_signs(self.columns_, X, decimal)

    def encode(self, X: Any, columns: Sequence[EncodedColumn]) -> NDArray[np.float64]:
        """Return the numbers of `columns_in` a table, as `transform` does."""
        native = [column for column in columns if column.form != SKRUB]
        parts = [np.empty((len(X), 0)), *(c.encode(X[c.name]) for c in native)]
        if self._vectoriser is not None:
            encoded = self._vectoriser.transform(self._text_and_dates(X))
            parts.append(encoded.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, such as ``site=A`` or ``seen.year``."""
        check_is_fitted(self)
        names = list[str]()
        for column in self.columns_:
            if column.form == ONE_HOT:
                names += [f"{column.name}={value}" for value in column.values]
            elif column.form == PARTS:
                names += [f"{column.name}.{part}" for part in DATE_PARTS]
            elif column.form != SKRUB:
                names.append(column.name)
        if self._vectoriser is not None:
            names += [*self._vectoriser.get_feature_names_out()]
        return np.array(names, dtype=object)

    def table_specific(self) -> frozenset[str]:
        """Return features of the fitted table only: shares of rows, parts of texts."""
        text = [c for c in self.columns_ if c.kind == kinds.TEXT]
        names = {column.name for column in text if column.form not in (ONE_HOT, SKRUB)}
        if self._vectoriser is not None:
            for column in self._vectoriser.kind_to_columns_["high_cardinality"]:
                names.update(self._vectoriser.input_to_outputs_[column])
        return frozenset(names)

    def notes(self, columns: Sequence[EncodedColumn] | None = None) -> list[str]:
        """List, for each encoding in use, its columns."""
        groups = defaultdict(list)
        for column in self.columns_ if columns is None else columns:
            if column.form == SKRUB:
                groups["text and dates by skrub"].append(column.name)
            elif column.kind == kinds.TEXT:
                text = f"{column.name} ({counted(len(column.values), 'value')})"
                groups[f"text as {column.form}"].append(text)
            elif column.kind == kinds.DATE:
                form = "days since 1970" if column.form != PARTS else "year to weekday"
                encoding = "" if column.sign == kinds.ISO else f" ({column.sign})"
                groups[f"dates as {form}"].append(column.name + encoding)
            elif column.kind == kinds.DURATION:
                groups["durations as days"].append(column.name)
            elif column.kind == kinds.BOOLEAN:
                groups["true and false as 1 and 0"].append(column.name)
            elif column.sign == ",":
                groups["decimal commas"].append(column.name)
        return [f"{encoding}: {shortened(names)}" for encoding, names in groups.items()]

    def unseen(self, X: pd.DataFrame) -> dict[str, int]:
        """Count, by column, cells with a category that `fit` did not see."""
        counts = Counter[str]()
        for column in self.columns_:
            if column.kind == kinds.TEXT and column.form != SKRUB:
                categories, cells = {*column.values, None}, kinds.texts(X[column.name])
                counts[column.name] = sum(text not in categories for text in cells)
        return +counts

    def to_dict(self) -> dict[str, Any]:
        """Return options and columns in a form suitable for JSON."""
        if self.vectorise:
            raise DataError(NOT_SAVABLE)
        columns = [asdict(column) for column in self.columns_]
        return {**self.get_params(), "columns": columns}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        """Restore the encoder from `to_dict`; ValueError if it is damaged."""
        try:
            encoder = cls(**{k: value for k, value in kept.items() if k != "columns"})
            words = ("name", "kind", "form", "sign")
            encoder.columns_ = [
                EncodedColumn(
                    **{key: str(entry[key]) for key in words},
                    values=tuple(map(str, entry["values"])),
                    shares=tuple(map(float, entry["shares"])),
                )
                for entry in kept["columns"]
            ]
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a table encoder ({error!r})") from error
        encoder._vectoriser = None
        return encoder
