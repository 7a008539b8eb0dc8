"""Literal versions of shared formulas: per sample or pair, or for networks in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from support.toy_problem import toy_problem

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Problem


def literal_graph(X: np.ndarray, n_neighbors: int = 5) -> np.ndarray:
    """Return the heat kernel graph of nearest neighbours, pair by pair."""
    n = len(X)
    D = [[math.dist(a, b) for b in X] for a in X]
    t = sum(map(sum, D)) / n**2
    W = np.zeros((n, n))
    for i in range(n):
        nearest = sorted(range(n), key=lambda j, i=i: (D[i][j], j))[: n_neighbors + 1]
        for j in nearest:
            if i != j:
                weight = math.exp(-(D[i][j] ** 2) / (2 * t**2)) if t else 1.0
                W[i, j] = max(W[i, j], weight)
                W[j, i] = max(W[j, i], weight)
    return W


def literal_laplacian(W: np.ndarray) -> np.ndarray:
    """Return row sums on the diagonal, minus the weights."""
    return np.diag(W.sum(axis=1)) - W


def literal_selection(confidences: list[float], share: float) -> list[int]:
    """Return the selected samples of one predicted class, by scalar arithmetic."""
    m = len(confidences)
    threshold = sorted(confidences)[min(m - 1, math.floor(m * (1 - share)))]
    return [i for i, value in enumerate(confidences) if value >= threshold]


def landmark_objective(program: Any, x: np.ndarray) -> float:
    """Return the objective of a program of landmark weights, without its constant."""
    return float(0.5 * x @ program.product(x) + program.linear @ x)


def scalar_kernel(A: np.ndarray, B: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the Gaussian kernel, one pair after another."""
    mean = np.mean([np.sum((a - b) ** 2) for a in rows for b in rows])
    return np.array([[np.exp(-np.sum((a - b) ** 2) / mean) for b in B] for a in A])


def scalar_blocks(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the block diagonal kernel of the rows of two domains."""
    K = np.zeros((len(A) + len(B),) * 2)
    K[: len(A), : len(A)] = scalar_kernel(A, A, A)
    K[len(A) :, len(A) :] = scalar_kernel(B, B, B)
    return K


def decision_values(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the decision values of a fitted model."""
    expansion = model._values
    kernel = rbf_kernel(row_normalise(X), expansion.rows, expansion.gamma)
    return kernel @ expansion.coefficients + expansion.intercepts


def settled(trace: list[float]) -> bool:
    """Return whether the last value is within 0.1 % of the one before."""
    return len(trace) > 1 and abs(trace[-1] - trace[-2]) <= 1e-3 * abs(trace[-1])


def tiny_problem(**options: Any) -> Problem:
    """Return a problem of three classes with two labelled rows each, prepared."""
    sizes = {"n_classes": 3, "source_per_class": 2, "labelled_per_class": 2}
    return toy_problem(d_source=4, d_target=3, **sizes, **options).prepared()


def affine(layer: Any, X: np.ndarray) -> np.ndarray:
    """Return the output of a layer before its rectifier."""
    weight, bias = (part.detach().numpy() for part in (layer.weight, layer.bias))
    return X @ weight.T + bias


def leaky(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 0.2 * values)


def codes(network: Any, problem: Problem) -> list[np.ndarray]:
    normalised = []
    for encoder, X in (
        (network.source, problem.X_source),
        (network.target, problem.X_labelled),
        (network.target, problem.X_unlabelled),
    ):
        Z = leaky(affine(encoder.second, leaky(affine(encoder.first, X))))
        normalised.append(Z / np.linalg.norm(Z, axis=1, keepdims=True))
    return normalised


def slopes(parameter: Any, entry: int, values: Callable[[], Any]) -> np.ndarray:
    """Return the slopes of a function's results along an entry of a parameter."""
    weights, step, ends = parameter.data.view(-1), 1e-6, []
    for sign in (1, -1):
        weights[entry] += sign * step
        ends.append(np.array(values()))
        weights[entry] -= sign * step
    return (ends[0] - ends[1]) / (2 * step)
