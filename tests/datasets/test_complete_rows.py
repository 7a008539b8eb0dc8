"""Missing numbers of rows from files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cdspp.core.errors import DataError
from cdspp.datasets.table_rows import DomainRows, complete

RNG = np.random.default_rng(0)
FULL = RNG.normal(3.0, 2.0, (70, 60))


def rows(X: Any, features: tuple[str, ...] = (), first: int = 2) -> DomainRows:
    """Return rows as if read from a file."""
    result = np.asarray(X, dtype=float)
    ids = [str(k) for k in range(len(result))]
    places = range(first, first + len(result))
    return DomainRows("f.csv", result, ids, ["c"] * len(result), features, places)


def test_gaps_become_the_mean_of_what_is_known_in_their_column() -> None:
    gappy = rows([[1.0, np.nan], [np.inf, 5.0], [3.0, 7.0]])
    result = complete(gappy, impute=True)
    np.testing.assert_array_equal(result.X, [[1, 6], [2, 5], [3, 7]])
    assert result.description("target").endswith("2 features, 2 numbers imputed")
    kept = complete(gappy, impute=True, means=np.array([10.0, 20.0]))
    np.testing.assert_array_equal(kept.X, [[1, 20], [10, 5], [3, 7]])


@pytest.mark.parametrize(
    ("given", "impute", "message"),
    [
        (rows([[1, 2], [np.nan, 4]], ("a", "b")), False, "f.csv: row 3, column 'a'"),
        (rows([[1, 2], [3, np.nan]]), False, "f.csv: row 3, feature 2: the number is "),
        (rows([[1, -np.inf]], ("a", "b")), False, "column 'b': -inf is not finite ("),
        (rows([[np.nan, 4]], ("a", "b")), True, "column 'a': the column has no number"),
    ],
)
def test_a_gap_is_refused_with_its_place(
    given: DomainRows, impute: bool, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        complete(given, impute=impute)
    assert message in str(caught.value)


def test_a_column_of_a_model_is_never_to_be_left_out() -> None:
    given = rows([[np.nan, 4]], ("a", "b"))
    for impute in (False, True):
        with pytest.raises(DataError, match="Fill it in") as caught:
            complete(given, impute=impute, fitted=True)
        assert "--drop" not in str(caught.value)
