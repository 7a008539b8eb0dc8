"""Files between stages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cdspp.core.artifacts import (
    LABEL_COLUMNS,
    Features,
    atomic,
    read_features,
    read_rows,
    write_features,
    write_rows,
)
from cdspp.core.errors import DataError


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


def test_equal_features_give_equal_bytes(tmp_path: Path) -> None:
    features = Features(np.ones((2, 2)), np.array(["a", "b"]), {"b": 1, "a": 2})
    for name in ("one.npz", "two.npz"):
        write_features(tmp_path / name, features)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_a_damaged_feature_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "f.npz").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"f\.npz: not a feature file"):
        read_features(tmp_path / "f.npz")


def test_rows_come_back_with_nulls(tmp_path: Path) -> None:
    row = {"id": ["a"], "label": [None], "position": [0]}
    write_rows(tmp_path / "r.parquet", LABEL_COLUMNS, row)
    assert read_rows(tmp_path / "r.parquet", LABEL_COLUMNS)["label"].tolist() == [None]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "r.parquet", {"id": "string"}, {"id": ["a"]})
    with pytest.raises(DataError, match="expected a Parquet file with the columns"):
        read_rows(tmp_path / "r.parquet", LABEL_COLUMNS)


def test_who_reads_during_a_write_sees_the_old_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with target.open() as reader:
        with atomic(target) as temporary:
            temporary.write_text("new")
        assert reader.read() == "old"
    assert target.read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def fail() -> None:
        with atomic(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
