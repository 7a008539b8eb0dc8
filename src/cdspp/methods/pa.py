"""PA: progressive alignment by sparse codes over one dictionary for both domains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils._param_validation import Interval, StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import column_signs, principal_axes, row_normalise
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.shared.graphs import heat_kernel_graph

# How far the number of active coefficients stays below features and atoms: the search
# stops early for almost every sample, so that its path decides the result.
CAP_MARGIN = 10
MAX_STEPS = 1000
ZERO = 2.2e-16


@dataclass(eq=False, repr=False)
class PA(base.TransductiveClassifier):
    r"""Progressive alignment: sparse codes over one dictionary (PA).

    PA brings both domains to one width and codes all samples together:

    .. math::

        \min_{B, S} \tfrac12 \lVert X - B S \rVert_F^2
        + \tfrac\alpha2 \operatorname{tr}(S L S^T)
        + \tfrac\mu2 \operatorname{tr}(S M S^T)
        + \gamma \sum_i \lVert s_i \rVert_1
        \quad \text{s.t.} \quad \lVert b_k \rVert \le 1

    with the Laplacian `L` of a graph of nearest neighbours across both domains and `M`
    the squared distance between the domains' mean codes. Logistic regression on the
    codes of labelled target rows then labels the others. Source labels take no part.

    Parameters
    ----------
    n_components : int, default=100
        Principal directions of all rows together that are kept, at most.
    n_atoms : int, default=128
        Number of atoms of the dictionary.
    alpha : float, default=1.0
        Weight of the graph.
    mu : float, default=10000.0
        Weight of the distance between the domains' mean codes.
    gamma : float, default=0.01
        Weight of the 1-norm of the codes.
    max_iter : int, default=10
        Number of codings; the first takes no part in `history_`.
    C : float, default=100.0
        Inverse regularisation of logistic regression.
    target_axes : {'all', 'labelled'}, default='all'
        Target rows whose principal axes narrow a target wider than the source: all of
        them, with zeros where the axes are too few, or the labelled ones alone, whose
        axes are followed by the first features, made orthogonal.
    random_state : int, RandomState or None, default=None
        Draws the first dictionary; nothing else is random.

    Notes
    -----
    `history_` has an entry for each coding but the first, none with confidences. With n
    rows in all, p components and K atoms a coding costs at most about O(n K^3), the
    graph O(n^2 p); the first coding, from zero, is the dearest.

    The paper aligns features first and distributions second. The released code, which
    this follows, has both in one objective, trains on the codes of the labelled target
    rows only, uses neither pseudo-labels nor weights of samples, and stops a search
    for codes once min(p, K) - 10 coefficients are active, which these settings always
    reach. Zeros stand in where the principal axes of the wider domain are fewer than
    the features of the other. The axes of the target are those of labelled and
    unlabelled rows together, by default; commented-out lines of the code give each its
    own axes, on which the two cannot be compared. The bandwidth of the graph is the
    mean of all distances, not of a random part. The rows must differ in two directions
    or more: a dictionary of centred atoms has none otherwise. With barely more than ten
    the codes have next to no coefficients and the labels are poor. A class of one
    domain only is predicted if it is the target's, never if it is the source's, whose
    labels play no part. Each sample is coded given those before it, as in the released
    code, so that another order of the rows changes 3 % of the labels of the embedded
    digits; another seed changes 6 %. Without unlabelled rows nothing is coded.

    References
    ----------
    .. [1] Li, J., Lu, K., Huang, Z., Zhu, L., Shen, H. T., "Heterogeneous domain
       adaptation through progressive alignment", IEEE Transactions on Neural Networks
       and Learning Systems 30(5), 2019. :doi:`10.1109/TNNLS.2018.2868854`
    .. [2] Lee, H., Battle, A., Raina, R., Ng, A. Y., "Efficient sparse coding
       algorithms", NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from cdspp import PA, SourceDomain
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(30) % 2
    >>> source = SourceDomain(np.eye(2, 20)[truth] + 0.1 * rng.random((30, 20)), truth)
    >>> X = np.eye(2, 25)[truth] + 0.1 * rng.random((30, 25))
    >>> y = np.where(np.arange(30) < 6, truth, -1)
    >>> model = PA(random_state=0).fit(X, y, source=source)
    >>> bool((model.transduction_ == truth).all())
    True
    """

    n_components: int = 100
    n_atoms: int = 128
    alpha: float = 1.0
    mu: float = 10000.0
    gamma: float = 0.01
    max_iter: int = 10
    C: float = 100.0
    target_axes: str = "all"
    random_state: Any = None

    identifier = "pa"
    display_name = "PA"

    _parameter_constraints = {
        "n_components": [base.COUNT],
        "n_atoms": [base.COUNT],
        "alpha": [base.NON_NEGATIVE],
        "mu": [base.POSITIVE],
        "gamma": [base.POSITIVE],
        "max_iter": [Interval(Integral, 2, None, closed="left")],
        "C": [base.POSITIVE],
        "target_axes": [StrOptions({"all", "labelled"})],
        "random_state": ["random_state"],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        # Codings of all rows, the first of which adds one coefficient after another;
        # the graph; principal axes of the wider domain and of all rows together.
        n = size.n_source + size.n_target
        width = min(size.d_source, size.d_target)
        domains = (size.n_source, size.d_source), (size.n_target, size.d_target)
        sides = [(n, width), *(side for side in domains if side[1] > width)]
        codings = n * (3.2e-3 + 2e-5 * min(100, width))
        axes = 7e-11 * sum(min(side) ** 2 * sum(side) for side in sides)
        seconds = 0.3 + codings + 3e-8 * n**2 + 0.016 * size.n_classes + axes
        return seconds, 16e-6 * sum(min(side) ** 2 for side in sides) + 0.01 * n

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        if not len(problem.X_unlabelled):
            return []
        X, y, n_source = self._align(problem), problem.y_labelled, len(problem.y_source)
        n_target, n_known = len(X) - n_source, n_source + len(y)
        contrast = np.repeat([1 / n_source, -1 / n_target], [n_source, n_target])
        cap = max(1, min(X.shape[1], self.n_atoms) - CAP_MARGIN)
        weights = self.alpha, self.mu, self.gamma
        coding = CodingProblem(X, heat_kernel_graph(X), contrast, *weights, cap)
        random = self.random_state
        if not isinstance(random, np.random.RandomState):
            random = np.random.default_rng(random)
        dictionary = random_dictionary(X.shape[1], self.n_atoms, random)
        codes, iterations = coding.code(dictionary), list[Iteration]()
        for iteration in range(1, self.max_iter):
            if iterations:
                dictionary = fit_dictionary(X, codes)
            codes = coding.code(dictionary, codes)
            prediction = self._classify(codes[n_source:n_known], y, codes[n_known:])
            iterations.append(Iteration(iteration, prediction))
        return iterations

    def _align(self, problem: Problem) -> Float:
        """Return all rows, source first, in one space and of unit length."""
        target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        width = min(problem.X_source.shape[1], target.shape[1])
        n_fitted = None if self.target_axes == "all" else len(problem.X_labelled)
        source = _narrow(_unit_scale(problem.X_source), width)
        target = _narrow(_unit_scale(target), width, n_fitted)
        rows = np.vstack([row_normalise(source), row_normalise(target)])
        axes = principal_axes(rows, self.n_components)
        if axes.shape[1] < 2:
            raise MethodFailed(
                "PA needs n_components of 2 or more and rows that differ in as many "
                f"directions once scaled to unit length, got {axes.shape[1]}"
            )
        return row_normalise(rows @ axes)

    def _classify(self, labelled: Float, y: Int, unlabelled: Float) -> Int:
        if len(np.unique(y)) < 2:
            return np.repeat(y[:1], len(unlabelled))
        options = {"solver": "liblinear", "fit_intercept": False, "tol": 0.01}
        machine = OneVsRestClassifier(LogisticRegression(C=self.C, **options))
        return np.asarray(machine.fit(labelled, y).predict(unlabelled))


def _narrow(X: Float, width: int, n_fitted: int | None = None) -> Float:
    """Return rows of `width` columns: on principal axes where there were more."""
    if X.shape[1] == width:
        return X
    axes = principal_axes(X[:n_fitted], width)
    scores = X @ (axes if n_fitted is None else _filled(axes, width))
    return np.pad(scores, ((0, 0), (0, width - scores.shape[1])))


def _filled(axes: Float, width: int) -> Float:
    """Return `width` orthonormal columns: `axes`, then the first features."""
    basis = np.linalg.qr(np.hstack([axes, np.eye(len(axes), width)]))[0]
    rest = basis[:, axes.shape[1] : width]
    return np.hstack([axes, rest * column_signs(rest)])


def _unit_scale(X: Float) -> Float:
    """Return `X` times a power of two, so that no square over- or underflows."""
    return np.asarray(np.ldexp(X, -np.frexp(np.abs(X).max())[1]))


def random_dictionary(n_features: int, n_atoms: int, random: Any) -> Float:
    """Return uniform atoms, centred and of unit length, (n_features, n_atoms)."""
    atoms = random.random((n_features, n_atoms)) - 0.5
    return row_normalise((atoms - atoms.mean(axis=0)).T).T


class FeatureSignSearch:
    r"""Feature-sign search for sparse codes that gives up at a number of coefficients.

    .. math:: \min_s \tfrac12 s^T (G + c I) s + h^T s + \gamma \lVert s \rVert_1

    As soon as more than `cap` coefficients would be active, the search returns what it
    has. Each step is the published one, but cheaper: the inverse of ``G + c I`` on the
    active set is bordered when a coefficient enters and deflated when one leaves, as a
    matrix of full size with zeros elsewhere: no step gathers a submatrix.
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
