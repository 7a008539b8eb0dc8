"""The user's files: every cell as it stands there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cdspp.core.errors import DataError
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import read_domain


def test_cells_of_a_csv_are_read_to_the_last_bit_and_classes_as_they_stand(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**64, 999, dtype=np.uint64).view(np.float64)
    cells = [f"{x:.{k % 20}g}" for k, x in enumerate(numbers)] + ["+.5", "1_0", " 1"]
    labels = ["NaCl", "n/a", "null", "7.0", " -1 ", ""] * 167
    lines = [f"{x},{label},{x}" for x, label in zip(cells, labels, strict=True)]
    text = "\ufeff x ,label,id\n\n" + "\r\n".join(lines)
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8", newline="")
    found = read_domain(tmp_path / "rows.csv")
    expected = np.array([float(x) for x in cells])
    assert found.X.tobytes() == expected.tobytes()
    assert (found.features, list(found.ids)) == (("x",), cells)
    assert found.labels == ["NaCl", "n/a", "null", "7", "", ""] * 167


@pytest.mark.parametrize("name", ["ID", "Id", "Label"])
def test_a_column_that_is_nearly_one_of_ids_or_labels_is_asked_about(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{name},x\n1,0.5\n2,0.7\n")
    with pytest.raises(DataError, match=f"Name it by --{name.lower()} {name}, leave"):
        read_domain(path)
    found = read_domain(path, Columns(**{name.lower(): name}))
    assert found.features == ("x",)
