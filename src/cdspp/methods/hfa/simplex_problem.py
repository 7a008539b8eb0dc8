"""Minimise ``a^T Q a / 2`` over the simplex for a sequence of similar matrices Q."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.errors import MethodFailed
from cdspp.methods.base import Float, Int
from cdspp.methods.hfa.libsvm import one_class

__all__ = ["ExactSolver", "LibsvmSolver"]

TOLERANCE = 1e-10
# Rounds without progress before rows are swapped one at a time.
PATIENCE = 3
# Exchanges allowed for each row before rounding is to blame.
EXCHANGES = 10


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
    ``v^T (Q v - 1) = 0``: one Cholesky factor of the rows in the support for each
    exchange of rows, usually a few. Where the number of violated conditions has not
    fallen for three exchanges, rows are exchanged one at a time, which is finite.
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
