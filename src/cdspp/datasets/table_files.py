"""Files of the user in any format, each read as a table."""

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
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError, short_message
from cdspp.core.labels import label_text
from cdspp.core.names import ERROR, PathLike
from cdspp.core.wording import counted, shortened
from cdspp.datasets import table_model as model
from cdspp.datasets.table_model import Fact, Table

if TYPE_CHECKING:
    import pandas as pd

Arrays = dict[str, NDArray[Any]]

UTF8, WINDOWS = "utf-8-sig", "cp1252"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
KNOWN = (
    ".csv, .tsv, .txt (or these with .gz), .parquet, .arrow, .feather, .xlsx, .npz, "
    ".npy, .safetensors or .mat"
)
# Encodings that a file may have instead of Windows-1252, the likeliest first.
OTHER_ENCODINGS = ("cp1251", "cp1250", "koi8-r", "mac_roman", "shift_jis", "gb18030")
# No cell marks a missing value here: a class may be called NA.
RAW: dict[str, Any] = {"header": None, "keep_default_na": False}
CALCULATE = "open the file in a spreadsheet program and save it"
_CELLS = re.compile(r"[,;\t|]")
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


def similar_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three names that are like another one, the nearest first."""
    by_fold = {text.casefold(): text for text in names}
    matches = difflib.get_close_matches(name.casefold(), list(by_fold), n=3)
    return [by_fold[fold] for fold in matches]


def no_column(option: str, name: str, names: Iterable[str]) -> str:
    """Return a message that a column is missing, with similar names."""
    names = [text for text in names if text]
    matches = similar_names(name, names)
    quoted = [repr(text) for text in matches or names[:5]]
    where = "Similar" if matches else "The first are"
    end = f" {where}: {', '.join(quoted)}." if quoted else ""
    return f"no column {name!r} for --{option}.{end}"


def read_file(path: Path, columns: Columns) -> Table:
    """Read a table by the file's suffix; DataError explains why it cannot."""
    suffix = path.suffix.lower()
    if suffix == ".gz" and (inner := Path(path.stem).suffix.lower()) in TEXT_FILES:
        suffix = inner
    if suffix not in READERS:
        raise DataError(f"expected a file that ends in {KNOWN}.")
    if not path.is_file():
        raise DataError("no such file.")
    form, package, read = READERS[suffix]
    if importlib.util.find_spec(package) is None:
        needs = f"{package}, which is not installed: pip install {package}"
        raise DataError(f"reading {path.suffix} needs {needs}")
    try:
        found = read(path, columns)
        if isinstance(found, dict):
            any_name = suffix in (".mat", ".safetensors")
            return model.from_arrays(found, columns, form, any_name=any_name)
        return _with_ids(replace(found, format=form))
    except (DataError, MemoryError):
        raise
    except Exception as error:  # readers raise any error for damaged files
        reason = short_message(error) or type(error).__name__
        fault = f"not a readable {form} file ({reason})"
        raise DataError(f"{fault}. Save it again, or as CSV.") from error


def _table(cells: pd.DataFrame, columns: Columns, **parts: Any) -> Table:
    return Table(cells, "", columns.named["label"], columns.named["id"], **parts)


def _with_ids(table: Table) -> Table:
    """Return a table whose unnamed first column, the index of a frame, holds ids."""
    cells, header = table.cells, list(table.cells)
    if not header or header[0] != "":
        return table
    if table.id in header:
        cells = cells.iloc[:, 1:]
        fact = Fact("the unnamed column left out", model.ABSENT)
    else:
        cells = cells.set_axis([table.id, *header[1:]], axis="columns")
        fact = Fact(model.FROM_INDEX, model.ROWS, (table.id,))
    return replace(table, cells=cells, facts=(*table.facts, fact))


def _read_text(path: Path, columns: Columns) -> Table:
    open_file: Any = gzip.open if path.suffix.lower() == ".gz" else open
    encoding, runner_up, label = columns.encoding or "", "", columns.named["label"]
    try:
        with open_file(path, "rb") as file:
            content = file.read()
        if not encoding:
            encoding, runner_up = _encoding_of(content)
        text = content.decode(encoding)
        lines = [*islice(io.StringIO(text, newline=""), model.MOST_PREAMBLE)]
        split = [[c.strip(' "\r\n') for c in _CELLS.split(line)] for line in lines]
        header = model.header_place(split, label)
        above = sum(any(cells) for cells in split[:header])
        stream = io.StringIO(
            "\n" * header + text[sum(map(len, lines[:header])) :], newline=""
        )
        separator = "\t" if ".tsv" in (s.lower() for s in path.suffixes) else ""
        cells = _text_cells(stream, separator, label)
        table = model.with_header(cells, model.LINE)
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
    facts = model.lines_above(above)
    if not columns.encoding and encoding != UTF8:
        other = f", maybe {runner_up}: --encoding {runner_up}" if runner_up else ""
        facts.insert(0, Fact(f"read as {encoding} (not UTF-8{other})", model.TEXT))
    return _table(
        table,
        columns,
        facts=tuple(facts),
        encoding=encoding,
        runner_up=runner_up,
    )


