"""Formulas that several methods share, one pair or one sample after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


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
    """Return which samples of one predicted class are taken, by scalar arithmetic."""
    m = len(confidences)
    threshold = sorted(confidences)[min(m - 1, math.floor(m * (1 - share)))]
    return [i for i, value in enumerate(confidences) if value >= threshold]


def landmark_objective(program: Any, x: np.ndarray) -> float:
    """Return the objective of a program of landmark weights, without its constant."""
    return float(0.5 * x @ program.product(x) + program.linear @ x)
