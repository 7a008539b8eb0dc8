"""The user's files, tables of named columns or arrays, and what their cells are."""

from __future__ import annotations

import csv
import difflib
import gzip
import importlib.util
import io
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError, short_message
from cdspp.core.labels import MISSING_MARKERS
from cdspp.core.names import ERROR
from cdspp.core.wording import shortened

if TYPE_CHECKING:
    import pandas as pd

Arrays = dict[str, NDArray[Any]]

UTF8, WINDOWS = "utf-8-sig", "cp1252"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
KNOWN = ".csv, .tsv, .txt (or these with .gz), .parquet, .xlsx, .npz or .mat"
# No cell stands for a missing value: a class may be called NA.
RAW: dict[str, Any] = {"header": None, "keep_default_na": False}
NUMBER, BOOLEAN, TEXT, DATE, NESTED = "number", "boolean", "text", "date", "nested"
ISO, AMBIGUOUS = "ISO8601", "ambiguous order"
SEPARATOR = "separator"  # of cells in a text file, among the `attrs` of its table
BOOLEANS = {"true": 1.0, "false": 0.0}
CONTAINERS = (list, tuple, dict, set, np.ndarray)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?([eE][+-]?\d+)?")
AMBIGUOUS_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # decimals, or a thousand
_EXCHANGED = str.maketrans(".,", ",.")
# The highest first, second and third part of a date.
_ORDERS = {"dmy": (31, 12, 9999), "mdy": (12, 31, 9999), "ymd": (99, 12, 31)}
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})([ T]\d{1,2}:\d{2}\S*)?")
_CHILD = "import sys; from cdspp.datasets.table_files import _send; _send(sys.argv[1])"


@dataclass(frozen=True)
class Columns:
    """How the columns (or arrays) of a file are read, as `cdspp.read_table` takes it.

    `required` are "label" and "id" if a file must have those, where they have a name.
    """

    label: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: str | None = None
    categories: str = ERROR
    dates: str = ERROR
    date_format: str | None = None
    vectorise: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The names of the columns of labels and identifiers in a table."""
        return {"label": self.label or "label", "id": self.id or "id"}


def no_column(option: str, name: str, names: Iterable[str]) -> str:
    """Say that there is no column of a name, and which come near."""
    by_fold = {text.casefold(): text for text in names if text}
    near = difflib.get_close_matches(name.casefold(), list(by_fold), n=3)
    shown = [repr(by_fold[fold]) for fold in near or list(by_fold)[:5]]
    where = "Near it" if near else "The first are"
    end = f" {where}: {', '.join(shown)}." if shown else ""
    return f"no column {name!r} for --{option}.{end}"


def read_file(path: Path, columns: Columns) -> pd.DataFrame | Arrays:
    """Read cells or arrays by a file's ending; DataError says why they cannot be read.

    A table's index is the number of the record less one; its `attrs` may have a note.
    """
    suffix = path.suffix.lower()
    if suffix == ".gz" and (inner := Path(path.stem).suffix.lower()) in TEXT_FILES:
        suffix = inner
    if suffix not in (*TEXT_FILES, *READERS):
        raise DataError(f"expected a file that ends in {KNOWN}.")
    if not path.is_file():
        raise DataError("no such file.")
    text = partial(_read_text, suffix=suffix, columns=columns)
    kind, package, read = READERS.get(suffix, ("text", "pandas", text))
    if importlib.util.find_spec(package) is None:
        needs = f"{package}, which is not installed: pip install {package}"
        raise DataError(f"reading {path.suffix} needs {needs}")
    try:
        return read(path)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # readers meet damaged files with any error there is
        reason = short_message(error) or type(error).__name__
        fault = f"not a readable {kind} file ({reason})"
        raise DataError(f"{fault}. Save it again, or as CSV.") from error


def _read_text(path: Path, suffix: str, columns: Columns) -> pd.DataFrame:
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    encoding = columns.encoding or ""
    try:
        with opened(path, "rb") as file:
            content = file.read()
        if not encoding and content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif not encoding:
            encoding = UTF8
            try:
                content.decode(UTF8)
            except UnicodeDecodeError:
                text = content[: 2**20].decode(WINDOWS, "surrogateescape")
                # Bytes that are no letters there, and those of control: no text at all.
                odd = sum(not (c.isprintable() or c in "\t\r\n") for c in text)
                encoding = UTF8 if odd else WINDOWS
        stream = io.TextIOWrapper(io.BytesIO(content), encoding, newline="")
        separator = "\t" if suffix == ".tsv" else ""
        table = _with_header(_text_cells(stream, separator, columns.named["label"]))
    except LookupError as error:
        expected = "one that Python has, such as cp1252 or utf-16"
        raise DataError(f"no encoding {encoding!r}. Expected {expected}.") from error
    except UnicodeError as error:
        fault = f"not a text file in {encoding.removesuffix('-sig').upper()} ({error})"
        remedy = "Name its encoding by --encoding, or save it again in UTF-8."
        raise DataError(f"{fault}. {remedy}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"not a whole gzip file ({error}).") from error
    if not columns.encoding and encoding != UTF8:
        table.attrs["note"] = f"read as {encoding} (not UTF-8)"
    return table


def _text_cells(stream: TextIO, separator: str, label: str) -> pd.DataFrame:
    """Return the records, split at the separator, or that of the header's names."""
    import pandas as pd

    headers: dict[str, list[str]] = {}
    for each in [separator] if separator else SEPARATORS:
        stream.seek(0)
        headers[each] = []
        with suppress(csv.Error):  # a cell may be too long to be one
            records = csv.reader(stream, delimiter=each)
            filled = (cells for cells in records if "".join(cells).strip())
            headers[each] = [cell.strip() for cell in next(filled, [])]
    # The label among them, or most; or a comma.
    separator = max(headers, key=lambda s: (label in headers[s], len(headers[s])))
    stream.seek(0)
    try:
        cells = pd.read_csv(stream, sep=separator, dtype=str, **RAW)
    except pd.errors.EmptyDataError as error:
        raise DataError("empty. Expected a header and rows.") from error
    except pd.errors.ParserError as error:
        text = "CSV" if separator == "," else f"cells between {SEPARATORS[separator]}"
        _check_records(stream, separator, "inside string" in str(error))
        raise DataError(f"cannot be read as {text} ({error}).") from error
    stream.seek(0)
    # A short record is filled up with empty cells: only they, and cells of several
    # lines, make it worth a look.
    n_lines = sum(1 for line in stream if not line.isspace())
    if n_lines > len(cells) or cells.iloc[:, -1].eq("").any():
        _check_records(stream, separator)
    cells.attrs[SEPARATOR] = separator
    return cells


