"""SVM_t: its strategies against LIBSVM itself; Platt scaling against a formula."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from support.known_answers.known_problems import digits_problem

from cdspp import SVMT
from cdspp.core.linalg import row_normalise
from cdspp.methods.svm_t import fit_sigmoid, gnu_random

# What LIBSVM 3.37 says of the digits case, with ``srand(1)`` before each training.
LIBSVM = json.loads(
    (Path(__file__).parents[1] / "support/known_answers/libsvm.json").read_text()
)


def test_the_generator_is_that_of_the_gnu_c_library() -> None:
    first = [1804289383, 846930886, 1681692777, 1714636915, 1957747793]
    assert gnu_random(5) == first
    assert gnu_random(10_001)[-1] == LIBSVM["rand_10001"]
    assert gnu_random(3, 42) == LIBSVM["rand_of_42"]


@pytest.mark.parametrize("l2", [False, True])
def test_platt_scores_are_the_probabilities_of_libsvm(l2: bool) -> None:
    problem = digits_problem()
    X = row_normalise(problem.X) if l2 else problem.X
    model = problem.fit(SVMT(strategy="platt", l2=l2))
    rows = X[problem.labelled]
    machines = zip(model._machines, model._sigmoids, model._signs, strict=True)
    found = [
        1 / (1 + np.exp(sign * (slope * machine.decision_values(X @ rows.T) + offset)))
        for machine, (slope, offset), sign in machines
    ]
    expected = LIBSVM["unit rows" if l2 else "rows"]
    last = np.flatnonzero(problem.unlabelled)[::10]
    # LIBSVM stops at a violation of 1e-3, and decides the order of its own sums.
    np.testing.assert_allclose(np.array(found)[:, last], expected, rtol=0, atol=2e-3)
    labels = np.argmax(expected, axis=0)
    np.testing.assert_array_equal(model.transduction_[last], model.classes_[labels])


def plain_loss(theta: Any, values: np.ndarray, positive: np.ndarray) -> float:
    """Return the regularised negative log-likelihood."""
    n_positive, n_negative = positive.sum(), (~positive).sum()
    high, low = (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2)
    targets = np.where(positive, high, low)
    p = 1.0 / (1.0 + np.exp(theta[0] * values + theta[1]))
    return -float((targets * np.log(p) + (1 - targets) * np.log(1 - p)).sum())


@pytest.mark.parametrize("seed", range(3))
def test_platt_scaling_finds_the_minimum_of_the_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positive = np.arange(30) < 4 + seed
    values = rng.standard_normal(30) + rng.choice([1.5, 0.0, -1.0]) * positive
    found = fit_sigmoid(values, positive)
    best = minimize(plain_loss, [0.0, 0.0], (values, positive))
    np.testing.assert_allclose(found, best.x, atol=1e-3)
    assert plain_loss(found, values, positive) <= best.fun + 1e-8


def test_platt_scaling_of_constant_values_gives_the_share_of_the_class() -> None:
    positive = np.arange(10) < 3
    slope, offset = fit_sigmoid(np.ones(10), positive)
    p = 1.0 / (1.0 + math.exp(slope + offset))
    assert p == pytest.approx((3 * 4 / 5 + 7 / 9) / 10, abs=1e-4)
