"""The source map of CDLS: a ridge regression towards the target's weighted means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import class_sums, counts, diagonal, one_hot, symmetric_product
from cdspp.methods.base import Float, Int


class Goals(NamedTuple):
    """By class sums of the target's weighted rows, and both weights in these sums."""

    sums: Float
    labelled: Float
    pseudo: Float
    mean: Float


class ProjectedTarget(NamedTuple):
    """Target rows in the principal subspace of dimension m, class codes of some."""

    labelled: Float
    codes: Int
    unlabelled: Float
    n_classes: int

    def first_goals(self) -> Goals:
        """Return the goals without predictions: unlabelled rows count in the mean."""
        sums = class_sums(self.labelled, self.codes, self.n_classes)
        sizes = counts(self.codes, self.n_classes)
        mean = np.vstack([self.labelled, self.unlabelled]).mean(axis=0)
        return Goals(sums, sizes, np.zeros(self.n_classes), mean)

    def goals(self, prediction: Int, weights: Float) -> Goals:
        """Return the goals with weighted unlabelled rows in their predicted classes."""
        sums, sizes, _, _ = self.first_goals()
        column, n_classes = weights[:, None], self.n_classes
        sums += class_sums(column * self.unlabelled, prediction, n_classes)
        pseudo = class_sums(column, prediction, n_classes).ravel()
        mean = sums.sum(axis=0) / (len(self.labelled) + weights.sum())
        return Goals(sums, sizes, pseudo, mean)


@dataclass(frozen=True, eq=False)
class SourceMap:
    r"""The ridge regression that maps source rows to where the target's classes lie.

    Minimises the squared distances of weighted means and pairs, with ``(M + ridge I) A
    = R``, where ``M = F^T F`` and ``R = F^T W`` for few rows `F` made of the source
    rows X, (n, d). Each class has a row.
    """

    X: Float
    codes: Int
    n_classes: int
    ridge: float

    @cached_property
    def _gram(self) -> Float:
        upper = symmetric_product(self.X, of_rows=True)
        return np.asarray(np.triu(upper) + np.triu(upper, 1).T)

    def fit(self, weights: Float, goals: Goals) -> tuple[Float, Float]:
        """Return the mapped source rows (n, m) and the map A (d, m)."""
        sums, labelled, pseudo, mean = goals
        own = np.bincount(self.codes, weights=weights, minlength=self.n_classes)
        pairs = 1.0 / (own * pseudo + pseudo * labelled + labelled * own)
        factors = 1.0 / (labelled + pseudo) + pairs * own
        right = np.vstack([mean, factors[:, None] * sums])
        shares = one_hot(self.codes, self.n_classes).T * (weights / own[self.codes])
        means = np.vstack([weights / own.sum(), shares])
        scales = np.sqrt(weights * (pairs * (pseudo + labelled))[self.codes])
        n, d = self.X.shape
        solve = self._solve_by_rows if n + len(means) < d else self._solve_by_features
        return solve(scales, means, right)

    def _solve_by_features(
        self, scales: Float, means: Float, right: Float
    ) -> tuple[Float, Float]:
        """Factorise ``F^T F + ridge I`` of size d x d."""
        centres = means @ self.X
        F = np.vstack([scales[:, None] * self.X, centres])
        M = symmetric_product(F, of_rows=False)
        A = _solve_ridge(M, self.ridge, centres.T @ right)
        return self.X @ A, A

    def _solve_by_rows(
        self, scales: Float, means: Float, right: Float
    ) -> tuple[Float, Float]:
        """Factorise ``F F^T + ridge I`` of size n + 1 + n_classes."""
        n = len(self.X)
        similarity = means @ self._gram
        M = np.empty((n + len(means),) * 2)
        M[:n, :n] = scales[:, None] * self._gram * scales
        M[:n, n:] = scales[:, None] * similarity.T
        M[n:, n:] = similarity @ means.T
        solution = _solve_ridge(M, self.ridge, np.pad(right, ((n, 0), (0, 0))))
        combination = scales[:, None] * solution[:n] + means.T @ solution[n:]
        return self._gram @ combination, self.X.T @ combination


def _solve_ridge(M: Float, ridge: float, right: Float) -> Float:
    """Solve ``(M + ridge I) A = right``; only the upper triangle of M is read."""
    diagonal(M)[:] += ridge
    try:
        factor = linalg.cho_factor(M, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise MethodFailed(f"ridge={ridge} is too small for these rows") from error
    return np.asarray(linalg.cho_solve(factor, right, check_finite=False))
