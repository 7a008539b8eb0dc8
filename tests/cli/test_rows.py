"""Rows of files as methods take them, and predictions as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cdspp.cli.rows import learn_scaling, scaled, write_predictions
from cdspp.core.errors import DataError
from cdspp.datasets.table_rows import DomainRows

FULL = np.random.default_rng(0).normal(3.0, 2.0, (70, 60))


def rows(X: np.ndarray) -> DomainRows:
    """Return rows as if read from a file."""
    ids = [str(k) for k in range(len(X))]
    return DomainRows("f.csv", X, ids, ["c"] * len(X))


def test_scaled_rows_say_how_and_keep_the_width_of_the_file() -> None:
    given = rows(FULL[:5])
    found = scaled(given, learn_scaling("pca", given))
    assert found.X.shape == (5, 4)
    assert found.told("source").endswith("60 features, PCA to 4 components")


def test_what_cannot_be_scaled_is_named_with_its_file() -> None:
    with pytest.raises(DataError, match="f.csv: scale: pca: .*all equal"):
        learn_scaling("pca", rows(np.ones((4, 3))))
    learnt = learn_scaling("unit", rows(FULL))
    with pytest.raises(DataError, match="f.csv: X has 59 features, expected 60"):
        scaled(rows(FULL[:, 1:]), learnt)


def test_predictions_are_written_as_csv_with_quotes_where_needed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "out.csv"
    write_predictions(path, ["a,b", "é"], ["NA", 'q"'], [1 / 3, 1.0])
    text = 'id,predicted,confidence\n"a,b",NA,0.333333\né,"q""",1\n'
    assert path.read_bytes() == text.encode()
