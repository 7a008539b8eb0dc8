"""One random table of typed cells through every format, which all read the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fuzz.damage import attacks

from cdspp import TableEncoder
from cdspp.core.errors import DataError
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain

HOW = {"categories": "one-hot", "dates": "number"}
DAY = datetime(2024, 2, 28)
# What a cell of each kind may be; a column has cells of one kind, and gaps.
KINDS: dict[str, Callable[[random.Random], Any]] = {
    "whole": lambda rng: rng.randint(-9, 10**6),
    "number": lambda rng: round(rng.gauss(0, 10 ** rng.randint(-3, 6)), 6),
    "boolean": lambda rng: rng.random() < 0.5,
    "day": lambda rng: DAY + timedelta(days=rng.randint(0, 999)),
    "moment": lambda rng: DAY + timedelta(minutes=rng.randint(0, 10**6)),
    "duration": lambda rng: timedelta(seconds=rng.randint(86400, 10**6)),
    "word": lambda rng: rng.choice(WORDS),
    "code": lambda rng: rng.choice(("01", "1", "7.0", "7", "-1", "NA")),
    "written": lambda rng: rng.choice(("1.5", "2", "3e2", "1_7", "12")),
}
WORDS = ("ant", "bee", "caf\xe9", "cafe\u0301", "TRUE", "1_7")
KINDS["mixed"] = lambda rng: KINDS[rng.choice(("whole", "boolean", "day", "word"))](rng)
LABELS = ("mixed", "whole", "boolean", "day", "word", "code")


def typed_table(rng: random.Random) -> pd.DataFrame:
    """Return columns of one kind each, of type object, with gaps."""
    n, names = rng.randint(2, 8), rng.sample("abcdefgh", rng.randint(1, 4))
    kinds = {name: rng.choice([*KINDS]) for name in names}
    kinds |= {"label": rng.choice(LABELS)} if rng.random() < 0.8 else {}
    kinds |= {"id": rng.choice(("whole", "word", "day"))} if rng.random() < 0.3 else {}
    gaps = rng.choice((0, 0, 0.3))
    columns = {}
    for name in rng.sample([*kinds], len(kinds)):
        cells = [KINDS[kinds[name]](rng) for _ in range(n)]
        columns[name] = [None if rng.random() < gaps else cell for cell in cells]
    table = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()})
    return table[table.notna().any(axis="columns")].reset_index(drop=True)


def as_text(cell: Any, rng: random.Random) -> str:
    """Write a cell as programs write it to text."""
    if isinstance(cell, bool):
        return rng.choice((str(cell), str(cell).upper(), str(cell).lower()))
    if isinstance(cell, timedelta):
        return str(pd.Timedelta(cell))
    return "" if cell is None else str(cell)


def files(table: pd.DataFrame, folder: Path, rng: random.Random) -> Iterator[Path]:
    """Write a table in every format that can hold it."""
    text = table.map(lambda cell: as_text(cell, rng))
    for separator, name in ((",", "a.csv"), ("\t", "a.tsv"), ("|", "b.csv")):
        text.to_csv(folder / name, index=False, sep=separator)
        yield folder / name
    typed = table.infer_objects()
    kinds = {column: {*map(type, typed[column].dropna())} for column in typed}
    for name in ("a.parquet", "a.feather") if max(map(len, kinds.values())) < 2 else ():
        (typed.to_parquet if name.endswith("t") else typed.to_feather)(folder / name)
        yield folder / name
    features = typed.drop(columns=["label", "id"], errors="ignore")
    if all(kind.kind in "if" for kind in features.dtypes) and features.shape[1]:
        arrays = {"X": features.to_numpy(float), "features": np.array([*features])}
        for name, array in (("label", "y"), ("id", "ids")):
            whole = name in typed and typed[name].notna().all()
            if whole and len(kinds[name]) == 1:
                cells = typed[name].tolist()
                days = (isinstance(c, datetime) for c in cells)
                arrays[array] = np.array(cells, "M8[ms]" if all(days) else None)
        if len(arrays) == 2 + ("label" in typed) + ("id" in typed):
            np.savez(folder / "a.npz", **arrays)
            yield folder / "a.npz"
    if find_spec("openpyxl"):
        import openpyxl

        book = openpyxl.Workbook()
        for line in (list(table), *table.itertuples(index=False)):
            book.active.append([*line])
        book.save(folder / "a.xlsx")
        yield folder / "a.xlsx"


def found(path: Path) -> Any:
    """Return what a file holds, or that it is refused."""
    try:
        rows = read_domain(path, Columns(**HOW))
    except DataError:
        return "refused"
    X = np.where(np.isnan(rows.X), None, rows.X.astype(object)).tolist()
    return X, list(rows.features), list(rows.labels), list(rows.ids)


@attacks(60, 6000)
def test_a_typed_table_is_read_alike_in_every_format(
    seeds: range, tmp_path: Path
) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        table = typed_table(rng)
        if not len(table):
            continue
        results = {path.name: found(path) for path in files(table, tmp_path, rng)}
        expected = results["a.csv"]
        for name, result in results.items():
            assert result == expected, f"{seed}: {name}\n{table}\n{result}\n{expected}"
        features = table.drop(columns=["label", "id"], errors="ignore")
        if expected != "refused" and features.shape[1]:
            for frame in frames(features):
                X = TableEncoder(**HOW).fit_transform(frame)
                np.testing.assert_array_equal(
                    X, np.array(expected[0], dtype=float), f"{seed}\n{table}"
                )


def frames(table: pd.DataFrame) -> Iterator[Any]:
    """Yield a table as a data frame of each library that is installed."""
    yield table
    yield table.infer_objects()
    if max(len({*map(type, table[column].dropna())}) for column in table) > 1:
        return
    pa = pytest.importorskip("pyarrow")
    yield pa.Table.from_pandas(table.infer_objects())
    if find_spec("polars"):
        import polars

        yield polars.from_pandas(table.infer_objects())
