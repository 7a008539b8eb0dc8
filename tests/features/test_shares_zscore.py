"""Shares of the row, standardised by column: against the formula, and odd counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from cdspp.core.errors import DataError
from cdspp.features.views import SharesZscore


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_of_shares_are_standardised(kind: type) -> None:
    counts = np.random.default_rng(0).poisson(3.0, (20, 6))
    expected = stats.zscore(counts / counts.sum(axis=1, keepdims=True), ddof=1)
    result, record = SharesZscore().reduce(kind(counts))
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert (result.dtype, record) == (np.float32, {"varying_columns": 6})


def test_a_constant_column_becomes_zero_and_an_empty_row_counts_as_no_shares() -> None:
    result, record = SharesZscore().reduce([[0, 0, 4], [0, 0, 0], [0, 3, 1]])
    assert (result[:, 0] == 0).all()
    np.testing.assert_allclose(result.sum(axis=0), 0, atol=1e-6)
    assert result[1, 2] < 0
    assert record == {"varying_columns": 2}


@pytest.mark.parametrize("rows", [[[1, -1], [2, 3]], [[1, 2]], np.empty((0, 2))])
def test_what_is_no_table_of_counts_is_refused(rows: object) -> None:
    with pytest.raises(DataError, match="rows.*counts, got shape"):
        SharesZscore().reduce(rows)
