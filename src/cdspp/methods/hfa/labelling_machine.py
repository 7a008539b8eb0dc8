"""The machine of SHFA for one class: kernels of guessed labellings and directions.

Its quadratic problems, ``min a^T Q a / 2`` over the simplex for similar matrices Q, are
solved by LIBSVM or exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import diagonal
from cdspp.methods.base import Float, Int
from cdspp.methods.hfa.augmented_kernels import AugmentedMachine, Solution, add_columns
from cdspp.methods.hfa.libsvm import one_class

__all__ = [
    "ExactSolver",
    "LabellingKernels",
    "LabellingMachine",
    "LibsvmSolver",
    "ratio_labels",
]

TOLERANCE = 1e-10
# Rounds without progress before rows are swapped one at a time.
PATIENCE = 3
# Exchanges allowed for each row before rounding is to blame.
EXCHANGES = 10
# Candidate labellings are scored this many at a time.
CHUNK = 256


class LibsvmSolver:
    """LIBSVM's one-class machine for n rows, whose upper bounds never bind.

    The sum of the solution is n times one over n as printed with five digits: that is
    where the authors' code starts LIBSVM, and with its tolerance the start shows.
    """

    def __init__(self, n: int, tol: float) -> None:
        self._nu = float(f"{1.0 / n:.5g}")
        self._tol = tol

    def minimise(self, Q: Float) -> Float:
        """Return the minimiser for a positive definite `Q`, within the tolerance."""
        if len(Q) == 1:
            return np.ones(1)
        return one_class(Q, self._nu, self._tol).dual


class ExactSolver:
    """Block principal pivoting, started from the support of the problem before.

    ``v = a / (a^T Q a)`` solves the complementarity problem ``Q v >= 1``, ``v >= 0``,
    ``v^T (Q v - 1) = 0``: one Cholesky factor for each exchange of rows, usually a few.
    Where the number of violated conditions has not fallen for three exchanges, rows are
    exchanged one at a time, which is finite.
    """

    def __init__(self, n: int) -> None:
        self._support = np.ones(n, dtype=bool)

    def minimise(self, Q: Float) -> Float:
        """Return the minimiser for a positive definite `Q`, but for rounding."""
        support = self._support
        fewest, patience = len(Q) + 1, PATIENCE
        for _ in range(EXCHANGES * len(Q)):
            v, wrong = _solve_on(Q, support)
            if not len(wrong):
                self._support = support
                return np.asarray(v / v.sum())
            if len(wrong) < fewest:
                fewest, patience = len(wrong), PATIENCE
            elif patience:
                patience -= 1
            swapped = wrong if patience else wrong[-1:]
            support = support.copy()
            support[swapped] = ~support[swapped]
        raise MethodFailed("principal pivoting does not settle: choose lower costs")


def _solve_on(Q: Float, support: NDArray[np.bool_]) -> tuple[Float, Int]:
    """Return ``Q v = 1`` solved on `support`, and the rows that contradict it."""
    rows = np.flatnonzero(support)
    v = np.zeros(len(Q))
    # Rows first, then columns: several times faster than both at once. The transpose
    # of what is symmetric has the order of LAPACK, which works in place.
    among = Q.take(rows, axis=0).take(rows, axis=1).T
    try:
        factor = linalg.cho_factor(among, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise MethodFailed("the kernel is singular: choose lower costs") from error
    v[rows] = linalg.cho_solve(factor, np.ones(len(rows)), check_finite=False)
    slack = Q @ v - 1.0
    return v, np.flatnonzero(np.where(support, v < 0, slack < -TOLERANCE))


def ratio_labels(values: Float, expected: float) -> Float:
    """Label about `expected` rows, those of the largest values, +1 and the others -1.

    The number is rounded down where more values than that are positive and up where
    fewer are. Ties go to the lower index.
    """
    few = np.sum(values > 0) > expected
    n_positive = int(np.floor(expected) if few else np.ceil(expected))
    labels = np.full(len(values), -1.0)
    labels[np.argsort(-values, kind="stable")[:n_positive]] = 1.0
    return labels


def _positive_sums(values: Float, expected: float) -> Float:
    """Return, for each row, the sum of the values that `ratio_labels` makes positive.

    They are the largest ones, rounded down or up: no full sort is needed.
    """
    low, high = int(np.floor(expected)), int(np.ceil(expected))
    if not high:
        return np.zeros(len(values))
    few = (values > 0).sum(axis=1) > expected
    first = values.shape[1] - high
    ordered = np.partition(values, first, axis=1)[:, first:]
    return np.asarray(ordered.sum(axis=1) - few * (high - low) * ordered[:, 0])


@dataclass(frozen=True, eq=False)
class LabellingKernels:
    """What the machines of all classes share, rows being source, labelled, unlabelled.

    `shifted` (n, n) is the block diagonal kernel plus one, `root` the symmetric root of
    the kernel that any labelling is measured by. `first` holds the first column and its
    expansion in target rows, `ridge` one over the cost of each row. The first
    `n_source` rows are those of the source, the first `n_known` have a label. `scale`
    is the square root of the trace bound.
    """

    shifted: Float
    root: Float
    first: tuple[Float, Float]
    ridge: Float
    n_source: int
    n_known: int
    scale: float


class LabellingMachine(AugmentedMachine):
    """One class against the others: a machine on kernels times guessed labellings.

    The first `labels` (n,) are +1 for the class and -1 for the others, guessed for the
    unlabelled rows, of which about `expected` are of the class.
    """

    def __init__(
        self,
        kernels: LabellingKernels,
        labels: Float,
        expected: float,
        solver: LibsvmSolver | ExactSolver,
    ) -> None:
        super().__init__(kernels.first, kernels.scale)
        self._kernels, self._expected, self._solver = kernels, expected, solver
        self._labels = labels[:, None]
        self._buffer = np.empty_like(kernels.shifted)

    def solve(self, weights: Float) -> Solution:
        """Solve the quadratic problem with the labellings weighted."""
        dual = self._solver.minimise(self._quadratic(weights))
        strengths = self._strengths(dual)
        ridge = float(dual @ (self._kernels.ridge * dual))
        objective = -0.5 * (float(weights @ strengths) + ridge)
        return Solution(weights, dual, strengths, objective)

    def _quadratic(self, weights: Float) -> Float:
        """Return ``sum_m d_m B_m + W``; labellings differ in unlabelled rows alone."""
        Q, n_known = self._buffer, self._kernels.n_known
        known, guesses = self._labels[:n_known, 0], self._labels[n_known:]
        mean = guesses @ weights
        np.multiply(known[:, None], known * weights.sum(), out=Q[:n_known, :n_known])
        np.multiply(known[:, None], mean, out=Q[:n_known, n_known:])
        np.multiply(mean[:, None], known, out=Q[n_known:, :n_known])
        np.matmul(guesses * weights, guesses.T, out=Q[n_known:, n_known:])
        Q *= self._kernels.shifted
        add_columns(Q, self._columns * self._labels, weights)
        diagonal(Q)[:] += self._kernels.ridge
        return Q

    def _strengths(self, dual: Float) -> Float:
        """Return ``a^T B_m a``; rows with a dual variable of zero take no part."""
        shifted, n_known = self._kernels.shifted, self._kernels.n_known
        signed = self._labels * dual[:, None]
        rows = n_known + np.flatnonzero(dual[n_known:])
        known, guesses = signed[:n_known, 0], signed[rows]
        # Rows first, then columns: several times faster than both at once.
        among = shifted.take(rows, axis=0).take(rows, axis=1)
        norms = np.einsum("um,um->m", guesses, among @ guesses)
        norms += 2.0 * guesses.T @ (shifted[rows, :n_known] @ known)
        norms += known @ (shifted[:n_known, :n_known] @ known)
        alignments = np.einsum("im,im->m", self._columns, signed)
        return np.asarray(alignments**2 + norms)

    def extend(self, solution: Solution) -> bool:
        """Add the labelling with the largest coordinate of ``root (a * y)``."""
        dual, n_known = solution.dual, self._kernels.n_known
        best = int(self._scores(dual).argmax())
        sign, row = (1.0, best) if best < len(dual) else (-1.0, best - len(dual))
        values = sign * self._kernels.root[row, n_known:] * dual[n_known:]
        guesses = ratio_labels(values, self._expected)
        labels = np.concatenate([self._labels[:n_known, 0], guesses])
        signed = labels * dual
        added = self._add(signed, self._kernels.shifted @ signed - signed.sum())
        if added:
            self._labels = np.column_stack([self._labels, labels])
        return added

    def _scores(self, dual: Float) -> Float:
        """Return the scores of the 2n candidates without labelling any row.

        ``sum(y z)`` is twice the sum of the values that become positive minus the sum
        of all. Of the values that are zero no more are kept than may become positive.
        """
        n_known, root = self._kernels.n_known, self._kernels.root
        rows = n_known + np.flatnonzero(dual[n_known:])
        n_zeros = min(len(root) - n_known - len(rows), int(np.ceil(self._expected)))
        agreement = root[:, :n_known] @ (self._labels[:n_known, 0] * dual[:n_known])
        scores = np.empty((2, len(root)))
        for start in range(0, len(root), CHUNK):
            part = slice(start, start + CHUNK)
            values = np.pad(root[part, rows] * dual[rows], ((0, 0), (0, n_zeros)))
            constant = agreement[part] - values.sum(axis=1)
            scores[0, part] = constant + 2.0 * _positive_sums(values, self._expected)
            np.negative(values, out=values)
            scores[1, part] = -constant + 2.0 * _positive_sums(values, self._expected)
        return np.abs(scores).ravel()

    def expansion(self, solution: Solution) -> tuple[Float, float]:
        """Return the coefficients of the target rows and the constant."""
        signed = self._labels * solution.dual[:, None]
        alignments = np.einsum("im,im->m", self._columns, signed)
        mean = signed @ solution.weights
        values = self._expansions @ (solution.weights * alignments)
        values += mean[-len(values) :]
        # What all rows with a dual variable above zero reach on average.
        support = np.flatnonzero(solution.dual)
        Q = self._quadratic(solution.weights)
        margin = float(np.mean(Q[support] @ solution.dual))
        return values / margin, float(mean.sum()) / margin
