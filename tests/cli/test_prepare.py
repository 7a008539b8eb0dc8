"""Missing numbers and scales: what is done to features before the method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cdspp.cli.prepare import SCALES, complete, fit_scaling
from cdspp.cli.tabular import DomainRows
from cdspp.core.errors import DataError

RNG = np.random.default_rng(0)
FULL = RNG.normal(3.0, 2.0, (70, 60))


def rows(X: Any, features: tuple[str, ...] = (), first: int = 2) -> DomainRows:
    """Return rows as if read from a file."""
    found = np.asarray(X, dtype=float)
    ids = [str(k) for k in range(len(found))]
    records = range(first, first + len(found))
    return DomainRows("f.csv", found, ids, ["c"] * len(found), features, records)


def test_gaps_become_the_mean_of_what_is_known_in_their_column() -> None:
    gappy = rows([[1.0, np.nan], [np.inf, 5.0], [3.0, 7.0]])
    found = complete(gappy, impute=True)
    np.testing.assert_array_equal(found.X, [[1, 6], [2, 5], [3, 7]])
    assert found.told("target").endswith("2 features, 2 numbers imputed")
    kept = complete(gappy, impute=True, means=np.array([10.0, 20.0]))
    np.testing.assert_array_equal(kept.X, [[1, 20], [10, 5], [3, 7]])


def test_rows_without_gaps_are_left_alone() -> None:
    given = rows(FULL)
    assert complete(given, impute=True) is given


@pytest.mark.parametrize(
    ("given", "impute", "message"),
    [
        (rows([[1, 2], [np.nan, 4]], ("a", "b")), False, "f.csv: record 3, column 'a'"),
        (rows([[1, 2], [3, np.nan]]), False, "f.csv: row 2, feature 2: the number is "),
        (rows([[1, -np.inf]], ("a", "b")), False, "column 'b': -inf is not finite (of"),
        (rows([[np.nan, 4]]), False, "or take the means of columns with --impute"),
        (rows([[np.nan, 4]], ("a", "b")), True, "column 'a': the column has no number"),
    ],
)
def test_a_gap_is_refused_with_its_place(
    given: DomainRows, impute: bool, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        complete(given, impute=impute)
    assert message in str(caught.value)


def test_rows_of_unit_length_leave_empty_rows_empty() -> None:
    given = rows([[3.0, 4.0], [0.0, 0.0]])
    found = fit_scaling("unit", given).apply(given)
    np.testing.assert_allclose(found.X, [[0.6, 0.8], [0.0, 0.0]])


def test_standardised_columns_have_mean_0_and_deviation_1_or_are_0() -> None:
    constant = np.column_stack([FULL, np.full(len(FULL), 0.1)])
    learnt = fit_scaling("standardise", rows(constant))
    found = learnt.apply(rows(constant)).X
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, :-1].std(axis=0), 1)
    assert not found[:, -1].any()
    new = learnt.apply(rows(np.ones((1, 61)))).X
    np.testing.assert_allclose(new[0, :-1], (1 - FULL.mean(axis=0)) / FULL.std(axis=0))
    assert new[0, -1] == 0


def test_principal_components_are_centred_and_at_most_50() -> None:
    learnt = fit_scaling("pca", rows(FULL))
    found = learnt.apply(rows(FULL)).X
    assert found.shape == (70, 50)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    centred = FULL - FULL.mean(axis=0)
    expected = np.linalg.svd(centred, compute_uv=False)[:50]
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), expected)
    few = fit_scaling("pca", rows(FULL[:5])).apply(rows(FULL[:5]))
    assert few.X.shape == (5, 4)
    assert few.told("source").endswith("60 features, PCA to 4 components")


@pytest.mark.parametrize("kind", SCALES)
def test_rows_are_scaled_one_by_one_by_what_was_learnt(kind: str) -> None:
    learnt = fit_scaling(kind, rows(FULL))
    together = learnt.apply(rows(FULL)).X
    alone = np.vstack([learnt.apply(rows(FULL[k : k + 1])).X for k in range(len(FULL))])
    np.testing.assert_allclose(alone, together, atol=1e-12)
    with pytest.raises(DataError, match="X has 59 features, but the model was fitted "):
        learnt.apply(rows(FULL[:, 1:]))


def test_rows_that_are_all_equal_have_no_components() -> None:
    with pytest.raises(DataError, match="f.csv: --scale pca: "):
        fit_scaling("pca", rows(np.ones((5, 3))))
