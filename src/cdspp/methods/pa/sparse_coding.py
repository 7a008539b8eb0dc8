"""Sparse codes over a shared dictionary: feature-sign search and the dictionary's dual.

With the settings of PA the search stops early for almost every sample, so that its path
decides the result. Each step is that of the search as published, but cheaper.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Float

MAX_STEPS = 1000
ZERO = 2.2e-16


def random_dictionary(n_features: int, n_atoms: int, random: Any) -> Float:
    """Return uniform atoms, centred and of unit length, (n_features, n_atoms)."""
    atoms = random.random((n_features, n_atoms)) - 0.5
    return row_normalise((atoms - atoms.mean(axis=0)).T).T


class FeatureSignSearch:
    r"""Feature-sign search for sparse codes that gives up at a number of coefficients.

    .. math:: \min_s \tfrac12 s^T (G + c I) s + h^T s + \gamma \lVert s \rVert_1

    As soon as more than `cap` coefficients would be active, the search returns what it
    has. The inverse of ``G + c I`` on the active set is bordered when a coefficient
    enters and deflated when one leaves, as a matrix of full size with zeros elsewhere:
    no step gathers a submatrix.
    """

    def __init__(self, gram: Float, gamma: float, cap: int) -> None:
        self._gram, self._gamma, self._cap = np.asfortranarray(gram), gamma, cap
        self._inverse = np.zeros(gram.shape, order="F")
        self._idle = np.ones(len(gram))
        zeros = (np.zeros(len(gram)) for _ in range(3))
        self._codes, self._signs, self._gradient = zeros

    def solve(self, shift: float, linear: Float, start: Float | None = None) -> Float:
        """Return the codes for a positive `shift` c and `linear` h.

        The next call overwrites them. Of `start` the first `cap` nonzeros count.
        """
        self._shift, self._linear = shift, linear
        self._begin(start)
        optimal = not self._n_active or self._settle()
        for _ in range(start is not None, MAX_STEPS):
            if not (optimal and self._activate() and self._n_active <= self._cap):
                break
            optimal = self._settle()
        return self._codes

    def _begin(self, start: Float | None) -> None:
        for array in (self._codes, self._signs, self._inverse):
            array.fill(0.0)
        self._idle.fill(1.0)
        kept = np.flatnonzero(self._codes if start is None else start)[: self._cap]
        self._n_active = len(kept)
        if start is None or not len(kept):
            return
        self._codes[kept] = start[kept]
        self._signs[kept] = np.sign(start[kept])
        self._idle[kept] = 0.0
        block = self._gram[kept[:, None], kept]
        block.flat[:: len(kept) + 1] += self._shift
        factor, failed = linalg.lapack.dpotrf(block.T, overwrite_a=1)
        if failed:
            raise MethodFailed("the atoms in use are dependent: raise mu or alpha")
        half, _ = linalg.lapack.dpotri(factor, overwrite_c=1)
        half.flat[:: len(kept) + 1] *= 0.5
        self._inverse[kept[:, None], kept] = half + half.T

    def _activate(self) -> bool:
        """Let the steepest idle coefficient in, if steep enough; border the inverse."""
        np.dot(self._gram, self._codes, out=self._gradient)
        self._gradient += self._linear
        slopes = np.abs(self._gradient)
        slopes *= self._idle
        entering = slopes.argmax()
        if slopes[entering] < self._gamma:
            return False
        self._n_active += 1
        if self._n_active <= self._cap:
            self._signs[entering] = -np.sign(self._gradient[entering])
            self._idle[entering] = 0.0
            column = self._gram[:, entering]
            update = self._inverse @ column
            # The Schur complement is no smaller than the shift but for rounding.
            left = self._gram[entering, entering] - column @ update
            update[entering] = -1.0
            self._rank_one(1.0 / (self._shift + max(left, 0.0)), update)
        return True

    def _rank_one(self, weight: float, vector: Float) -> None:
        linalg.blas.dger(weight, vector, vector, a=self._inverse, overwrite_a=1)

    def _settle(self) -> bool:
        """Step until the active set is optimal; return False if no step improves."""
        for _ in range(MAX_STEPS):
            target = self._inverse @ (self._linear + self._gamma * self._signs)
            np.negative(target, out=target)
            # All signs as assumed: nothing is crossed on the way to this minimum.
            if np.count_nonzero(target * self._signs > 0) == self._n_active:
                self._codes[:] = target
                np.sign(target, out=self._signs)
                return True
            if np.array_equal(np.sign(target), np.sign(self._codes)):
                self._codes[:] = target
                return True
            if not self._search_line(target):
                return False
        return False

    def _search_line(self, target: Float) -> bool:
        """Move towards `target` while the objective falls; return whether it fell."""
        codes = self._codes
        direction = target - codes
        crossing = np.flatnonzero(codes * target < 0)
        steps = np.append(np.sort(-codes[crossing] / direction[crossing]), 1.0)
        product = self._gram @ direction + self._shift * direction
        curvature = 0.5 * (direction @ product)
        slope = direction @ self._linear + codes @ product
        norms = np.abs(codes + steps[:, None] * direction).sum(axis=1)
        values = (curvature * steps + slope) * steps + self._gamma * norms
        best, step = self._gamma * np.abs(codes).sum(), 0.0
        may_tie = np.count_nonzero(codes) == self._n_active
        for candidate, value in zip(steps.tolist(), values.tolist(), strict=True):
            if value > best:
                break
            if value < best or may_tie:
                best, step = value, candidate
        if step == 0.0:
            return False
        self._codes[:] = codes + step * direction
        if step != 1.0:
            self._drop_zeros()
        np.sign(self._codes, out=self._signs)
        return True

    def _drop_zeros(self) -> None:
        """Let go, and deflate the inverse, where a coefficient has become zero."""
        for leaving in np.flatnonzero((self._idle == 0) & (np.abs(self._codes) < ZERO)):
            self._codes[leaving] = 0.0
            self._idle[leaving] = 1.0
            self._n_active -= 1
            column = self._inverse[:, leaving].copy()
            self._rank_one(-1.0 / column[leaving], column)
            self._inverse[leaving] = 0.0
            self._inverse[:, leaving] = 0.0


class CodingProblem(NamedTuple):
    """Samples X (n, n_features) to be coded, by the objective of `PA`.

    M there is the outer product of `contrast` e with itself: the mean code of one
    domain minus that of the other is ``S.T @ e``. No entry of e is zero.
    """

    X: Float
    graph: sparse.csr_array
    contrast: Float
    alpha: float
    mu: float
    gamma: float
    cap: int

    def code(self, dictionary: Float, codes: Float | None = None) -> Float:
        """Return codes (n, n_atoms), each sample once in turn given the others."""
        shape = len(self.X), dictionary.shape[1]
        S = np.zeros(shape) if codes is None else codes.copy()
        search = FeatureSignSearch(dictionary.T @ dictionary, self.gamma, self.cap)
        correlations = self.X @ dictionary
        weights = self.alpha * self.graph.data
        shifts = self.alpha * self.graph.sum(axis=1) + self.mu * self.contrast**2
        bounds, neighbours = self.graph.indptr.tolist(), self.graph.indices
        gap = self.contrast @ S
        for i, e in enumerate(self.contrast.tolist()):
            row, near = S[i], slice(bounds[i], bounds[i + 1])
            gap -= e * row
            linear = self.mu * e * gap
            linear -= weights[near] @ S[neighbours[near]]
            linear -= correlations[i]
            row[:] = search.solve(shifts[i], linear, None if codes is None else row)
            gap += e * row
        if not (np.isfinite(shifts).all() and np.isfinite(S).all()):
            raise MethodFailed("the codes are not finite: lower alpha or mu")
        return S


def fit_dictionary(X: Float, codes: Float) -> Float:
    """Return the atoms, as columns, that best rebuild samples; unused ones are zero."""
    dictionary = np.zeros((X.shape[1], codes.shape[1]))
    used = codes.any(axis=0)
    if used.any():
        S = codes[:, used]
        dictionary[:, used] = _dual_atoms(S.T @ S, S.T @ X).T
    return dictionary


class _DualPoint:
    """The dual of the dictionary at `multipliers` m >= 0 of the atoms' lengths.

    Its value is ``tr(P.T (G + diag(m))^-1 P) + sum(m)`` with the inner products G of
    the codes and their products P with the samples.
    """

    def __init__(self, gram: Float, products: Float, multipliers: Float) -> None:
        factor = linalg.cho_factor(gram + np.diag(multipliers), check_finite=False)
        self.multipliers, identity = multipliers, np.eye(len(gram))
        self.inverse: Float = linalg.cho_solve(factor, identity, check_finite=False)
        self.atoms: Float = linalg.cho_solve(factor, products, check_finite=False)
        self.value = float(np.vdot(products, self.atoms) + multipliers.sum())

    def newton_step(self, gradient: Float, free: NDArray[np.bool_]) -> Float:
        """Return the step of the free multipliers, zero for the others."""
        atoms = self.atoms[free]
        hessian = 2.0 * (atoms @ atoms.T) * self.inverse[np.ix_(free, free)]
        _, solved, failed = linalg.lapack.dposv(hessian, gradient[free])
        step = np.zeros_like(gradient)
        # Where rounding leaves no Cholesky factor, the scaled gradient still descends.
        step[free] = -(gradient[free] / np.diag(hessian) if failed else solved)
        return step


def _dual_atoms(gram: Float, products: Float) -> Float:
    """Return the atoms, as rows, at the minimum of the dual, by projected Newton."""
    at = partial(_DualPoint, gram, products)
    # Relative to the codes' size, so that the matrix can always be factored.
    floor = max(1e-12, 1e-15 * np.trace(gram))
    point = at(np.full(len(gram), max(5.0, floor)))
    for _ in range(100):
        gradient = 1.0 - np.einsum("ij,ij->i", point.atoms, point.atoms)
        free = (point.multipliers > floor) | (gradient <= 0)
        if not free.any() or np.abs(gradient[free]).max() < 1e-9:
            break
        step = point.newton_step(gradient, free)
        for halvings in range(50):
            lower = at(np.maximum(point.multipliers + 0.5**halvings * step, floor))
            expected = gradient @ (lower.multipliers - point.multipliers)
            if lower.value <= point.value + 1e-4 * expected:
                break
        else:
            break
        decrease, point = point.value - lower.value, lower
        if decrease <= 1e-14 * abs(point.value):
            break
    return point.atoms
