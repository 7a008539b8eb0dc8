"""Files of the user: tables of named columns, or arrays."""

from __future__ import annotations

import csv
import difflib
import gzip
import importlib.util
import io
import os
import pickle
import re
import signal
import subprocess
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError, short_message
from cdspp.core.names import ERROR
from cdspp.core.wording import counted, shortened

if TYPE_CHECKING:
    import pandas as pd

Arrays = dict[str, NDArray[Any]]

UTF8, WINDOWS = "utf-8-sig", "cp1252"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
KNOWN = (
    ".csv, .tsv, .txt (or these with .gz), .parquet, .arrow, .feather, .xlsx, .npz, "
    ".npy, .safetensors or .mat"
)
PREAMBLE = "#", "%", "sep="  # first characters of lines above a header
MOST_PREAMBLE = 100  # lines
# No cell marks a missing value here: a class may be called NA.
RAW: dict[str, Any] = {"header": None, "keep_default_na": False}
SEPARATOR = "separator"  # key of the cell separator in a table's `attrs`
_CHILD = "from cdspp.datasets.table_files import _write_arrays; _write_arrays()"


@dataclass(frozen=True)
class Columns:
    """How to read the columns (or arrays) of a file, as in `cdspp.read_table`.

    `required` contains "label" and "id" if a file must have them, if they are named.
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
    """Return a message that a column is missing, with similar names."""
    by_fold = {text.casefold(): text for text in names if text}
    matches = difflib.get_close_matches(name.casefold(), list(by_fold), n=3)
    quoted = [repr(by_fold[fold]) for fold in matches or list(by_fold)[:5]]
    where = "Similar" if matches else "The first are"
    end = f" {where}: {', '.join(quoted)}." if quoted else ""
    return f"no column {name!r} for --{option}.{end}"


def read_file(path: Path, columns: Columns) -> pd.DataFrame | Arrays:
    """Read cells or arrays by the file's suffix; DataError explains why it cannot.

    A table's index is the record number minus one; its `attrs` may have a note.
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
    except Exception as error:  # readers raise any error for damaged files
        reason = short_message(error) or type(error).__name__
        fault = f"not a readable {kind} file ({reason})"
        raise DataError(f"{fault}. Save it again, or as CSV.") from error


