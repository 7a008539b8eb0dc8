r"""Multiple-kernel learning over augmented features, which HFA and SHFA share.

Both learn a matrix ``H = trace_bound * sum_m d_m h_m h_m^T``, one direction h_m after
another, with a machine whose kernel is ``K + sum_m d_m g_m g_m^T`` for the columns
``g_m = sqrt(trace_bound) K^{1/2} h_m``. Neither H nor a matrix root is formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from cdspp.core.linalg import squared_distances
from cdspp.core.storage import storable
from cdspp.methods.base import Float, Int

__all__ = [
    "AugmentedMachine",
    "GaussianKernel",
    "Schedule",
    "Solution",
    "TargetExpansion",
    "add_columns",
    "cold_start",
    "gaussian",
    "generate_columns",
    "next_weights",
    "root_sums",
    "symmetric_root",
]

# Rows of unit length with a mean squared distance below this differ by rounding alone.
ROUNDING = 1e-13


class GaussianKernel:
    """Gaussian kernel ``exp(-gamma |a - b|^2)`` of rows of unit length.

    Gamma is one over the mean of all n^2 squared distances; zero if all rows are equal.
    """

    def __init__(self, X: Float) -> None:
        distances = squared_distances(X, X)
        mean = distances.mean()
        self.X, self.gamma = X, 1.0 / mean if mean > ROUNDING else 0.0
        distances *= -self.gamma
        self.gram: Float = np.exp(distances, out=distances)


def gaussian(X: Float, rows: Float, gamma: float) -> Float:
    """Return the Gaussian kernel of two sets of rows, of shape (len(X), len(rows))."""
    return np.asarray(np.exp(-gamma * squared_distances(X, rows)))


@storable
@dataclass(frozen=True, eq=False)
class TargetExpansion:
    """Decision values of target rows x: ``k(x, rows) @ coefficients + intercepts``."""

    rows: Float
    gamma: float
    coefficients: Float
    intercepts: Float

    def predict(self, X: Float) -> Int:
        """Return the code of the largest decision value, ties to the first class."""
        kernel = gaussian(X, self.rows, self.gamma)
        return np.asarray((kernel @ self.coefficients + self.intercepts).argmax(axis=1))


@dataclass(frozen=True)
class Schedule:
    """When to stop: ``|d|_p <= 1``, columns, steps a column, relative changes."""

    p: float
    max_iter: int
    max_inner_iter: int
    tol: float

    def converged(self, objective: float, previous: float) -> bool:
        """Return whether the objective has stopped changing."""
        return abs(objective - previous) <= self.tol * abs(objective)


@dataclass(frozen=True, eq=False)
class Solution:
    """A machine solved for fixed weights of its columns.

    The `dual` variables are signed or not as the method likes; `strengths` holds their
    quadratic form with the kernel of each column.
    """

    weights: Float
    dual: Float
    strengths: Float
    objective: float
    offset: float = 0.0


class AugmentedMachine(ABC):
    """A class against the others: solved for given weights of columns, one at first.

    A column (n,) comes with its expansion in the target rows, the last ones of the fit;
    `scale` is the square root of the trace bound.
    """

    def __init__(self, first: tuple[Float, Float], scale: float) -> None:
        self._columns, self._expansions = (vector[:, None] for vector in first)
        self._scale = scale

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return len(self._columns.T)

    @abstractmethod
    def solve(self, weights: Float) -> Solution:
        """Solve the machine with the columns weighted."""

    @abstractmethod
    def extend(self, solution: Solution) -> bool:
        """Add the column that `solution` violates most; return whether there is one."""

    @abstractmethod
    def expansion(self, solution: Solution) -> tuple[Float, float]:
        """Return the coefficients of the target rows and the constant."""

    def _add(self, dual: Float, column: Float) -> bool:
        """Add the column of signed dual variables, to be scaled, unless it is zero."""
        norm = float(dual @ column)
        if norm <= 0:
            return False
        factor = self._scale / np.sqrt(norm)
        expansion = dual[-len(self._expansions) :]
        self._columns = np.column_stack([self._columns, factor * column])
        self._expansions = np.column_stack([self._expansions, factor * expansion])
        return True


def cold_start(n_columns: int, p: float) -> Float:
    """Return equal weights of p-norm one."""
    return np.full(n_columns, n_columns ** (-1.0 / p))


def next_weights(weights: Float, strengths: Float, p: float) -> Float:
    r"""Return the closed-form weights of lp-norm multiple-kernel learning.

    .. math:: d_m \propto (d_m \sqrt{q_m})^{2 / (p + 1)}, \quad \lVert d \rVert_p = 1

    Weights stay as they are where no column has any strength.
    """
    powers = (weights * np.sqrt(np.maximum(strengths, 0.0))) ** (2.0 / (p + 1.0))
    norm = float(np.sum(powers**p) ** (1.0 / p))
    return powers / norm if norm > 0 else weights


def _learn_weights(machine: AugmentedMachine, schedule: Schedule) -> Solution:
    """Alternate the machine and its weights, from equal weights."""
    solution = machine.solve(cold_start(machine.n_columns, schedule.p))
    for _ in range(schedule.max_inner_iter - 1):
        previous = solution
        weights = next_weights(previous.weights, previous.strengths, schedule.p)
        solution = machine.solve(weights)
        if schedule.converged(solution.objective, previous.objective):
            break
    return solution


def generate_columns(machine: AugmentedMachine, schedule: Schedule) -> Solution:
    """Add columns until the objective settles; return the last solution.

    The weights restart from equal ones after each column, hence the objective does not
    decrease monotonically.
    """
    solution = _learn_weights(machine, schedule)
    for _ in range(schedule.max_iter - 1):
        if not machine.extend(solution):
            break
        previous, solution = solution, _learn_weights(machine, schedule)
        if schedule.converged(solution.objective, previous.objective):
            break
    return solution


def add_columns(K: Float, columns: Float, weights: Float) -> None:
    """Add ``columns @ diag(weights) @ columns.T`` to the C-ordered square `K`."""
    scaled = np.asfortranarray(columns * np.sqrt(weights))
    linalg.blas.dgemm(
        1.0, scaled, scaled, beta=1.0, c=K.T, trans_b=True, overwrite_c=True
    )


def root_sums(K: Float) -> tuple[Float, Float]:
    """Return ``R 1`` and ``R^+ 1`` for the symmetric root R of `K`.

    Negative eigenvalues of `K` count as zero, and so do, in the pseudo-inverse,
    singular values of R below n spacings of the largest.
    """
    values, vectors = linalg.eigh(K, check_finite=False)
    roots = np.sqrt(np.maximum(values, 0.0))
    sums = vectors.sum(axis=0)
    kept = roots > len(K) * np.spacing(roots[-1])
    inverse = vectors[:, kept] @ (sums[kept] / roots[kept])
    return np.asarray(vectors @ (roots * sums)), np.asarray(inverse)


def symmetric_root(A: Float) -> Float:
    """Return the symmetric root of `A`, whose negative eigenvalues count as zero."""
    values, vectors = linalg.eigh(A, check_finite=False)
    vectors *= np.maximum(values, 0.0) ** 0.25
    return np.asarray(vectors @ vectors.T)
