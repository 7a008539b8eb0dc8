"""Scales of features: unit rows, standardised columns, principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cdspp.core.errors import ConfigError, DataError
from cdspp.core.names import SCALES
from cdspp.core.scaling import fit_scaling

FULL = np.random.default_rng(0).normal(3.0, 2.0, (70, 60))


def test_rows_of_unit_length_leave_empty_rows_empty() -> None:
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    expected = [[0.6, 0.8], [0.0, 0.0]]
    np.testing.assert_allclose(fit_scaling("unit", X).apply(X), expected)
    found = fit_scaling("unit", X).apply(sparse.csr_array(X))
    assert sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), expected)


def test_standardised_columns_have_mean_0_and_deviation_1_or_are_0() -> None:
    constant = np.column_stack([FULL, np.full(len(FULL), 0.1)])
    learnt = fit_scaling("standardise", constant)
    found = learnt.apply(constant)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found[:, :-1].std(axis=0), 1)
    assert not found[:, -1].any()
    new = learnt.apply(np.ones((1, 61)))
    np.testing.assert_allclose(new[0, :-1], (1 - FULL.mean(axis=0)) / FULL.std(axis=0))
    assert new[0, -1] == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_principal_components_are_centred_and_at_most_50(form: Any) -> None:
    X = form(FULL)
    learnt = fit_scaling("pca", X)
    found = learnt.apply(X)
    assert found.shape == (70, 50)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-11)
    centred = FULL - FULL.mean(axis=0)
    expected = np.linalg.svd(centred, compute_uv=False)[:50]
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), expected)
    few = fit_scaling("pca", FULL[:5])
    assert few.apply(FULL[:5]).shape == (5, 4)
    assert str(few) == "PCA to 4 components"


@pytest.mark.parametrize("kind", SCALES)
def test_rows_are_scaled_one_by_one_by_what_was_learnt(kind: str) -> None:
    learnt = fit_scaling(kind, FULL)
    together = learnt.apply(FULL)
    alone = np.vstack([learnt.apply(FULL[k : k + 1]) for k in range(len(FULL))])
    np.testing.assert_allclose(alone, together, atol=1e-12)
    with pytest.raises(DataError, match="X has 59 features, expected 60"):
        learnt.apply(FULL[:, 1:])


def test_what_cannot_be_scaled_is_refused() -> None:
    with pytest.raises(DataError, match="scale: pca: .*rows.*equal"):
        fit_scaling("pca", np.ones((4, 3)))
    with pytest.raises(DataError, match="sparse matrix.*dense"):
        fit_scaling("standardise", sparse.csr_array(FULL))
    with pytest.raises(
        ConfigError, match="one of none, .*, pca, standardise-each, got"
    ):
        fit_scaling("standardize", FULL)
