"""NN_t: its training by plain formulas, and what it sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from support.toy_problem import ToyProblem, toy_problem

from cdspp import NNT
from cdspp.core.linalg import row_normalise


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load torch when the first test here runs, not when tests are collected."""
    global torch, layers, losses
    torch = pytest.importorskip("torch")
    layers = pytest.importorskip("cdspp.methods.networks.layers")
    losses = pytest.importorskip("cdspp.methods.networks.losses")


PROBLEM = toy_problem(spread=0.8)


def small(**options: Any) -> NNT:
    given = {"n_components": 12, "max_iter": 60, "device": "cpu", "random_state": 3}
    return NNT(**{**given, **options})


def first_weights(width: int, k: int, n_classes: int) -> list[np.ndarray]:
    """Return both weights, then both biases, as the seed 3 draws them."""
    setup = layers.TrainingContext("cpu", 3)
    shapes = (width, k), (k, n_classes), (k,), (n_classes,)
    drawn = (losses.truncated_normal(setup, *shape).numpy() for shape in shapes)
    return [values.astype(float) for values in drawn]


def plain_training(model: NNT, problem: ToyProblem) -> tuple[list[float], np.ndarray]:
    """Train in double precision: the losses, and probabilities of all target rows."""
    X, y = row_normalise(problem.X[problem.labelled]), problem.y[problem.labelled]
    n, Y = len(y), np.eye(4)[y]
    weights = first_weights(X.shape[1], model.n_components, 4)
    means, squares = ([np.zeros_like(w) for w in weights] for _ in range(2))
    curve = []

    def outputs(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inner = rows @ weights[0] + weights[2]
        return inner, np.where(inner > 0, inner, 0.2 * inner) @ weights[1] + weights[3]

    for t in range(1, model.max_iter + 1):
        inner, scores = outputs(X)
        hidden = np.where(inner > 0, inner, 0.2 * inner)
        penalty = model.tau / 2 * sum((w**2).sum() for w in weights[:2])
        curve.append(-(Y * log_softmax(scores, axis=1)).sum() / n + penalty)
        G = (softmax(scores, axis=1) - Y) / n
        B = (G @ weights[1].T) * np.where(inner > 0, 1.0, 0.2)
        slopes = [X.T @ B, hidden.T @ G, B.sum(axis=0), G.sum(axis=0)]
        slopes[0] += model.tau * weights[0]
        slopes[1] += model.tau * weights[1]
        step = model.learning_rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        for w, m, v, slope in zip(weights, means, squares, slopes, strict=True):
            m += 0.1 * (slope - m)
            v += 0.001 * (slope**2 - v)
            w -= step * m / (np.sqrt(v) + 1e-8)
    return curve, softmax(outputs(row_normalise(problem.X))[1], axis=1)


def test_it_is_trained_as_the_plain_formulas_say() -> None:
    model = PROBLEM.fit(small(tau=0.01))
    curve, probabilities = plain_training(model, PROBLEM)
    np.testing.assert_allclose(model.loss_curve_, curve, rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(PROBLEM.X), probabilities, atol=1e-4)
    assert curve[-1] < 0.5 * curve[0]
    assert model.n_iter_ == 60
