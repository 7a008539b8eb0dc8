"""The extractor of published features: rows in index order, or a clear error."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.published_files import (
    CLASSES,
    LABELS,
    MAT_CASES,
    N_ROWS,
    write_mat,
)

from cdspp.core.errors import DataError
from cdspp.features.precomputed import Published

SURF = "Office-Caltech SURF"
SHUFFLED = [4, 0, 5, 2, 1, 3]


def read(
    folder: Path,
    spec: dict[str, Any],
    positions: Sequence[int],
    labels: Sequence[str] | None = None,
) -> Any:
    """Read the samples at these places; their classes are right by default."""
    given = [LABELS[place] for place in positions] if labels is None else labels
    view = Published(name="view")
    return view.read(folder, spec, CLASSES, given, positions)[0]


def test_rows_come_in_the_order_of_the_positions(tmp_path: Path) -> None:
    _, spec = write_mat(tmp_path, SURF)
    X = read(tmp_path, spec, SHUFFLED)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, MAT_CASES[SURF].expected[SHUFFLED])


@pytest.mark.parametrize("n_samples", [N_ROWS - 1, N_ROWS + 1])
def test_a_file_of_another_length_is_refused(n_samples: int, tmp_path: Path) -> None:
    _, spec = write_mat(tmp_path, SURF)
    labels = [*LABELS, "plum"][:n_samples]
    message = f"published.mat: 6 rows for {n_samples} samples; .*order"
    with pytest.raises(DataError, match=message):
        read(tmp_path, spec, range(n_samples), labels)


@pytest.mark.parametrize(
    ("labels", "first"),
    [
        ("pear pear pear apple apple plum", "4 of 6 .* row 1: apple, expected pear"),
        ("apple apple pear plum pear plum", "1 of 6 .* row 4: pear, expected plum"),
    ],
    ids=["blocks swapped", "one label changed"],
)
def test_a_copy_ordered_or_labelled_differently_is_refused(
    labels: str, first: str, tmp_path: Path
) -> None:
    _, spec = write_mat(tmp_path, SURF)
    given = [labels.split()[place] for place in SHUFFLED]
    with pytest.raises(DataError, match=f"{first}.*paired"):
        read(tmp_path, spec, SHUFFLED, given)


def test_the_record_tells_the_storage_and_the_digest_of_the_file(
    tmp_path: Path,
) -> None:
    path, spec = write_mat(tmp_path, SURF)
    view = Published(name="surf")
    _, record = view.read(tmp_path, spec, CLASSES, LABELS, range(len(LABELS)))
    assert record["storage"] == spec
    assert record["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert str(tmp_path) not in str(record)