def _read_text(path: Path, suffix: str, columns: Columns) -> pd.DataFrame:
    open_file: Any = gzip.open if path.suffix.lower() == ".gz" else open
    encoding = columns.encoding or ""
    try:
        with open_file(path, "rb") as file:
            content = file.read()
        if not encoding and content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif not encoding:
            encoding = UTF8
            try:
                content.decode(UTF8)
            except UnicodeDecodeError:
                text = content[: 2**20].decode(WINDOWS, "surrogateescape")
                # A text file has no control characters, and no bytes without a letter.
                n_odd = sum(not (c.isprintable() or c in "\t\r\n\xa0") for c in text)
                encoding = UTF8 if n_odd else WINDOWS
        text, above = _without_preamble(content.decode(encoding), columns.label)
        stream = io.StringIO(text, newline="")
        separator = "\t" if suffix == ".tsv" else ""
        table = _with_header(_text_cells(stream, separator, columns.named["label"]))
    except LookupError as error:
        fault = f"unknown encoding {encoding!r}"
        raise DataError(f"{fault}. Expected utf-8, cp1252 or the like.") from error
    except UnicodeError as error:
        fault = f"not a text file in {encoding.removesuffix('-sig').upper()} ({error})"
        remedy = "Name its encoding with --encoding, or save it again in UTF-8."
        raise DataError(f"{fault}. {remedy}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        fault = f"not a gzip file, or incomplete ({error}). Compress it again."
        raise DataError(fault) from error
    notes = [f"{counted(above, 'line')} above the header left out"] if above else []
    if not columns.encoding and encoding != UTF8:
        notes.insert(0, f"read as {encoding} (not UTF-8)")
    if notes:
        table.attrs["note"] = ", ".join(notes)
    return table


def _without_preamble(text: str, label: str | None) -> tuple[str, int]:
    """Return a text with lines above its header blanked, and their number.

    If lines differ in their number of cells, the header is the line that contains the
    label's name; otherwise it is the first line that is not a comment. A comment above
    with as many cells as a row is the header.
    """
    lines = [*islice(io.StringIO(text, newline=""), MOST_PREAMBLE)]
    numbers = [k for k, line in enumerate(lines) if line.strip()]
    cells = {k: re.split(r"[,;\t|]", lines[k]) for k in numbers}
    labels = [k for k in numbers if label in (c.strip(' "\r\n') for c in cells[k])]
    header = next((k for k in numbers if not lines[k].startswith(PREAMBLE)), 0)
    comment = max((k for k in numbers if k < header), default=header)  # last comment
    if 1 < len(cells.get(comment, ())) == len(cells.get(header, ())):
        header = comment
    if labels and len(cells[labels[0]]) != len(cells[numbers[0]]):
        header = labels[0]
    above = sum(k < header for k in numbers)
    return "\n" * header + text[sum(map(len, lines[:header])) :], above


def _text_cells(stream: TextIO, separator: str, label: str) -> pd.DataFrame:
    """Return the records, split at the separator, or at that of the header's names."""
    import pandas as pd

    headers: dict[str, list[str]] = {}
    for each in [separator] if separator else SEPARATORS:
        stream.seek(0)
        headers[each] = []
        with suppress(csv.Error):  # a cell may be too long
            records = csv.reader(stream, delimiter=each)
            filled = (cells for cells in records if "".join(cells).strip())
            headers[each] = [cell.strip() for cell in next(filled, [])]
    # The separator that reveals the label column, or else the most names; or a comma.
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
    # pandas pads short records with empty cells: only these, and cells of several
    # lines, need a check.
    n_lines = sum(1 for line in stream if not line.isspace())
    if n_lines > len(cells) or cells.iloc[:, -1].eq("").any():
        _check_records(stream, separator)
    cells.attrs[SEPARATOR] = separator
    return cells


def _check_records(stream: TextIO, separator: str, open_quote: bool = False) -> None:
    quote = "Remove or close it, or double it if it is part of a cell."
    csv.field_size_limit(2**31 - 1)  # a stray quote may enclose a whole file
    width = number = line = end = 0
    stream.seek(0)
    records = csv.reader(stream, delimiter=separator)
    for cells in records:
        start, end = end + 1, records.line_num
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        number, line, width = number + 1, start, width or len(cells)
        for cell in cells:
            _, *rest = cell.split("\n")
            n_rows = 1 + sum(bool(part.strip()) for part in rest[:-1])
            if rest and cell.count(separator) == n_rows * (width - 1):
                fault = f"a quote in line {line} extends to line {line + len(rest)}"
                raise DataError(f"{fault}. {quote}")
        if len(cells) != width and not open_quote:
            fault = f"record {number} has {len(cells)} cells, the header has {width}"
            raise DataError(f"{fault}. Add or remove separators.")
    if open_quote:
        raise DataError(f"a quote in line {line} is not closed. {quote}")


def _with_header(cells: pd.DataFrame) -> pd.DataFrame:
    """Name the columns by the first row; drop columns with neither name nor cells."""
    header, rows = cells.iloc[0].map(_name), cells.iloc[1:]
    rows = rows[rows.ne("").any(axis="columns")]
    repeats = rows[rows[0].eq(cells.iloc[0, 0])]
    if len(repeats := repeats[repeats.eq(cells.iloc[0]).all(axis="columns")]):
        fault = f"record {repeats.index[0] + 1} repeats the header"
        raise DataError(f"{fault}, as in files that were joined. Remove it.")
    is_used = header.ne("") | rows.ne("").any() | rows.empty
    return rows.loc[:, is_used].set_axis(header[is_used].tolist(), axis="columns")


def _name(text: Any) -> str:
    """Return the name of a column, whose letters have one form in all files."""
    return unicodedata.normalize("NFC", str(text).strip())


def _read_parquet(path: Path) -> pd.DataFrame:
    from pyarrow import parquet

    return _from_arrow(parquet.read_table(path))


def _read_arrow(path: Path) -> pd.DataFrame:
    from pyarrow import feather

    return _from_arrow(feather.read_table(path))


def _from_arrow(content: Any) -> pd.DataFrame:
    """Return a table; lists of numbers, all of equal length, become columns."""
    import pandas as pd

    content.validate(full=True)  # invalid UTF-8 would fail much later
    table = content.to_pandas()
    for name in [f.name for f in content.schema if hasattr(f.type, "value_type")]:
        with suppress(TypeError, ValueError):  # lists of words or of different lengths
            values = np.array(table[name].tolist(), dtype=np.float64)
            wide = pd.DataFrame(values, index=table.index).add_prefix(f"{name}_")
            table = pd.concat([table.drop(columns=name), wide], axis="columns")
    counts = isinstance(table.index, pd.RangeIndex) and table.index.name is None
    names = None if counts else [name or "" for name in table.index.names]
    table = table.reset_index(drop=counts, names=names)
    return table.set_axis([*map(_name, table)], axis="columns")


def _read_xlsx(path: Path) -> pd.DataFrame:
    import pandas as pd

    options: dict[str, Any] = {"read_only": False}  # merged cells are unknown otherwise
    with pd.ExcelFile(path, engine="openpyxl", engine_kwargs=options) as book:
        # The first sheet that is not a chart.
        cells = pd.read_excel(book, dtype=object, **RAW)
        sheet, *others = book.book.worksheets
        merged = [str(area) for area in sheet.merged_cells.ranges]
        hidden = sum(row.hidden for row in sheet.row_dimensions.values())
    cells = cells.loc[cells.ne("").any(axis="columns") if cells.size else []]
    if not len(cells):
        raise DataError("empty. Expected a header and rows.")
    table = _with_header(cells)
    notes = [f"the first of {1 + len(others)} sheets"] if others else []
    if merged:
        notes.append(f"only the first of merged cells has a value: {shortened(merged)}")
    if hidden:
        notes.append(f"{counted(hidden, 'hidden row')} included")
    if notes:
        table.attrs["note"] = ", ".join(notes)
    return table


def _read_safetensors(path: Path) -> Arrays:
    from safetensors.numpy import load_file

    return dict(load_file(path))


def _read_npz(path: Path) -> Arrays:
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):  # from a .npy file
        return {"X": loaded}
    with loaded as archive:
        arrays = dict(archive)
    for name, value in arrays.items():
        sound = isinstance(value, np.ndarray)
        if sound and value.dtype.kind == "U":  # NumPy accepts any code as a letter
            codes = np.ascontiguousarray(value, value.dtype.newbyteorder("="))
            sound = bool((codes.reshape(-1).view(np.uint32) <= sys.maxunicode).all())
        if not sound:
            fault = f"its array {name} is damaged or not a NumPy array"
            raise DataError(f"{fault}. Save it again with numpy.savez.")
    return arrays


