"""What holds of every method with a `SubspaceClassifier`: invariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.toy_problem import WIDE, renamed, shuffled, toy_problem, turned

from cdspp.methods import available, method_class
from cdspp.methods.shared.subspace_classifier import SubspaceRecogniser

METHODS = [
    m for m in map(method_class, available()) if issubclass(m, SubspaceRecogniser)
]
TALL: dict[str, Any] = {}

every_method = pytest.mark.parametrize("method", METHODS)


@every_method
@pytest.mark.parametrize("shape", [WIDE, TALL], ids=["wide", "tall"])
def test_the_order_of_samples_does_not_matter(method: Any, shape: dict) -> None:
    problem = toy_problem(**shape)
    other, order = shuffled(problem)
    expected, found = problem.fit(method()), other.fit(method())
    np.testing.assert_array_equal(found.transduction_, expected.transduction_[order])
    np.testing.assert_allclose(found.projection_, expected.projection_, atol=1e-8)


@every_method
def test_renaming_the_classes_renames_the_predictions(method: Any) -> None:
    problem = toy_problem()
    names = np.array([3, 0, 2, 1])
    expected, found = problem.fit(method()), renamed(problem, names).fit(method())
    np.testing.assert_array_equal(found.transduction_, names[expected.transduction_])


@every_method
@pytest.mark.parametrize("spread", [0.6, 1.0])
@pytest.mark.parametrize("width", [9, 20, 300])
def test_rotating_and_lifting_the_features_changes_nothing(
    method: Any, width: int, spread: float
) -> None:
    problem = toy_problem(spread=spread)
    other = turned(problem, width)
    expected, found = problem.fit(method()), other.fit(method())
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(
        found.predict_proba(other.X), expected.predict_proba(problem.X), atol=1e-8
    )
