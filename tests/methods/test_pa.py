"""PA: enough directions, weights beyond the arithmetic, its cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.toy_problem import ToyProblem, toy_problem

from cdspp import PA
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import principal_axes
from cdspp.methods.cost import Size
from cdspp.methods.pa import _complete_basis


def wide_toy(**changes: Any) -> ToyProblem:
    """Return a problem with enough directions for more than one coefficient."""
    sizes = {"d_source": 60, "d_target": 40, "spread": 0.4, "unlabelled_per_class": 6}
    return toy_problem(**{**sizes, **changes})


def quick(**options: Any) -> PA:
    """Return PA with few codings and atoms."""
    return PA(**{"n_atoms": 40, "max_iter": 4, "random_state": 0, **options})


@pytest.mark.parametrize("sizes", [(60, 40), (40, 60), (50, 50)])
def test_separated_classes_are_recognised(sizes: tuple[int, int]) -> None:
    problem = wide_toy(d_source=sizes[0], d_target=sizes[1], labelled_per_class=1)
    model = problem.fit(quick())
    assert problem.accuracy(model) > 0.9
    assert len(model.history_) == model.n_iter_ == 3
    assert all(entry.confidence is None for entry in model.history_)


def test_the_axes_of_the_labelled_rows_serve_a_wider_target() -> None:
    problem = wide_toy(d_source=40, d_target=60)
    model = problem.fit(quick(target_axes="labelled"))
    assert problem.accuracy(model) > 0.9


def test_axes_are_filled_up_by_the_first_features_that_they_lack() -> None:
    axes = principal_axes(np.random.default_rng(0).random((4, 30)), 20)
    filled = _complete_basis(axes, 20)
    assert_allclose(filled[:, :3], axes)
    assert_allclose(filled.T @ filled, np.eye(20), atol=1e-12)
    features = np.eye(30, 17)
    assert_allclose(filled @ (filled.T @ features), features, atol=1e-12)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_weights_beyond_the_arithmetic_are_named() -> None:
    with pytest.raises(MethodFailed, match="lower alpha"):
        wide_toy().fit(quick(alpha=1e308))


def test_the_cost_grows_with_rows_and_with_the_wider_domain() -> None:
    small = Size("", 10, 100, 50, 30, 300, 60)
    rows = Size("", 10, 200, 50, 30, 300, 60)
    wide = Size("", 10, 100, 50, 30, 300, 600)
    for larger in (rows, wide):
        assert PA.cost(larger)[0] > PA.cost(small)[0]
        assert PA.cost(larger)[1] > PA.cost(small)[1]
