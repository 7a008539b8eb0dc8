"""Readers of the user's files: tables with named columns, or arrays with names."""

from __future__ import annotations

import csv
import difflib
import gzip
import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError, short_message
from cdspp.core.names import ERROR
from cdspp.core.wording import shortened
from cdspp.datasets.table_columns import SEPARATOR

if TYPE_CHECKING:
    import pandas as pd

Arrays = dict[str, NDArray[Any]]

UTF8, WINDOWS = "utf-8-sig", "cp1252"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
KNOWN = ".csv, .tsv, .txt (or these with .gz), .parquet, .xlsx, .npz or .mat"
# No cell stands for a missing value: a class may be called NA.
RAW: dict[str, Any] = {"header": None, "keep_default_na": False}
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


def no_column(path: object, option: str, name: str, known: Iterable[str]) -> str:
    """Say that a file has no column of a name, and which come near."""
    by_fold = {text.casefold(): text for text in known if text}
    near = difflib.get_close_matches(name.casefold(), list(by_fold), n=3)
    shown = [repr(by_fold[fold]) for fold in near or list(by_fold)[:5]]
    where = "Near it" if near else "The first are"
    end = f" {where}: {', '.join(shown)}." if shown else ""
    return f"{path}: no column {name!r} for --{option}.{end}"


def read_file(path: Path, columns: Columns) -> pd.DataFrame | Arrays:
    """Read cells or arrays by a file's ending; DataError says why they cannot be read.

    A table's index is the number of the record less one; its `attrs` may have a note.
    """
    suffix = path.suffix.lower()
    if suffix == ".gz" and (inner := Path(path.stem).suffix.lower()) in TEXT:
        suffix = inner
    if suffix not in (*TEXT, *READERS):
        raise DataError(f"{path}: expected a file that ends in {KNOWN}.")
    if not path.is_file():
        raise DataError(f"{path}: no such file.")
    text = partial(_read_text, suffix=suffix, columns=columns)
    kind, package, read = READERS.get(suffix, ("text", "pandas", text))
    if importlib.util.find_spec(package) is None:
        needs = f"{package}, which is not installed: pip install {package}"
        raise DataError(f"{path}: reading {path.suffix} needs {needs}")
    try:
        return read(path)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # readers meet damaged files with any error there is
        reason = short_message(error) or type(error).__name__
        fault = f"{path}: not a readable {kind} file ({reason})"
        raise DataError(f"{fault}. Save it again, or as CSV.") from error


def _open(path: Path, encoding: str | None) -> Any:
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    text = {} if encoding is None else {"encoding": encoding, "newline": ""}
    return opener(path, "rt" if text else "rb", **text)


def _read_text(path: Path, suffix: str, columns: Columns) -> pd.DataFrame:
    try:
        encoding = columns.encoding or _encoding(path)
        label = columns.named["label"]
        separator = "\t" if suffix == ".tsv" else _separator(path, encoding, label)
        table = _with_header(_text_cells(path, encoding, separator))
    except LookupError as error:
        expected = "one that Python has, such as cp1252 or utf-16"
        fault = f"{path}: no encoding {encoding!r}"
        raise DataError(f"{fault}. Expected {expected}.") from error
    except UnicodeError as error:
        fault = f"not a text file in {encoding.removesuffix('-sig').upper()} ({error})"
        remedy = "Name its encoding by --encoding, or save it again in UTF-8."
        raise DataError(f"{path}: {fault}. {remedy}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a whole gzip file ({error}).") from error
    table.attrs[SEPARATOR] = separator
    if not columns.encoding and encoding != UTF8:
        table.attrs["note"] = f"read as {encoding} (not UTF-8)"
    return table


def _encoding(path: Path) -> str:
    """Return UTF-8, or UTF-16 where the file begins so, or Windows-1252."""
    with _open(path, None) as stream:
        if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
    try:
        with _open(path, UTF8) as stream:
            while stream.read(2**20):
                pass
    except UnicodeDecodeError:
        with _open(path, None) as stream:
            text = stream.read(2**20).decode(WINDOWS, "surrogateescape")
        # Bytes that are no letters there, and those of control: no text at all.
        odd = sum(not (c.isprintable() or c in "\t\r\n") for c in text)
        return UTF8 if odd else WINDOWS
    return UTF8


def _separator(path: Path, encoding: str, label: str) -> str:
    """Return the separator of the header's names, the label among them, or a comma."""
    headers: dict[str, list[str]] = dict.fromkeys(SEPARATORS, [])
    for separator in SEPARATORS:
        # A cell may be too long to be one.
        with _open(path, encoding) as stream, suppress(csv.Error):
            records = csv.reader(stream, delimiter=separator)
            filled = (cells for cells in records if "".join(cells).strip())
            headers[separator] = [cell.strip() for cell in next(filled, [])]
    return max(headers, key=lambda s: (label in headers[s], len(headers[s])))


