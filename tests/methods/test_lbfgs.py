"""The optimiser: its steps against plain algebra, its stops, points without a value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cdspp.methods.ddacl.lbfgs import MAX_EVALUATIONS, minimise

Value = tuple[float, np.ndarray]


def watched(objective: Any) -> tuple[Any, list[np.ndarray]]:
    """Return the function, and the points that it will be evaluated at."""
    seen: list[np.ndarray] = []

    def evaluate(x: np.ndarray) -> Value:
        seen.append(x)
        return objective(x)

    return evaluate, seen


def rosenbrock(x: np.ndarray) -> Value:
    """Return the curved valley of textbooks; its minimum is zero at one."""
    a, b = 1.0 - x[:-1], x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[:-1] += -2.0 * a - 400.0 * b * x[:-1]
    gradient[1:] += 200.0 * b
    return float(a @ a + 100.0 * b @ b), gradient


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_point_without_a_value_is_shrunk_back_from(bad: float) -> None:
    def objective(x: np.ndarray) -> Value:
        if x[0] > 1.0:
            return bad, np.full(1, math.nan)
        return -float(x[0]) / 100.0, np.full(1, -0.01)

    x, trace = minimise(objective, np.zeros(1), 20)
    assert 0.9 < x[0] <= 1.0
    assert np.isfinite(trace).all()


def test_without_any_finite_neighbour_the_start_is_kept() -> None:
    def objective(x: np.ndarray) -> Value:
        value = 1.0 if not x.any() else math.nan
        return value, np.array([1.0, -1.0])

    objective, calls = watched(objective)
    x, trace = minimise(objective, np.zeros(2), 20)
    np.testing.assert_array_equal(x, 0.0)
    assert len(calls) == 1 + MAX_EVALUATIONS
    assert trace == [1.0, 1.0]


def test_after_a_failure_the_steepest_descent_is_tried_once() -> None:
    start = np.array([-1.2, 1.0])
    counted, calls = watched(rosenbrock)
    healthy, _ = minimise(counted, start, 3)
    n_healthy = len(calls)

    def rising(x: np.ndarray) -> Value:
        value, gradient = rosenbrock(x)
        # No step of the fourth search and after it descends.
        return (value if len(seen) <= n_healthy else 1e9), gradient

    objective, seen = watched(rising)
    x, trace = minimise(objective, start, 20)
    assert len(trace) == 3 + 1 + 2
    np.testing.assert_array_equal(x, healthy)
    steepest = seen[n_healthy + MAX_EVALUATIONS] - healthy
    gradient = rosenbrock(healthy)[1]
    cosine = -(steepest @ gradient) / np.linalg.norm(steepest)
    assert cosine == pytest.approx(np.linalg.norm(gradient))