def _encoding_of(content: bytes) -> tuple[str, str]:
    """Return the encoding of a text, and a likely other one if it is a guess."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", ""
    try:
        content.decode(UTF8)
        return UTF8, ""
    except UnicodeDecodeError:
        start = content[: 2**20].decode(WINDOWS, "surrogateescape")
    # A text file has no control characters, and no bytes without a letter.
    if any(not (c.isprintable() or c in "\t\r\n\xa0") for c in start):
        return UTF8, ""
    scores = {name: _plausible(content[: 2**16], name) for name in OTHER_ENCODINGS}
    best = max(scores, key=lambda name: scores[name])
    return WINDOWS, best if scores[best] > 0 else ""


def _plausible(content: bytes, encoding: str) -> float:
    """Return the share of words beyond ASCII that are letters of one script."""
    words = re.findall(r"\w+", content.decode(encoding, "replace"))
    words = [word for word in words if not word.isascii()]
    good = 0
    for word in words:
        scripts = {unicodedata.name(c, "?").split()[0] for c in word if not c.isascii()}
        latin = scripts == {"LATIN"}
        is_word = word.isalpha() and word[1:] == word[1:].lower()
        n_odd = sum(not c.isascii() for c in word)
        fits = n_odd <= (len(word) + 1) // 2 if latin else n_odd == len(word)
        good += len(scripts) == 1 and is_word and fits
    return good / len(words) if words else 0.0


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
    blank = [line.isspace() for line in stream]
    n_lines = len(blank) - sum(blank)
    if n_lines > len(cells) or cells.iloc[:, -1].eq("").any():
        _check_records(stream, separator)
    if len(blank) > len(cells):
        cells = cells.set_axis(_lines(stream, separator, len(cells)), axis="index")
    cells.attrs[SEPARATOR] = separator
    return cells


def _lines(stream: TextIO, separator: str, n_records: int) -> list[int]:
    """Return the line, from 0, in which each record begins, or its number."""
    lines, end = list[int](), 0
    stream.seek(0)
    records = csv.reader(stream, delimiter=separator)
    with suppress(csv.Error):
        for cells in records:
            if len(cells) > 1 or "".join(cells).strip():
                lines.append(end)
            end = records.line_num
    return lines if len(lines) == n_records else [*range(n_records)]


def _check_records(stream: TextIO, separator: str, open_quote: bool = False) -> None:
    quote = "Remove or close it, or double it if it is part of a cell."
    csv.field_size_limit(2**31 - 1)  # a stray quote may enclose a whole file
    width = line = end = 0
    stream.seek(0)
    records = csv.reader(stream, delimiter=separator)
    for cells in records:
        start, end = end + 1, records.line_num
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        line, width = start, width or len(cells)
        for cell in cells:
            _, *rest = cell.split("\n")
            n_rows = 1 + sum(bool(part.strip()) for part in rest[:-1])
            if rest and cell.count(separator) == n_rows * (width - 1):
                fault = f"a quote in line {line} extends to line {line + len(rest)}"
                raise DataError(f"{fault}. {quote}")
        if len(cells) != width and not open_quote:
            fault = f"line {line} has {len(cells)} cells, the header has {width}"
            raise DataError(f"{fault}. Add or remove separators.")
    if open_quote:
        raise DataError(f"a quote in line {line} is not closed. {quote}")


def _read_arrow(path: Path, columns: Columns) -> Table:
    """Read Parquet or Arrow; lists of numbers, all of equal length, become columns."""
    import pandas as pd
    from pyarrow import feather, parquet

    read = parquet if path.suffix.lower() == ".parquet" else feather
    content = read.read_table(path)
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
    table = table.set_axis([*map(model.name_of, table)], axis="columns")
    return _table(table, columns)


def _read_xlsx(path: Path, columns: Columns) -> Table:
    import pandas as pd

    options: dict[str, Any] = {"read_only": False}  # merged cells are unknown otherwise
    with pd.ExcelFile(path, engine="openpyxl", engine_kwargs=options) as book:
        # The first sheet that is not a chart.
        cells = pd.read_excel(book, dtype=object, **RAW)
        sheet, *others = book.book.worksheets
        lacking = _uncalculated(path, sheet)
    cells = cells.loc[cells.ne("").any(axis="columns") if cells.size else []]
    if not len(cells):
        raise DataError("empty. Expected a header and rows.")
    head = cells.iloc[: model.MOST_PREAMBLE].to_numpy(dtype=object)
    lines = [[model.name_of(cell) for cell in line] for line in head]
    above = model.header_place(lines, columns.named["label"])
    cells = cells.iloc[above:]
    top = int(cells.index[0])
    names = [model.name_of(cell) for cell in cells.iloc[0]]
    if heads := [k for row, k in lacking if row == top]:
        fault = f"the header has {counted(len(heads), 'formula')} without a value"
        raise DataError(f"{fault}. {CALCULATE.capitalize()}.")
    facts = [*model.lines_above(above), *_sheet_facts(sheet, len(others), top, names)]
    columns_of = Counter(names[k] for row, k in lacking if row > top and k < len(names))
    for name, n in columns_of.items():
        text = f"{counted(n, 'formula')} without a value in {name!r}: {CALCULATE}"
        facts.append(Fact(text, model.MISSING, (name,), n))
    table = model.with_header(cells, model.ROW)
    return _table(table, columns, facts=tuple(facts))


def _sheet_facts(
    sheet: Any, n_others: int, top: int, names: Sequence[str]
) -> Iterator[Fact]:
    """Yield what a sheet has besides cells below the header, in row `top` from 0."""
    if n_others:
        yield Fact(f"the first of {1 + n_others} sheets", model.ABSENT)
    areas = [area for area in sheet.merged_cells.ranges if area.max_row > top + 1]
    if areas:
        text = shortened([*map(str, areas)])
        places = {
            k - 1 for area in areas for k in range(area.min_col, area.max_col + 1)
        }
        of = tuple(names[k] for k in sorted(places) if k < len(names))
        text = f"only the first of merged cells has a value: {text}"
        yield Fact(text, model.MISSING, of)
    if hidden := sum(row.hidden for row in sheet.row_dimensions.values()):
        yield Fact(f"{counted(hidden, 'hidden row')} included", model.ROWS)


def _uncalculated(path: Path, sheet: Any) -> list[tuple[int, int]]:
    """Return row and column, from 0, of formulas that no program has calculated."""
    with zipfile.ZipFile(path) as archive:
        parts = [n for n in archive.namelist() if n.startswith("xl/worksheets/")]
        if not any(b"<f" in archive.read(name) for name in parts):
            return []
    import openpyxl  # type: ignore[import-untyped]

    formulas = openpyxl.load_workbook(path)[sheet.title]
    return [
        (cell.row - 1, cell.column - 1)
        for line in formulas.iter_rows()
        for cell in line
        if cell.data_type == "f"
        # The value of a formula may be an empty text.
        and (found := sheet.cell(cell.row, cell.column)).value is None
        and found.data_type != "str"
    ]


def _read_safetensors(path: Path, columns: Columns) -> Arrays:
    from safetensors.numpy import load_file

    return dict(load_file(path))


def _read_npz(path: Path, columns: Columns) -> Arrays:
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


def _read_mat(path: Path, columns: Columns) -> Arrays:
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


def read_class_map(path: PathLike) -> dict[str, str]:
    """Return the class of each label in a table of two columns; "" is no label.

    DataError: it has other columns, or two classes for a label.
    """
    try:
        cells = read_file(Path(path), Columns()).cells
        if cells.shape[1] != 2:
            header = " and ".join(map(repr, cells)) or "none"
            fault = f"expected two columns, a label and its class, got {header}"
            raise DataError(f"{fault}. Write them below a header.")
        classes: dict[str, str] = {}
        for old, new in zip(*(map(label_text, cells[c]) for c in cells), strict=True):
            if classes.setdefault(old, new) != new:
                both = f"{classes[old]!r} and {new!r}"
                fault = f"the label {old!r} has the classes {both}"
                raise DataError(f"{fault}. Keep one.")
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return classes


Read = Callable[[Path, Columns], Table | Arrays]
TEXT_FILES = (".csv", ".tsv", ".txt")
READERS: dict[str, tuple[str, str, Read]] = {
    **dict.fromkeys(TEXT_FILES, ("text", "pandas", _read_text)),
    ".parquet": ("Parquet", "pyarrow", _read_arrow),
    ".xlsx": ("XLSX", "openpyxl", _read_xlsx),
    ".arrow": ("Arrow", "pyarrow", _read_arrow),
    ".feather": ("Arrow", "pyarrow", _read_arrow),
    ".npz": ("NPZ", "numpy", _read_npz),
    ".npy": ("NPY", "numpy", _read_npz),
    ".safetensors": ("safetensors", "safetensors", _read_safetensors),
    ".mat": ("MATLAB", "scipy", _read_mat),
}
