"""Which rows a fit predicts rightly, written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cdspp.core.errors import DataError
from cdspp.core.names import FitKey
from cdspp.stages.formats import FitFile
from cdspp.stages.score import SampleScores, SampleScoreWriter

TRUTH = {"photo": {"p1": "cat", "p2": "dog", "p3": "", "p4": "cat"}}
Row = tuple[int, int, str, str]  # trial, iteration, id, predicted


def fit(rows: Sequence[Row], block: str = "1-2") -> FitFile:
    key = FitKey("pets", "main", "web_photo", "cdspp", block)
    names = ("trial", "iteration", "id", "predicted")
    columns = {
        name: np.array(values, dtype=object if place > 1 else np.int32)
        for place, (name, values) in enumerate(
            zip(names, zip(*rows, strict=True), strict=True)
        )
    }
    return FitFile(Path("fit.parquet"), key, columns, {})


def written(path: Path, *fits: FitFile) -> SampleScores:
    writer = SampleScoreWriter(TRUTH)
    for each in fits:
        writer.add(each)
    writer.write(path / "rows.npz")
    return SampleScores(path / "rows.npz")


def test_the_last_iteration_counts_and_untested_rows_are_missing(
    tmp_path: Path,
) -> None:
    rows = [
        *[(1, 1, "p1", "dog"), (1, 1, "p2", "dog")],
        *[(1, 2, "p1", "cat"), (1, 2, "p2", "cat"), (1, 2, "p3", "cat")],
        *[(2, 1, "p4", "cat"), (2, 1, "p2", "dog")],
    ]
    found = written(tmp_path, fit(rows))
    right = found.right("main", "web_photo", "cdspp")
    # p3 has no label, so that it is no row here.
    nan = float("nan")
    np.testing.assert_array_equal(right, [[1, 0, nan], [nan, 1, 1]])
    assert found.classes("web_photo").tolist() == [0, 1, 0]


def test_blocks_are_put_together_and_a_failed_trial_is_missing(tmp_path: Path) -> None:
    first, second = fit([(1, 1, "p1", "cat")]), fit([(4, 1, "p1", "dog")], "3-4")
    right = written(tmp_path, first, second).right("main", "web_photo", "cdspp")
    assert right.shape == (4, 3)
    assert right[:, 0].tolist()[::3] == [1.0, 0.0]
    assert np.isnan(right[1:3]).all()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(DataError, match=r"rows\.npz: .*scores.*sample"):
        SampleScores(path).classes("web_photo")