def _read_mat(path: Path) -> Arrays:
    """Read a MATLAB file in a separate process, because a damaged file may crash it."""
    # -P: modules of this folder must not replace those that SciPy imports.
    command = [sys.executable, "-P", "-c", _CHILD, os.fspath(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.run(command, capture_output=True, env=env, check=False)
    if process.returncode == 0:
        return pickle.loads(process.stdout)  # type: ignore[no-any-return]
    if sys.platform != "win32" and process.returncode == -signal.SIGKILL:
        raise MemoryError(f"{path}: the system ended the process that read it")
    last_line = process.stderr.decode(errors="replace").strip().rpartition("\n")[-1]
    kind, _, reason = last_line.partition(": ")
    if kind == "NotImplementedError":
        remedy = f"save it with -v7: save('{path.name}', 'X', 'y', '-v7')."
        fault = "a MATLAB file of version 7.3, which is not read"
        raise DataError(f"{fault}. In MATLAB, {remedy}")
    reason = reason or kind or "SciPy crashed"
    raise DataError(f"not a readable MATLAB file ({reason}). Save it again.")


def _write_arrays() -> None:
    """Write the variables of a MATLAB file to the parent process."""
    import scipy.io

    content = scipy.io.loadmat(sys.argv[1], chars_as_strings=True)
    variables = {name: v for name, v in content.items() if not name.startswith("__")}
    arrays = {name: _as_numpy(value, name) for name, value in variables.items()}
    pickle.dump(arrays, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    """Return a MATLAB variable in NumPy's form: vectors with one axis."""
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if name == "X" or array.ndim != 2 or min(array.shape) != 1:
        return array
    if array.dtype.kind != "O":
        return array.ravel()
    # In a cell array, each cell is an array.
    cells = [np.asarray(cell).ravel().tolist() for cell in array.ravel()]
    values = [cell[0] if len(cell) == 1 else str(cell or "") for cell in cells]
    return np.array(values, dtype=object)


TEXT_FILES = (".csv", ".tsv", ".txt")
READERS: dict[str, tuple[str, str, Callable[[Path], pd.DataFrame | Arrays]]] = {
    ".parquet": ("Parquet", "pyarrow", _read_parquet),
    ".xlsx": ("XLSX", "openpyxl", _read_xlsx),
    ".arrow": ("Arrow", "pyarrow", _read_arrow),
    ".feather": ("Arrow", "pyarrow", _read_arrow),
    ".npz": ("NPZ", "numpy", _read_npz),
    ".npy": ("NPY", "numpy", _read_npz),
    ".safetensors": ("safetensors", "safetensors", _read_safetensors),
    ".mat": ("MATLAB", "scipy", _read_mat),
}
