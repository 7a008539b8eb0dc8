"""Rows that stay in their file: chunks, masks, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdspp import ParquetRows
from cdspp.core import file_rows
from cdspp.core.errors import DataError
from cdspp.core.file_rows import (
    FileRows,
    in_file,
    in_memory,
    rowwise,
)

CHUNK = 20
X = np.random.default_rng(0).standard_normal((23, 4)).astype(np.float32)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "CHUNK_VALUES", CHUNK)


def mapped(folder: Path, rows: np.ndarray = X, mode: Any = "r") -> np.memmap:
    np.save(folder / "rows.npy", rows)
    return np.load(folder / "rows.npy", mmap_mode=mode)


def parquet(folder: Path, rows: np.ndarray = X) -> ParquetRows:
    names = {f"f{k}": rows[:, k] for k in range(rows.shape[1])}
    pq.write_table(pa.table(names), folder / "rows.parquet", row_group_size=7)
    return ParquetRows(folder / "rows.parquet")


@pytest.fixture(params=[mapped, parquet])
def rows(request: Any, tmp_path: Path) -> FileRows:
    found = in_file(request.param(tmp_path))
    assert found is not None
    return found


def test_chunks_are_the_rows_in_order_and_no_larger_than_asked(rows: FileRows) -> None:
    places, chunks = zip(*rows.chunks(), strict=True)
    assert all(chunk.size <= CHUNK and chunk.dtype == np.float64 for chunk in chunks)
    assert [place.start for place in places[1:]] == [p.stop for p in places[:-1]]
    np.testing.assert_array_equal(np.vstack(chunks), X.astype(np.float64))
    np.testing.assert_array_equal(rows.load(), X)


def test_rows_of_masks_are_those_of_the_array(rows: FileRows) -> None:
    first, second = np.arange(23) % 3 > 0, np.arange(15) % 2 == 0
    chosen = rows[first].map(lambda chunk: 2.0 * chunk)[second]
    assert chosen.shape == (8, 4)
    assert len(chosen) == 8
    np.testing.assert_array_equal(chosen.load(), 2.0 * X[first][second])
    assert rows[np.zeros(23, dtype=bool)].load().shape == (0, 4)


def test_what_is_computed_by_rows_is_put_together(rows: FileRows) -> None:
    def both(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return part.argmax(axis=1), part[:, :2]

    for found, expected in zip(rowwise(both, rows), both(X), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(list(rows.chunks())) > 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("store", [mapped, parquet])
def test_rows_that_are_not_finite_are_named_with_their_file(
    store: Any, value: float, tmp_path: Path
) -> None:
    wrong = X.copy()
    wrong[13, 2] = value
    rows = in_file(store(tmp_path, wrong))
    assert rows is not None
    message = r"rows\.\w+, among rows 1\d to \d+: NaN .* in 1 of \d rows: 13\. "
    with pytest.raises(DataError, match=message):
        rows.load()
    with pytest.raises(DataError, match="rows: 13"):
        rows[np.arange(23) > 10].load()
    assert rows[np.arange(23) != 13].load().shape == (22, 4)


def test_values_whose_sum_overflows_are_finite(tmp_path: Path) -> None:
    large = np.full((23, 4), 1e308)
    rows = in_file(mapped(tmp_path, large))
    assert rows is not None
    np.testing.assert_array_equal(rows.load(), large)


def test_what_fits_a_chunk_is_no_such_file(tmp_path: Path) -> None:
    assert in_file(mapped(tmp_path, X[:5])) is None
    assert in_file(parquet(tmp_path, X[:5])) is None
    assert in_file(X) is None
    assert in_file(mapped(tmp_path)[:, 0]) is None
    rows = in_file(mapped(tmp_path))
    assert rows is not None
    few = rows[np.arange(23) < 5]
    assert in_file(few) is None
    np.testing.assert_array_equal(in_memory(few), X[:5])
    assert in_memory(rows) is rows
    assert in_memory(X) is X


def test_what_was_written_to_a_copy_on_write_stays(tmp_path: Path) -> None:
    array = mapped(tmp_path, mode="c")
    array[3] = 7.0
    rows = in_file(array)
    assert rows is not None
    for _ in range(2):
        np.testing.assert_array_equal(rows.load()[3], np.full(4, 7.0))


def test_columns_of_a_parquet_file_come_in_the_order_asked(tmp_path: Path) -> None:
    parquet(tmp_path)
    rows = ParquetRows(tmp_path / "rows.parquet", columns=["f3", "f0"])
    assert rows.shape == (23, 2)
    assert len(rows) == 23
    np.testing.assert_array_equal(np.asarray(rows), X[:, [3, 0]])
    assert np.asarray(rows, dtype=np.float32).dtype == np.float32


def test_integers_and_empty_cells_of_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"a": [1, 2, None] * 9, "b": list(range(27))})
    pq.write_table(table, path)
    np.testing.assert_array_equal(
        np.asarray(ParquetRows(path, ["b"])).ravel(), np.arange(27)
    )
    with pytest.raises(DataError, match="rows 0 to 9: NaN .* rows: 2, 5, 8"):
        ParquetRows(path).__array__()


def test_parquet_files_that_are_none_and_columns_that_do_not_fit(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.parquet"
    with pytest.raises(DataError, match=r"rows\.parquet: not a Parquet file"):
        ParquetRows(path)
    path.write_text("no table")
    with pytest.raises(DataError, match=r"rows\.parquet: not a Parquet file"):
        ParquetRows(path)
    pq.write_table(pa.table({"id": ["a", "b"], "f": [1.0, 2.0]}), path)
    with pytest.raises(DataError, match=r"column 'id' holds string.*columns=\[") as e:
        ParquetRows(path)
    assert "\n" not in str(e.value)
    with pytest.raises(DataError, match=r"no column 'g'. The first are: id, f\."):
        ParquetRows(path, ["f", "g"])
    assert ParquetRows(path, ["f"]).shape == (2, 1)
