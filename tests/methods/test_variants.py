"""CDSPP's variants, and options out of range."""

from __future__ import annotations

import numpy as np
from support.toy_problem import WIDE, toy_problem, variant

from cdspp import CDSPP, CDSPPPCA, TargetOnly


def test_target_only_never_looks_at_the_source() -> None:
    problem = toy_problem()
    noise = np.random.default_rng(5).standard_normal(problem.source.X.shape)
    other = variant(problem, X_source=noise)
    expected, found = problem.fit(TargetOnly()), other.fit(TargetOnly())
    np.testing.assert_array_equal(found.projection_, expected.projection_)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    alone = CDSPP().fit(problem.X, problem.y)
    np.testing.assert_array_equal(alone.transduction_, expected.transduction_)


def test_principal_components_are_fitted_without_labels_on_each_domain() -> None:
    problem = toy_problem(**WIDE)
    model = problem.fit(CDSPPPCA(pca_components=5))
    assert model.projection_.shape == (5, 4)
    assert model.projection_source_.shape == (5, 4)

    def reduce(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        centred = X - rows.mean(axis=0)
        axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:5]
        return centred @ axes.T

    X_source = reduce(problem.source.X, problem.source.X)
    by_hand = variant(problem, X=reduce(problem.X, problem.X), X_source=X_source)
    expected = by_hand.fit(CDSPP())
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-8)
