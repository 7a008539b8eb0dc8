"""The user's files: every cell as it stands there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cdspp.core.errors import DataError
from cdspp.core.labels import keep_labels
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain


def test_cells_of_a_csv_are_read_to_the_last_bit_and_classes_as_they_stand(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**64, 999, dtype=np.uint64).view(np.float64)
    cells = [f"{x:.{k % 20}g}" for k, x in enumerate(numbers)] + ["+.5", "1e0", " 2"]
    labels = ["NaCl", "n/a", "null", "7.0", " -1 ", ""] * 167
    lines = [f"{x},{label},{x}" for x, label in zip(cells, labels, strict=True)]
    text = "\ufeff x ,label,id\n\n" + "\r\n".join(lines)
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8", newline="")
    result = read_domain(tmp_path / "rows.csv")
    expected = np.array([float(x) for x in cells])
    assert result.X.tobytes() == expected.tobytes()
    assert (result.features, list(result.ids)) == (("x",), [*map(str.strip, cells)])
    assert result.labels == ["NaCl", "", "", "7", "", ""] * 167
    assert result.label_column.unlabelled == "167 'n/a' and 167 'null' and 167 '-1'"


@pytest.mark.parametrize("word", ["NULL", "#N/A", "-nan", "<NA>", "?", "1.#QNAN"])
def test_a_word_for_nothing_is_no_label_and_no_number_alike(
    word: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"label,x\ncat,{word}\n{word},1\n{word.swapcase()},2\n")
    result = read_domain(path)
    assert list(result.labels) == ["cat", "", ""]
    np.testing.assert_array_equal(result.X, [[np.nan], [1], [2]])
    with keep_labels(word):
        assert read_domain(path).labels[1] == word


def test_what_is_missing_by_its_type_is_no_class_whatever_is_kept(
    tmp_path: Path,
) -> None:
    labels = pd.Series(["None", None, "cat"], dtype=object)
    pd.DataFrame({"label": labels, "x": 1.0}).to_parquet(tmp_path / "rows.parquet")
    with keep_labels("None", ""):
        assert read_domain(tmp_path / "rows.parquet").labels == ["None", "", "cat"]


def test_labels_of_type_bytes_are_text(tmp_path: Path) -> None:
    y = np.array(["caf\xe9".encode(), b"", b"NA"])
    np.savez(tmp_path / "rows.npz", X=np.eye(3), y=y, ids=[b"p", b"q", b"r"])
    result = read_domain(tmp_path / "rows.npz")
    assert (result.labels, result.ids) == (["caf\xe9", "", ""], ["p", "q", "r"])
    np.savez(tmp_path / "rows.npz", X=np.eye(1), y=[b"caf\xe9"])
    with pytest.raises(DataError, match=r"rows\.npz: b'caf\\xe9' .*type bytes"):
        read_domain(tmp_path / "rows.npz")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('a,label\n1,"cat\n2,ant\n\n3,dog"\n4,cat\n', "line 2 .* line 5"),
        ('id,a,label\n"p,1,cat\nq",2,cat\n', "line 2 .* line 3"),
        ('a,label\n0,ant\n\n1,"cat\n2,ant\n', "line 4 .*closed"),
    ],
)
def test_a_quote_that_swallows_rows_is_named(
    text: str, fault: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(DataError, match=f"quote in {fault}.*Remove or close it"):
        read_domain(tmp_path / "rows.csv", Columns(drop=("b",)))


def test_a_column_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,label,a\n1,cat,2\n")
    with pytest.raises(DataError, match="the column 'a' twice"):
        read_domain(tmp_path / "rows.csv")


def test_a_cell_may_have_several_lines(tmp_path: Path) -> None:
    text = 'a,label,b\n1,cat,"one, two\nthree"\n2,ant,\n'
    (tmp_path / "rows.csv").write_text(text)
    result = read_domain(tmp_path / "rows.csv", Columns(drop=("b",)))
    assert result.labels == ["cat", "ant"]


@pytest.mark.parametrize("name", ["ID", "Label"])
def test_a_column_that_is_nearly_one_of_ids_or_labels_is_asked_about(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{name},x\n1,0.5\n2,0.7\n")
    with pytest.raises(DataError, match=f"Name it with --{name.lower()} {name}, leave"):
        read_domain(path)
    result = read_domain(path, Columns(**{name.lower(): name}))
    assert result.features == ("x",)