def _check_records(stream: TextIO, separator: str, open_quote: bool = False) -> None:
    quote = "Remove it, or double it where it is part of a cell."
    csv.field_size_limit(2**31 - 1)  # a stray quote may take in a whole file
    width = number = line = after = 0
    stream.seek(0)
    records = csv.reader(stream, delimiter=separator)
    for cells in records:
        first, after = after + 1, records.line_num
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        number, line, width = number + 1, first, width or len(cells)
        for cell in cells:
            _, *rest = cell.split("\n")
            n_rows = 1 + sum(bool(part.strip()) for part in rest[:-1])
            if rest and cell.count(separator) == n_rows * (width - 1):
                fault = f"a quote in line {line} takes in line {line + len(rest)}, too"
                raise DataError(f"{fault}. {quote}")
        if len(cells) != width and not open_quote:
            fault = f"record {number} has {len(cells)} cells, the header {width}"
            raise DataError(f"{fault}.")
    if open_quote:
        raise DataError(f"a quote in line {line} has no end. {quote}")


def _with_header(cells: pd.DataFrame) -> pd.DataFrame:
    """Name the columns by the first row; leave out those without a name and cells."""
    header, rows = cells.iloc[0].map(str).str.strip(), cells.iloc[1:]
    used = header.ne("") | rows.ne("").any() | rows.empty
    return rows.loc[:, used].set_axis(header[used].tolist(), axis="columns")


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    from pyarrow import parquet

    content = parquet.read_table(path)
    content.validate(full=True)  # text that is no UTF-8 would be met much later
    table = content.to_pandas()
    counts = isinstance(table.index, pd.RangeIndex) and table.index.name is None
    names = None if counts else [name or "" for name in table.index.names]
    table = table.reset_index(drop=counts, names=names)
    return table.set_axis([str(name).strip() for name in table], axis="columns")


def _read_xlsx(path: Path) -> pd.DataFrame:
    import pandas as pd

    how: dict[str, Any] = {"read_only": False}  # else merged cells are not known
    with pd.ExcelFile(path, engine="openpyxl", engine_kwargs=how) as book:
        # Of the first sheet that is no chart.
        cells = pd.read_excel(book, dtype=object, **RAW)
        first, *others = book.book.worksheets
        merged = [str(area) for area in first.merged_cells.ranges]
    cells = cells.loc[cells.ne("").any(axis="columns") if cells.size else []]
    if not len(cells):
        raise DataError("empty. Expected a header and rows.")
    table = _with_header(cells)
    notes = [f"the first of {1 + len(others)} sheets"] if others else []
    if merged:
        notes.append(f"only the first of merged cells has a value: {shortened(merged)}")
    if notes:
        table.attrs["note"] = ", ".join(notes)
    return table


