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


def quadratic(scales: Any) -> Any:
    """Return half the weighted squared norm."""
    return lambda x: (float(0.5 * x @ (scales * x)), scales * x)


def rosenbrock(x: np.ndarray) -> Value:
    """Return the curved valley of textbooks; its minimum is zero at one."""
    a, b = 1.0 - x[:-1], x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[:-1] += -2.0 * a - 400.0 * b * x[:-1]
    gradient[1:] += 200.0 * b
    return float(a @ a + 100.0 * b @ b), gradient


def test_the_first_trial_is_the_gradient_over_its_squared_norm() -> None:
    objective, seen = watched(quadratic(np.array([1.0, 4.0])))
    start = np.array([3.0, -2.0])
    minimise(objective, start, 1)
    gradient = np.array([3.0, -8.0])
    np.testing.assert_allclose(seen[1], start - gradient / 73.0, rtol=1e-14)


def dense_direction(pairs: list[tuple[np.ndarray, np.ndarray]], g: Any) -> np.ndarray:
    """Return the BFGS direction by its matrix, scaled by the oldest of the pairs."""
    step, change = pairs[0]
    inverse = np.eye(len(g)) * (step @ change) / (change @ change)
    for step, change in pairs:
        rho = 1.0 / (step @ change)
        left = np.eye(len(g)) - rho * np.outer(step, change)
        inverse = left @ inverse @ left.T + rho * np.outer(step, step)
    return -inverse @ g


@pytest.mark.parametrize("n_line_searches", [2, 3, 5, 6, 9])
def test_directions_are_those_of_the_last_four_pairs(n_line_searches: int) -> None:
    scales = np.geomspace(1.0, 300.0, 12)
    start = np.random.default_rng(0).standard_normal(12)
    counts = range(n_line_searches + 1)
    *ends, last = (minimise(quadratic(scales), start, k)[0] for k in counts)
    steps = np.diff(ends, axis=0)
    pairs = list(zip(steps, scales * steps, strict=True))
    found = last - ends[-1]
    expected = dense_direction(pairs[-4:], scales * ends[-1])
    expected *= (found @ expected) / (expected @ expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)


def test_the_trace_descends_to_the_minimum() -> None:
    x, trace = minimise(rosenbrock, np.array([-1.2, 1.0]), 200)
    assert all(np.diff(trace) <= 0.0)
    np.testing.assert_allclose(x, 1.0, atol=1e-6)
    assert trace[-1] == pytest.approx(rosenbrock(x)[0])


@pytest.mark.parametrize("n_line_searches", [1, 4, 20])
def test_a_search_is_counted_and_so_is_an_evaluation(n_line_searches: int) -> None:
    objective, calls = watched(rosenbrock)
    _, trace = minimise(objective, np.array([-1.2, 1.0]), n_line_searches)
    assert len(trace) == n_line_searches + 1
    assert len(calls) <= 1 + MAX_EVALUATIONS * n_line_searches


def test_the_same_start_gives_the_same_bits() -> None:
    start = np.array([-1.2, 1.0, 0.5, 2.0])
    first, second = (minimise(rosenbrock, start, 15) for _ in range(2))
    assert first[1] == second[1]
    np.testing.assert_array_equal(start, [-1.2, 1.0, 0.5, 2.0])


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


def test_a_zero_gradient_ends_the_search() -> None:
    objective, calls = watched(rosenbrock)
    x, trace = minimise(objective, np.ones(3), 20)
    assert trace == [0.0]
    assert len(calls) == 1


def test_a_hole_inside_the_interval_is_left_on_the_side_of_the_start() -> None:
    def objective(x: np.ndarray) -> Value:
        if 1.0 < abs(x[0]) < 30.0:
            return math.nan, np.full(1, math.nan)
        return float((x[0] - 0.5) ** 2), 2.0 * (x - 0.5)

    x, trace = minimise(objective, np.array([-40.0]), 20)
    assert np.isfinite([*trace, *x]).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-150, 1e30, 1e150])
def test_extreme_scales_give_no_nan(scale: float) -> None:
    objective = quadratic(np.array([scale, 3.0 * scale]))
    with np.errstate(all="ignore"):
        x, trace = minimise(objective, np.array([1.0, 2.0]), 20)
    assert np.isfinite(x).all()
    assert trace[-1] <= trace[0]


def test_a_function_without_a_minimum_stays_finite() -> None:
    x, trace = minimise(quadratic(np.array([-1.0, -1.0])), np.array([1.0, 0.5]), 20)
    assert np.isfinite(trace).all()
    assert trace[-1] < -1.0
