"""PA: progressive alignment by sparse codes over one dictionary for both domains."""

import math
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import Interval, StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import column_signs, principal_axes, row_normalise
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.shared.graphs import heat_kernel_graph

# The limit on active coefficients is this much below the numbers of features and atoms.
# The search stops there for almost every sample, so its path decides the result.
CAP_MARGIN = 10
MAX_STEPS = 1000
# With this number of terms, a new factorisation costs about as much.
MAX_CHANGES = 16
ZERO = 2.2e-16


@dataclass(eq=False, repr=False)
class PA(base.TransductiveClassifier):
    r"""Progressive alignment: sparse codes over one dictionary (PA).

    Brings both domains to the same width and codes all samples together:

    .. math::

        \min_{B, S} \tfrac12 \lVert X - B S \rVert_F^2
        + \tfrac\alpha2 \operatorname{tr}(S L S^T)
        + \tfrac\mu2 \operatorname{tr}(S M S^T)
        + \gamma \sum_i \lVert s_i \rVert_1
        \quad \text{s.t.} \quad \lVert b_k \rVert \le 1

    with the Laplacian `L` of a nearest-neighbour graph over both domains, and the
    squared distance `M` between the mean codes of the domains. Logistic regression on
    codes of labelled target rows then labels the others. Source labels are not used.

    Parameters
    ----------
    n_components : int, default=100
        Maximum number of principal directions of all rows together.
    n_atoms : int, default=128
        Number of atoms of the dictionary.
    alpha : float, default=1.0
        Weight of the graph.
    mu : float, default=10000.0
        Weight of the distance between the mean codes of the domains.
    gamma : float, default=0.01
        Weight of the 1-norm of the codes.
    max_iter : int, default=10
        Number of codings; the first is not in `history_`.
    C : float, default=100.0
        Inverse regularisation of logistic regression.
    target_axes : {"all", "labelled"}, default="all"
        Target rows whose principal axes reduce a target wider than the source: all
        rows, with zeros if there are too few axes, or only the labelled rows, whose
        axes are followed by the first features, made orthogonal.
    random_state : int, RandomState or None, default=None
        Seed of the initial dictionary; nothing else is random.

    Notes
    -----
    `history_` has an entry per coding except the first, without confidences. For n rows
    in total, p components and K atoms, a coding costs at most about O(n K^3) and the
    graph O(n^2 p); the first coding, from zero, is the most expensive.

    The paper aligns features first and distributions second. The released code, which
    this follows, has both in one objective, only trains on the codes of the labelled
    target rows, uses neither pseudo-labels nor sample weights, and stops a search for
    codes once min(p, K) - 10 coefficients are active, which these settings always
    reach. Zeros fill missing principal axes if the wider domain has fewer axes than the
    other has features. By default, the axes of the target are those of labelled and
    unlabelled rows together; commented-out lines of the code give each its own axes, so
    that the two cannot be compared. The bandwidth of the graph is the mean of all
    distances, not of a random part. The rows must differ in at least two directions,
    because otherwise there is no dictionary of centred atoms. With barely more than ten
    directions, codes have almost no coefficients and labels are poor. A class in only
    one domain is predicted if that is the target, never if it is the source, whose
    labels are not used. As in the released code, each sample is coded given those
    before it, so that reordering the rows may change labels, as another seed may.
    Without unlabelled rows, nothing is coded.

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
        # Codings of all rows, of which the first adds coefficients one by one; the
        # graph; principal axes of the wider domain, and of all rows together.
        n = size.n_source + size.n_target
        width = min(size.d_source, size.d_target)
        domains = (size.n_source, size.d_source), (size.n_target, size.d_target)
        sides = [(n, width), *(side for side in domains if side[1] > width)]
        codings = n * (2.8e-4 + 1.6e-7 * min(100, width) ** 2)
        axes = 7e-11 * sum(min(side) ** 2 * sum(side) for side in sides)
        seconds = 0.02 + codings + 3e-8 * n**2 + 0.008 * size.n_classes + axes
        return seconds, 16e-6 * sum(min(side) ** 2 for side in sides) + 0.01 * n

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        if not len(problem.X_unlabelled):
            return []
        X, y, n_source = self._align(problem), problem.y_labelled, len(problem.y_source)
        n_target, end = len(X) - n_source, n_source + len(y)
        contrast = np.repeat([1 / n_source, -1 / n_target], [n_source, n_target])
        cap = max(1, min(X.shape[1], self.n_atoms) - CAP_MARGIN)
        weights = self.alpha, self.mu, self.gamma
        coding = CodingProblem(X, heat_kernel_graph(X), contrast, *weights, cap)
        rng = self.random_state
        if not isinstance(rng, np.random.RandomState):
            rng = np.random.default_rng(rng)
        dictionary = random_dictionary(X.shape[1], self.n_atoms, rng)
        codes, iterations = coding.code(dictionary), list[Iteration]()
        for iteration in range(1, self.max_iter):
            if iterations:
                dictionary = fit_dictionary(X, codes)
            codes = coding.code(dictionary, codes)
            prediction = self._classify(codes[n_source:end], y, codes[end:])
            iterations.append(Iteration(iteration, prediction))
        return iterations

    def _align(self, problem: Problem) -> Float:
        """Return all rows, source first, in one space and of unit length."""
        target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        width = min(problem.X_source.shape[1], target.shape[1])
        n_fitted = None if self.target_axes == "all" else len(problem.X_labelled)
        source = _reduce_width(problem.X_source, width)
        target = _reduce_width(target, width, n_fitted)
        rows = np.vstack([row_normalise(source), row_normalise(target)])
        axes = principal_axes(rows, self.n_components)
        if axes.shape[1] < 2:
            raise MethodFailed(
                "PA needs n_components of at least 2, and rows that differ in as many "
                f"directions after scaling to unit length, got {axes.shape[1]}"
            )
        return row_normalise(rows @ axes)

    def _classify(self, labelled: Float, y: Int, unlabelled: Float) -> Int:
        classes = np.unique(y)
        if len(classes) < 2:
            return np.repeat(y[:1], len(unlabelled))
        options = {"solver": "liblinear", "fit_intercept": False, "tol": 0.01}
        machine = LogisticRegression(C=self.C, **options)
        # Ties as in `OneVsRestClassifier`: to the last class, or the first of two.
        order = classes[::-1] if len(classes) > 2 else classes
        machines = (machine.fit(labelled, y == code) for code in order)
        scores = [fitted.decision_function(unlabelled) for fitted in machines]
        return np.asarray(order[np.argmax(scores, axis=0)])


def _reduce_width(X: Float, width: int, n_fitted: int | None = None) -> Float:
    """Return rows of `width` columns, projected on principal axes if they had more."""
    # Scaling by a power of two avoids overflow and underflow of squares.
    X = np.ldexp(X, -np.frexp(np.abs(X).max())[1])
    if X.shape[1] == width:
        return X
    axes = principal_axes(X[:n_fitted], width)
    scores = X @ (axes if n_fitted is None else _complete_basis(axes, width))
    return np.pad(scores, ((0, 0), (0, width - scores.shape[1])))


def _complete_basis(axes: Float, width: int) -> Float:
    """Return `width` orthonormal columns: `axes`, then the first features."""
    basis = np.linalg.qr(np.hstack([axes, np.eye(len(axes), width)]))[0]
    extra = basis[:, axes.shape[1] : width]
    return np.hstack([axes, extra * column_signs(extra)])


def random_dictionary(n_features: int, n_atoms: int, rng: Any) -> Float:
    """Return uniform atoms, centred and of unit length, (n_features, n_atoms)."""
    atoms = rng.random((n_features, n_atoms)) - 0.5
    return row_normalise((atoms - atoms.mean(axis=0)).T).T


class FeatureSignSearch:
    r"""Feature-sign search for sparse codes, limited to a number of coefficients.

    .. math:: \min_s \tfrac12 s^T (G + c I) s + h^T s + \gamma \lVert s \rVert_1

    The search stops as soon as more than `cap` coefficients would be active. From zero,
    each coefficient adds a row to a Cholesky factor, and signs are tested at the end.
    From a start, the inverse of ``G + c I`` on the active set is that on an earlier
    set, plus a rank-one term per coefficient added or removed since.
    """

    def __init__(self, gram: Float, gamma: float, cap: int) -> None:
        self._gram, self._gamma, self._cap = gram, gamma, cap
        self._units = np.eye(len(gram))
        self._rows = np.zeros((min(cap, MAX_STEPS), len(gram)))
        self._state = np.zeros((3, len(gram)))
        self._codes, self._signs, self._active = self._state

    def solve(self, shift: float, linear: Float, start: Float | None = None) -> Float:
        """Return the codes for a positive `shift` c and `linear` h.

        The next call overwrites them. Only the first `cap` nonzeros of `start` count.
        """
        self._shift, self._linear = shift, linear
        start = np.zeros(len(linear)) if start is None else start
        support = start.nonzero()[0][: self._cap]
        if not len(support) and self._grow():
            return self._codes
        self._state.fill(0.0)
        self._codes[support], self._active[support] = start[support], 1.0
        np.sign(self._codes, out=self._signs)
        self._factorise()
        target: Float | None = self._minimum()
        for _ in range(MAX_STEPS):
            if target is None:
                break
            signs = np.sign(target)
            # All signs are as assumed, so no coefficient crosses zero on the way here.
            if (signs == self._signs).all() or (signs == np.sign(self._codes)).all():
                self._codes[:], self._signs[:] = target, signs
                target = self._activate()
            else:
                target = self._minimum() if self._search_line(target) else None
        return self._codes

    def _grow(self) -> bool:
        """Add coefficients from zero; return False if one would change its sign."""
        # A row is a column of the Cholesky factor; inactive coefficients come last.
        self._codes.fill(0.0)
        is_inactive, gradient = np.ones(len(self._codes)), self._linear.copy()
        support, signs, solution = list[int](), list[float](), list[float]()
        for n, row in enumerate(self._rows):
            slopes = np.abs(gradient) * is_inactive
            entering = int(slopes.argmax())
            if slopes[entering] < self._gamma:
                break
            slope, previous = float(gradient[entering]), self._rows[:n]
            np.subtract(self._gram[entering], previous[:, entering] @ previous, out=row)
            root = math.sqrt(self._shift + max(float(row[entering]), 0.0))
            row /= root
            row[entering], is_inactive[entering] = root, 0.0
            support.append(entering)
            signs.append(-math.copysign(1.0, slope))
            solution.append(-(slope + self._gamma * signs[n]) / root)
            gradient = linalg.blas.daxpy(row, gradient, a=solution[n])
        if support:
            factor = np.tril(self._rows[: len(support), support].T)
            inverse, _ = linalg.lapack.dtrtri(factor, lower=1)
            path = np.cumsum(np.array(solution)[:, None] * inverse, axis=0)
            self._codes[support] = path[-1]
            signed = np.tril(np.tile(signs, (len(path), 1)))
            return np.array_equal(np.sign(path), signed)
        return True

    def _factorise(self) -> None:
        self._support = self._active.nonzero()[0]
        self._changes: list[tuple[float, Float]] = []
        block = self._gram.take(self._support, 0).take(self._support, 1)
        block.flat[:: len(block) + 1] += self._shift
        self._factor, info = linalg.lapack.dpotrf(block.T, overwrite_a=1)
        if info:
            raise MethodFailed("the atoms are linearly dependent; raise mu or alpha")

    def _solve_active(self, values: Float) -> Float:
        """Return the inverse on the active set times `values`, zero elsewhere."""
        solved, active = np.zeros(len(values)), self._support
        if len(active):
            solved[active], _ = linalg.lapack.dpotrs(self._factor, values.take(active))
        for weight, change in self._changes:
            solved = linalg.blas.daxpy(change, solved, a=weight * (change @ values))
        return solved * self._active

    def _minimum(self) -> Float:
        """Return the minimum on the active set with the signs as assumed."""
        if len(self._changes) > MAX_CHANGES:
            self._factorise()
        return -self._solve_active(self._linear + self._gamma * self._signs)

    def _activate(self) -> Float | None:
        """Add the steepest inactive coefficient, if possible; return the minimum."""
        if np.count_nonzero(self._active) == self._cap:
            return None
        gradient = self._gram @ self._codes + self._linear
        slopes = np.abs(gradient) * (1.0 - self._active)
        entering = slopes.argmax()
        if slopes[entering] < self._gamma:
            return None
        column, sign = self._gram[entering], -np.sign(gradient[entering])
        vector = self._solve_active(column)
        # Up to rounding, the Schur complement is at least the shift.
        weight = 1.0 / (self._shift + max(column[entering] - column @ vector, 0.0))
        vector[entering] = -1.0
        self._changes.append((weight, vector))
        self._active[entering], self._signs[entering] = 1.0, sign
        step = weight * (gradient[entering] + self._gamma * sign)
        return np.asarray(self._codes + step * vector)

    def _search_line(self, target: Float) -> bool:
        """Move towards `target` while the objective falls; return whether it fell."""
        codes = self._codes
        direction, crossing = target - codes, (codes * target < 0).nonzero()[0]
        steps = sorted((-codes[crossing] / direction[crossing]).tolist())
        product = self._gram @ direction + self._shift * direction
        curvature = 0.5 * (direction @ product)
        slope = direction @ self._linear + codes @ product
        best, step = self._gamma * linalg.blas.dasum(codes), 0.0
        may_tie = np.count_nonzero(codes) == np.count_nonzero(self._active)
        for candidate in [*steps, 1.0]:
            norm = linalg.blas.dasum(codes + candidate * direction)
            value = (curvature * candidate + slope) * candidate + self._gamma * norm
            if value > best:
                break
            if value < best or may_tie:
                best, step = value, candidate
        codes += step * direction
        if 0.0 < step < 1.0:  # a coefficient that is zero leaves the active set
            for leaving in (np.abs(codes) < ZERO * self._active).nonzero()[0]:
                column = self._solve_active(self._units[leaving])
                codes[leaving] = self._active[leaving] = 0.0
                self._changes.append((-1.0 / column[leaving], column))
        np.sign(codes, out=self._signs)
        return step > 0.0


class CodingProblem(NamedTuple):
    """Samples X (n, n_features) to code by the objective of `PA`.

    M is the outer product of `contrast` e with itself, where ``S.T @ e`` is the mean
    code of one domain minus that of the other. No entry of e is zero.
    """

    X: Float
    graph: sparse.csr_array
    contrast: Float
    alpha: float
    mu: float
    gamma: float
    cap: int

    def code(self, dictionary: Float, codes: Float | None = None) -> Float:
        """Return codes (n, n_atoms); each sample is coded once, given the others."""
        search = FeatureSignSearch(dictionary.T @ dictionary, self.gamma, self.cap)
        correlations = self.X @ dictionary
        S = np.zeros(correlations.shape) if codes is None else codes.copy()
        weights = self.alpha * self.graph.data
        shifts = self.alpha * self.graph.sum(axis=1) + self.mu * self.contrast**2
        bounds, neighbours = self.graph.indptr.tolist(), self.graph.indices
        gap = self.contrast @ S
        for i, e in enumerate(self.contrast.tolist()):
            row, edges = S[i], slice(bounds[i], bounds[i + 1])
            gap -= e * row
            linear = self.mu * e * gap
            linear -= weights[edges] @ S[neighbours[edges]]
            linear -= correlations[i]
            row[:] = search.solve(shifts[i], linear, None if codes is None else row)
            gap += e * row
        if not (np.isfinite(shifts).all() and np.isfinite(S).all()):
            raise MethodFailed("the codes are not finite; lower alpha or mu")
        return S


def fit_dictionary(X: Float, codes: Float) -> Float:
    """Return the atoms, as columns, that best fit the samples; zeros if unused."""
    dictionary = np.zeros((X.shape[1], codes.shape[1]))
    is_used = codes.any(axis=0)
    if is_used.any():
        S = codes[:, is_used]
        dictionary[:, is_used] = _dual_atoms(S.T @ S, S.T @ X).T
    return dictionary


class _DualPoint:
    """The dual of the dictionary problem at `multipliers` m >= 0 of atom lengths.

    Its value is ``tr(P.T (G + diag(m))^-1 P) + sum(m)`` with the inner products G of
    the codes and their products P with the samples.
    """

    def __init__(self, gram: Float, products: Float, multipliers: Float) -> None:
        factor = linalg.cho_factor(gram + np.diag(multipliers), check_finite=False)
        self.multipliers, identity = multipliers, np.eye(len(gram))
        self.inverse: Float = linalg.cho_solve(factor, identity, check_finite=False)
        self.atoms: Float = linalg.cho_solve(factor, products, check_finite=False)
        self.value = float(np.vdot(products, self.atoms) + multipliers.sum())


def _dual_atoms(gram: Float, products: Float) -> Float:
    """Return the atoms, as rows, at the minimum of the dual, by projected Newton."""
    dual = partial(_DualPoint, gram, products)
    # Relative to the size of the codes, so that the matrix always has a factor.
    floor = max(1e-12, 1e-15 * np.trace(gram))
    point = dual(np.full(len(gram), max(5.0, floor)))
    for _ in range(100):
        gradient = 1.0 - np.einsum("ij,ij->i", point.atoms, point.atoms)
        is_free = (point.multipliers > floor) | (gradient <= 0)
        if not is_free.any() or np.abs(gradient[is_free]).max() < 1e-9:
            break
        atoms, step = point.atoms[is_free], np.zeros_like(gradient)
        hessian = 2.0 * (atoms @ atoms.T) * point.inverse[np.ix_(is_free, is_free)]
        _, solved, info = linalg.lapack.dposv(hessian, gradient[is_free])
        # If rounding prevents a Cholesky factor, the scaled gradient still descends.
        step[is_free] = -(gradient[is_free] / np.diag(hessian) if info else solved)
        for k in range(50):
            candidate = dual(np.maximum(point.multipliers + 0.5**k * step, floor))
            expected = gradient @ (candidate.multipliers - point.multipliers)
            if candidate.value <= point.value + 1e-4 * expected:
                break
        else:
            break
        decrease, point = point.value - candidate.value, candidate
        if decrease <= 1e-14 * abs(point.value):
            break
    return point.atoms
