"""What the tests of HFA and SHFA share: scalar kernels, decision values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from cdspp.core.linalg import row_normalise


def scalar_kernel(A: np.ndarray, B: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the Gaussian kernel of the page, one pair after another."""
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