def _text_cells(path: Path, encoding: str, separator: str) -> pd.DataFrame:
    import pandas as pd

    try:
        cells = pd.read_csv(path, sep=separator, dtype=str, encoding=encoding, **RAW)
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path}: empty. Expected a header and rows.") from error
    except pd.errors.ParserError as error:
        text = "CSV" if separator == "," else f"cells between {SEPARATORS[separator]}"
        _check_records(path, encoding, separator, "inside string" in str(error))
        raise DataError(f"{path}: cannot be read as {text} ({error}).") from error
    with _open(path, encoding) as stream:
        n_lines = sum(1 for line in stream if not line.isspace())
    # A short record is filled up with empty cells: only they, and cells of several
    # lines, make it worth a look.
    if n_lines > len(cells) or cells.iloc[:, -1].eq("").any():
        _check_records(path, encoding, separator)
    return cells


def _check_records(
    path: Path, encoding: str, separator: str, open_quote: bool = False
) -> None:
    quote = "Remove it, or double it where it is part of a cell."
    csv.field_size_limit(2**31 - 1)  # a stray quote may take in a whole file
    width = number = line = after = 0
    with _open(path, encoding) as stream:
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
                    last = line + len(rest)
                    fault = f"a quote in line {line} takes in line {last}, too"
                    raise DataError(f"{path}: {fault}. {quote}")
            if len(cells) != width and not open_quote:
                fault = f"record {number} has {len(cells)} cells, the header {width}"
                raise DataError(f"{path}: {fault}.")
    if open_quote:
        raise DataError(f"{path}: a quote in line {line} has no end. {quote}")


def _with_header(cells: pd.DataFrame) -> pd.DataFrame:
    """Name the columns by the first row; leave out those without a name and cells."""
    header = [str(cell).strip() for cell in cells.iloc[0]]
    rows = cells.iloc[1:]
    empty = [len(rows) > 0 and rows.iloc[:, k].eq("").all() for k in range(len(header))]
    used = [k for k, name in enumerate(header) if name or not empty[k]]
    return rows.iloc[:, used].set_axis([header[k] for k in used], axis="columns")


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
        raise DataError(f"{path}: empty. Expected a header and rows.")
    table = _with_header(cells)
    notes = [f"the first of {1 + len(others)} sheets"] if others else []
    if merged:
        notes.append(f"only the first of merged cells has a value: {shortened(merged)}")
    if notes:
        table.attrs["note"] = ", ".join(notes)
    return table


def _read_npz(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as archive:
        found = {name: archive[name] for name in archive.files}
    for name, value in found.items():
        sound = isinstance(value, np.ndarray)
        if sound and value.dtype.kind == "U":  # NumPy takes any code for a letter
            codes = np.ascontiguousarray(value, value.dtype.newbyteorder("="))
            sound = bool((codes.reshape(-1).view(np.uint32) <= sys.maxunicode).all())
        if not sound:
            raise DataError(f"{path}: {name} in it is no array of NumPy, or damaged.")
    return found


def _read_mat(path: Path) -> Arrays:
    """Read a MATLAB file in a process of its own, which a damaged one may crash."""
    # -P: modules of this folder are to stand in for none that SciPy imports.
    command = [sys.executable, "-P", "-c", _CHILD, os.fspath(path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    if done.returncode == 0:
        return pickle.loads(done.stdout)  # type: ignore[no-any-return]
    if done.returncode == -signal.SIGKILL:
        raise MemoryError(f"{path}: the system ended the process that read it")
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[-1]
    kind, _, reason = last.partition(": ")
    if kind == "NotImplementedError":
        remedy = f"save it with -v7: save('{path.name}', 'X', 'y', '-v7')."
        fault = "a MATLAB file of version 7.3, which is not read"
        raise DataError(f"{path}: {fault}. In MATLAB, {remedy}")
    if done.returncode < 0:
        reason = f"SciPy crashed, {signal.Signals(-done.returncode).name}"
    fault = f"{path}: not a readable MATLAB file ({reason or kind})"
    raise DataError(f"{fault}. Save it again.")


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
    found = [cell[0] if len(cell) == 1 else str(cell or "") for cell in cells]
    return np.array(found, dtype=object)


TEXT = (".csv", ".tsv", ".txt")
READERS: dict[str, tuple[str, str, Callable[[Path], pd.DataFrame | Arrays]]] = {
    ".parquet": ("Parquet", "pyarrow", _read_parquet),
    ".xlsx": ("XLSX", "openpyxl", _read_xlsx),
    ".npz": ("NPZ", "numpy", _read_npz),
    ".mat": ("MATLAB", "scipy", _read_mat),
}
