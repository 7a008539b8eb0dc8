"""CDSPP's variants, and options out of range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toy_problem import WIDE, toy_problem, variant

from cdspp import CDSPP, CDSPPPCA, CDSPPSup, SourceDomain, TargetOnly


def test_target_only_never_looks_at_the_source() -> None:
    problem = toy_problem()
    noise = np.random.default_rng(5).standard_normal(problem.source.X.shape)
    other = variant(problem, source=SourceDomain(noise, problem.source.y))
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

    source = SourceDomain(reduce(problem.source.X, problem.source.X), problem.source.y)
    by_hand = variant(problem, X=reduce(problem.X, problem.X), source=source)
    expected = by_hand.fit(CDSPP())
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-8)


def test_source_rows_of_another_width_are_refused_in_transform_source() -> None:
    problem = toy_problem()
    model = problem.fit(CDSPPSup())
    with pytest.raises(
        ValueError, match="X has 7 features, but CDSPPSup was fitted on"
    ):
        model.transform_source(problem.X)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("alpha", 0.0),
        ("n_components", 0),
        ("max_iter", 0),
        ("selection", "none"),
        ("eigenvector_scaling", "two"),
        ("center", "yes"),
        ("classifier", object()),
    ],
)
def test_an_option_out_of_range_is_named(option: str, value: Any) -> None:
    problem = toy_problem()
    with pytest.raises(ValueError, match=f"'{option}' parameter of CDSPP must be"):
        problem.fit(CDSPP(**{option: value}))