def _read_npz(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    for name, value in arrays.items():
        sound = isinstance(value, np.ndarray)
        if sound and value.dtype.kind == "U":  # NumPy takes any code for a letter
            codes = np.ascontiguousarray(value, value.dtype.newbyteorder("="))
            sound = bool((codes.reshape(-1).view(np.uint32) <= sys.maxunicode).all())
        if not sound:
            raise DataError(f"{name} in it is no array of NumPy, or damaged.")
    return arrays


def _read_mat(path: Path) -> Arrays:
    """Read a MATLAB file in a process of its own, which a damaged one may crash."""
    # -P: modules of this folder are to stand in for none that SciPy imports.
    command = [sys.executable, "-P", "-c", _CHILD, os.fspath(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    if done.returncode == 0:
        return pickle.loads(done.stdout)  # type: ignore[no-any-return]
    if sys.platform != "win32" and done.returncode == -signal.SIGKILL:
        raise MemoryError(f"{path}: the system ended the process that read it")
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[-1]
    kind, _, reason = last.partition(": ")
    if kind == "NotImplementedError":
        remedy = f"save it with -v7: save('{path.name}', 'X', 'y', '-v7')."
        fault = "a MATLAB file of version 7.3, which is not read"
        raise DataError(f"{fault}. In MATLAB, {remedy}")
    if done.returncode < 0:
        reason = f"SciPy crashed, {signal.Signals(-done.returncode).name}"
    raise DataError(f"not a readable MATLAB file ({reason or kind}). Save it again.")


def _send(path: str) -> None:
    """Write the variables of a MATLAB file to the parent process."""
    import scipy.io

    content = scipy.io.loadmat(path, chars_as_strings=True)
    named = {name: v for name, v in content.items() if not name.startswith("__")}
    arrays = {name: _as_numpy(value, name) for name, value in named.items()}
    pickle.dump(arrays, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    """Return a variable of MATLAB as NumPy would have it: vectors with one axis."""
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if name == "X" or array.ndim != 2 or min(array.shape) != 1:
        return array
    if array.dtype.kind != "O":
        return array.ravel()
    # In an array of cells, each is an array of its own.
    cells = [np.asarray(cell).ravel().tolist() for cell in array.ravel()]
    values = [cell[0] if len(cell) == 1 else str(cell or "") for cell in cells]
    return np.array(values, dtype=object)


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
    with suppress(TypeError, ValueError):  # nearly all columns, at once
        values.astype(np.float64)
        words = all(isinstance(cell, (bool, np.bool_)) for cell in values)
        return BOOLEAN if words and len(values) else NUMBER
    present = [cell for cell in values if not is_null(cell)]
    if present and all(str(cell).strip().lower() in BOOLEANS for cell in present):
        return BOOLEAN
    unread = (c for c in present if math.isnan(number(c)))
    if 2 * sum(math.isnan(number(c, ",")) for c in unread) <= len(present):
        return NUMBER
    dated = (
        _DATE.fullmatch(c.strip()) if isinstance(c, str) else hasattr(c, "year")
        for c in present
    )
    return DATE if all(dated) else TEXT


def decimal_sign(cells: pd.Series) -> str:
    """Return the decimal sign of a column; ``?`` follows where thousands have it."""
    signs = set[str]()
    for cell in cells.to_numpy(dtype=object):
        if isinstance(cell, str) and ("." in cell or "," in cell and "," not in signs):
            text = cell.strip()
            if AMBIGUOUS_NUMBER.fullmatch(text):
                signs.add(".?" if "." in text else ",?")
            elif not math.isnan(number(text)):
                return "."  # a comma elsewhere is a fault
            elif not math.isnan(number(text, ",")):
                signs.add(",")
    return "," if "," in signs else "".join(sorted(signs))


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
        text_of = {c: None if is_null(c) else str(c).strip() for c in {*values}}
    except TypeError:  # lists and dictionaries
        return [None if is_null(cell) else str(cell).strip() for cell in values]
    return [text_of[cell] for cell in values]


def date_form(cells: pd.Series) -> str:
    """Return the format of dates as text: the only possible, or points after the day.

    Only four digits are surely a year.
    """
    matches = [_DATE.fullmatch(text) for text in texts(cells) if text]
    parts = [match.group(1, 3, 4) for match in matches if match]
    if not parts or any(len(first) == 4 for first, *_ in parts):
        return ISO
    highest = np.array(parts, dtype=int).max(axis=0)
    mark = next(match[2] for match in matches if match)
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


TEXT_FILES = (".csv", ".tsv", ".txt")
READERS: dict[str, tuple[str, str, Callable[[Path], pd.DataFrame | Arrays]]] = {
    ".parquet": ("Parquet", "pyarrow", _read_parquet),
    ".xlsx": ("XLSX", "openpyxl", _read_xlsx),
    ".npz": ("NPZ", "numpy", _read_npz),
    ".mat": ("MATLAB", "scipy", _read_mat),
}
