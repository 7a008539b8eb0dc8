"""SVM_t: its strategies against LIBSVM's machines; Platt scaling against a formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC
from support.toy_problem import toy_problem

from cdspp import SVMT
from cdspp.methods.svm_t.platt import fit_sigmoid


def test_decision_is_one_machine_a_class_against_the_rest() -> None:
    problem = toy_problem(spread=1.0)
    X, y = problem.X[problem.labelled], problem.y[problem.labelled]
    scores = [
        SVC(kernel="linear").fit(X, y == c).decision_function(problem.X)
        for c in range(4)
    ]
    found = problem.fit(SVMT(strategy="decision")).predict(problem.X)
    np.testing.assert_array_equal(found, np.argmax(scores, axis=0))


def test_ovo_is_the_machine_of_libsvm() -> None:
    problem = toy_problem(spread=1.0)
    X, y = problem.X[problem.labelled], problem.y[problem.labelled]
    machine = SVC(kernel="linear").fit(X, y)
    found = problem.fit(SVMT(strategy="ovo")).predict(problem.X)
    np.testing.assert_array_equal(found, machine.predict(problem.X))


def test_l2_scales_rows_to_unit_length_at_fit_and_at_predict() -> None:
    problem = toy_problem(spread=1.0)
    factors = np.random.default_rng(0).uniform(0.1, 10.0, (len(problem.X), 1))
    model = SVMT(strategy="ovo", l2=True)
    expected = model.fit(problem.X, problem.y).transduction_
    found = model.fit(problem.X * factors, problem.y).transduction_
    np.testing.assert_array_equal(found, expected)
    raw = SVMT(strategy="ovo").fit(problem.X * factors, problem.y).transduction_
    assert (raw != expected).any()


def plain_loss(theta: Any, values: np.ndarray, positive: np.ndarray) -> float:
    """Return the regularised negative log-likelihood."""
    n_positive, n_negative = positive.sum(), (~positive).sum()
    high, low = (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)
    targets = np.where(positive, high, low)
    p = 1.0 / (1.0 + np.exp(theta[0] * values + theta[1]))
    return -float((targets * np.log(p) + (1 - targets) * np.log(1 - p)).sum())


@pytest.mark.parametrize("seed", range(10))
def test_platt_scaling_finds_the_minimum_of_the_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positive = np.arange(30) < 4 + seed
    values = rng.standard_normal(30) + rng.choice([1.5, 0.0, -1.0]) * positive
    found = fit_sigmoid(values, positive)
    best = minimize(plain_loss, [0.0, 0.0], (values, positive))
    np.testing.assert_allclose(found, best.x, atol=1e-3)
    assert plain_loss(found, values, positive) <= best.fun + 1e-8


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_platt_scaling_keeps_an_inverted_slope(sign: float) -> None:
    values = sign * np.array([1.0, 2.0, 1.5, -1.0, -0.5, -2.0])
    slope, _ = fit_sigmoid(values, np.arange(6) < 3)
    assert np.sign(slope) == -sign


def test_platt_scaling_of_constant_values_gives_the_share_of_the_class() -> None:
    positive = np.arange(10) < 3
    slope, offset = fit_sigmoid(np.ones(10), positive)
    p = 1.0 / (1.0 + math.exp(slope + offset))
    assert p == pytest.approx((3 * 4 / 5 + 7 / 9) / 10, abs=1e-4)


def test_platt_scaling_survives_huge_values() -> None:
    positive = np.arange(8) < 4
    values = np.where(positive, 1e8, -1e8)
    assert np.isfinite(fit_sigmoid(values, positive)).all()
