"""Readers of tables on untidy files with a known content.

`table_files.yaml` has the files, of spreadsheets, surveys and instruments. A reader is
*right* if it returns the expected labels and numbers. It *refuses* a file by an error,
a missing column, or text in place of numbers, which the next step will notice. It is
*wrong* if numbers, rows or labels differ without an error or a note. Ours also reads
each file through the other formats that can hold it.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.core.errors import DataError
from cdspp.core.wording import aligned
from cdspp.core.yaml_files import read_yaml
from cdspp.datasets.table_cells import AMBIGUOUS_NUMBER
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain

__all__ = ["READERS", "bench_tables", "judge", "tables_table"]

FILES = Path(__file__).with_name("table_files.yaml")
LABEL = "kind"
# Encodings that the bytes do not reveal: our reader receives these, too.
UNKNOWN_ENCODINGS = ("shift_jis", "gb18030")
RIGHT, REFUSED, WRONG, NOT_HELD = "right", "refused", "WRONG", "-"
Case = Mapping[str, Any]


def _cdspp(path: Path, case: Case) -> pd.DataFrame:
    encoding = case.get("encoding")
    encoding = encoding if encoding in UNKNOWN_ENCODINGS else None
    drop = tuple(case.get("drop", ()))
    domain = read_domain(path, Columns(label=LABEL, drop=drop, encoding=encoding))
    if doubts := [note for note in domain.notes if "missing" in note]:
        raise DataError(doubts[0])
    table = pd.DataFrame(domain.X, columns=list(domain.features))
    return table.assign(**{LABEL: list(domain.labels)})


def _as_cells(path: Path, case: Case) -> list[list[str]]:
    """Return the cells of a file of text, as a spreadsheet program opens it."""
    text = path.read_bytes().decode(case.get("encoding", "utf-8")).lstrip("\ufeff")
    separator = "\t" if path.suffix == ".tsv" else case.get("separator", "")
    separator = separator or max(",;\t|", key=lambda s: _widest(text, s))
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=separator)]


def _widest(text: str, separator: str) -> int:
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return max((len(cells) * (LABEL in cells) for cells in records), default=0)


def _typed(cell: str) -> Any:
    """Return a cell as a spreadsheet program keeps what was typed."""
    plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell)
    unclear = AMBIGUOUS_NUMBER.fullmatch(cell)  # it depends on the country
    number = float(cell) if plain and not unclear and len(cell) < 16 else cell
    return {"TRUE": True, "FALSE": False}.get(cell, number)


def _xlsx(path: Path, case: Case) -> pd.DataFrame:
    import openpyxl  # type: ignore[import-untyped]

    book = openpyxl.Workbook()
    for cells in _as_cells(path, case):
        book.active.append([_typed(cell) for cell in cells])
    book.save(path.with_suffix(".xlsx"))
    return _cdspp(path.with_suffix(".xlsx"), {**case, "encoding": None})


def _columnar(path: Path, case: Case, suffix: str) -> pd.DataFrame:
    """Read a file through a format of named columns, if it has a header and rows."""
    lines = _as_cells(path, case)
    header, *rows = [cells for cells in lines if any(cells)] or [[]]
    if LABEL not in header or {len(cells) for cells in rows} != {len(header)}:
        raise NotHeld
    if len({*header}) < len(header):
        raise NotHeld
    table = pd.DataFrame(rows, columns=header)
    place = path.with_suffix(suffix)
    (table.to_parquet if suffix == ".parquet" else table.to_feather)(place)
    return _cdspp(place, {**case, "encoding": None})


class NotHeld(Exception):
    """A format cannot hold a file."""


def _pandas(path: Path, case: Case) -> pd.DataFrame:
    return pd.read_csv(path, encoding=case.get("encoding"))


def _pandas_sniffing(path: Path, case: Case) -> pd.DataFrame:
    encoding = case.get("encoding")
    return pd.read_csv(path, sep=None, engine="python", encoding=encoding)


def _duckdb(path: Path, case: Case) -> pd.DataFrame:
    import duckdb

    return duckdb.read_csv(_in_utf8(path, case)).df()


def _clevercsv(path: Path, case: Case) -> pd.DataFrame:
    import clevercsv

    return clevercsv.read_dataframe(_in_utf8(path, case))


def _in_utf8(path: Path, case: Case) -> str:
    """Return a copy of a file in UTF-8, for readers that know no other encoding."""
    text = path.read_bytes().decode(case.get("encoding", "utf-8"))
    place = path.with_name(f"utf8-{path.name}")
    place.write_bytes(text.encode())
    return str(place)


# Readers other than ours receive the encoding; DuckDB and clevercsv run if installed.
READERS: dict[str, tuple[str, Callable[[Path, Case], pd.DataFrame]]] = {
    "cdspp": ("cdspp", _cdspp),
    "cdspp, XLSX": ("openpyxl", _xlsx),
    "cdspp, Parquet": ("pyarrow", partial(_columnar, suffix=".parquet")),
    "cdspp, Arrow": ("pyarrow", partial(_columnar, suffix=".feather")),
    "pandas": ("pandas", _pandas),
    "pandas, sep=None": ("pandas", _pandas_sniffing),
    "DuckDB": ("duckdb", _duckdb),
    "clevercsv": ("clevercsv", _clevercsv),
}


def bench_tables(cases: Sequence[Case] | None = None) -> pd.DataFrame:
    """Return the verdict on each installed reader for each file, and the reason."""
    usable = {name: r for name, (package, r) in READERS.items() if find_spec(package)}
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases or read_yaml(FILES):
            path = Path(folder, case["id"] + case.get("name", ".csv"))
            path.write_bytes(case["text"].encode(case.get("encoding", "utf-8")))
            for name, reader in usable.items():
                try:
                    verdict, why = judge(reader(path, case), case)
                except NotHeld:
                    verdict, why = NOT_HELD, ""
                except Exception as error:  # any exception is a refusal
                    verdict, why = REFUSED, str(error).replace(folder, "")
                records.append((case["id"], name, verdict, why))
    return pd.DataFrame(records, columns=["file", "reader", "verdict", "reason"])


def judge(table: pd.DataFrame, case: Case) -> tuple[str, str]:
    """Return the verdict on a table, and the reason."""
    expected = {name: np.array(v, dtype=np.float64) for name, v in case["X"].items()}
    for name in (LABEL, *expected):
        if name not in table:
            return REFUSED, f"no column {name}"
    columns = {}
    for name in expected:
        try:
            columns[name] = table[name].to_numpy(np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            return REFUSED, f"text in {name}"
    labels = [None if pd.isna(v) or v == "" else v for v in table[LABEL]]
    if labels != case["y"]:
        return WRONG, f"labels {labels}"
    for name, values in expected.items():
        if not np.array_equal(columns[name], values, equal_nan=True):
            return WRONG, f"{name} {columns[name].tolist()}"
    return RIGHT, ""


def tables_table(verdicts: pd.DataFrame) -> str:
    """Return the verdicts by file, and their counts, as text."""
    readers = list(dict.fromkeys(verdicts["reader"]))
    grid = [["file", *readers]]
    for file, verdicts_of_file in verdicts.groupby("file", sort=False)["verdict"]:
        grid.append([file, *verdicts_of_file])
    counts = {name: Counter(of["verdict"]) for name, of in verdicts.groupby("reader")}
    for verdict in (RIGHT, REFUSED, WRONG):
        grid.append([verdict, *(str(counts[name][verdict]) for name in readers)])
    lines = aligned(grid, left=range(len(readers) + 1))
    return "\n".join([*lines[:-3], "", *lines[-3:]])
