"""Unbalanced co-optimal transport: POT's plan, its limit, and where mass is left."""

from __future__ import annotations

import numpy as np
import pytest
from support.toy_problem import ToyProblem, toy_problem

from cdspp import COOT, UCOOT, SourceDomain
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import row_normalise


def scaled(X: np.ndarray) -> np.ndarray:
    return row_normalise(X) * np.sqrt(X.shape[1])


def plan_of_pot(problem: ToyProblem, relaxation: float) -> np.ndarray:
    """Return the plan of the rows, labelled target rows first."""
    gromov = pytest.importorskip("ot.gromov")
    known = problem.labelled
    X = np.vstack([problem.X[known], problem.X[~known]])
    wrong = np.zeros((len(problem.source.X), len(X)))
    wrong[:, : known.sum()] = problem.source.y[:, None] != problem.y[known]
    plan, _ = gromov.unbalanced_co_optimal_transport(
        scaled(problem.source.X),
        scaled(X),
        reg_marginals=relaxation,
        epsilon=0.2,
        unbalanced_solver="sinkhorn",
        alpha=(0.7, 0.0),
        M_samp=wrong,
        max_iter=20,
    )
    return np.asarray(plan)


@pytest.mark.parametrize("relaxation", [1.0, 10.0])
def test_a_row_has_the_shares_of_the_classes_in_the_plan_of_pot(
    relaxation: float,
) -> None:
    problem = toy_problem(spread=0.8)
    options = {"epsilon": 0.2, "label_cost": 0.7, "max_iter": 20}
    model = problem.fit(UCOOT(**options, relaxation=relaxation))
    plan, known = plan_of_pot(problem, relaxation), problem.labelled
    mass = plan.sum(axis=0)
    assert mass.min() < 0.99 * mass.max()  # it is unbalanced
    shares = plan.T @ np.eye(4)[problem.source.y] / mass[:, None]
    found = model.predict_proba(problem.X[~known])
    np.testing.assert_allclose(found, shares[known.sum() :], atol=1e-6)
    assert model.feature_plan_.shape == (problem.source.X.shape[1], problem.X.shape[1])


def test_with_masses_that_cost_much_it_is_coot() -> None:
    problem = toy_problem(spread=0.8)
    options = {"epsilon": 0.5, "max_iter": 100}
    expected = problem.fit(COOT(**options)).predict_proba(problem.X)
    near, far = (
        np.abs(
            problem.fit(UCOOT(**options, relaxation=rho)).predict_proba(problem.X)
            - expected
        ).max()
        for rho in (100.0, 10.0)
    )
    assert near < 5e-3 < far


def test_a_feature_without_a_counterpart_gives_less_of_its_mass() -> None:
    """A large constant resembles no feature of the target; COOT moves all of it."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    centres = 4 * rng.standard_normal((3, 8))
    X_source, X = (
        centres[codes] + 0.3 * rng.standard_normal((60, 8)) for _ in range(2)
    )
    X_source = np.hstack([X_source, np.full((60, 1), 20.0)])
    y = np.where(np.arange(60) < 3, codes, -1)
    source = SourceDomain(X_source, codes)
    sums = [
        model.fit(X, y, source=source).feature_plan_.sum(axis=1)
        for model in (COOT(epsilon=0.5), UCOOT(epsilon=0.5, relaxation=1.0))
    ]
    np.testing.assert_allclose(sums[0], 1 / 9, rtol=1e-3)
    assert sums[1][-1] < 0.5 * sums[1][:-1].min()


def test_iterations_that_underflow_are_a_failure_with_a_remedy() -> None:
    with pytest.raises(MethodFailed, match="underflow.*epsilon"):
        toy_problem().fit(UCOOT(epsilon=1e-4))
