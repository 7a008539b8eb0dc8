"""Files between stages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cdspp.core.errors import DataError
from cdspp.core.files import read_json, write_json
from cdspp.stages.formats import (
    LABEL_COLUMNS,
    SHIPPED,
    Features,
    read_csv,
    read_features,
    read_rows,
    write_features,
    write_rows,
)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_features_come_back_as_written(
    tmp_path: Path, kind: Callable[..., Any]
) -> None:
    X = kind([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    ids = np.array(["a", "b", "c"])
    write_features(tmp_path / "f.npz", Features(X, ids, {"seed": 3}))
    back = read_features(tmp_path / "f.npz")
    assert sparse.issparse(back.X) == sparse.issparse(X)
    assert back.X.dtype == np.float32
    np.testing.assert_array_equal(back.X @ np.eye(2), X @ np.eye(2))
    assert back.ids.tolist() == ["a", "b", "c"]
    assert back.provenance == {"seed": 3}


READERS: dict[str, Callable[[Path], Any]] = {
    "f.npz": read_features,
    "r.parquet": lambda path: read_rows(path, LABEL_COLUMNS),
    "j.json": read_json,
}
PAGE = b"<!DOCTYPE html><html><body>404 Not found</body></html>"


def write_whole(path: Path) -> bytes:
    """Write a whole file of the kind that a name tells; return its bytes."""
    ids = [f"sample {i}" for i in range(50)]
    match path.suffix:
        case ".npz":
            write_features(path, Features(np.eye(50), np.array(ids), {}))
        case ".parquet":
            rows = {"id": ids, "label": ids, "position": range(50)}
            write_rows(path, LABEL_COLUMNS, rows)
        case _:
            write_json(path, {"ids": ids})
    READERS[path.name](path)
    return path.read_bytes()


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_cut_short_anywhere_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    whole = write_whole(path)
    for size in (0, 3, 8, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=rf"{name}: expected .*Delete it"):
            READERS[name](path)


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_another_kind_is_named_with_no_advice_to_load_it_unsafely(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    for content, told in ((PAGE, "web page"), (b"\x93NUMPY", "it begins with")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"{name}: expected .*{told}") as refused:
            READERS[name](path)
        assert "allow_pickle" not in str(refused.value)
    path.unlink()
    with pytest.raises(DataError, match=f"{name}: .* No such file .*Run the study"):
        READERS[name](path)


def test_an_archive_of_other_arrays_is_named(tmp_path: Path) -> None:
    ids, told = np.array(["a", "b"]), np.array("{}")
    wrong: tuple[dict[str, Any], ...] = (
        {"a": np.eye(2)},
        {"X": np.eye(3), "ids": ids, "provenance": told},
        {"X": np.ones(2), "ids": ids, "provenance": told},
        {"X": np.array([["a"], [None]], dtype=object), "ids": ids, "provenance": told},
    )
    for arrays in wrong:
        np.savez(tmp_path / "f.npz", **arrays)
        with pytest.raises(DataError, match=r"f\.npz: .*feature file"):
            read_features(tmp_path / "f.npz")


def test_a_column_of_another_type_is_named(tmp_path: Path) -> None:
    types = {**LABEL_COLUMNS, "position": "string"}
    write_rows(tmp_path / "r.parquet", types, dict.fromkeys(types, ["1"]))
    with pytest.raises(DataError, match="position.*string, not int32"):
        read_rows(tmp_path / "r.parquet", LABEL_COLUMNS)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "r.parquet", {"id": "string"}, {"id": ["a"]})
    with pytest.raises(DataError, match="expected a Parquet file.*columns .*label"):
        read_rows(tmp_path / "r.parquet", LABEL_COLUMNS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "No columns"),
        ("name,n,x,y\na,1,0.5,z", "it lacks b"),
        ("name,n,x,b\na,1,half,true", "x must be float64: .*'half'"),
        ("name,n,x,b\na,1,0.5,1", "b must be bool: '1'"),
        ('name,n,x,b\n"a', "EOF inside string"),
    ],
)
def test_a_csv_file_of_other_content_is_named(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    types = {"name": "str", "n": "int64", "x": "float64", "b": "bool"}
    with pytest.raises(DataError, match=f"t.csv: expected a CSV file .*{told}"):
        read_csv(path, types)
    with pytest.raises(DataError, match="Take .*repository"):
        read_csv(path, types, SHIPPED)
    path.unlink()
    with pytest.raises(DataError, match="No such file .*Run .*study"):
        read_csv(path, types)
