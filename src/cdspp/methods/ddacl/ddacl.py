"""DDACL: a shared softmax classifier on projections with aligned class means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from cdspp.core.linalg import class_sums, counts, softmax
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.ddacl.lbfgs import minimise
from cdspp.methods.problem import Collapse, find_collapse
from cdspp.methods.shared.common_subspace import SubspaceMethod

INITIAL_SCALE = 0.01


@dataclass(eq=False, repr=False)
class DDACL(SubspaceMethod, base.ConfidentClassifier):
    r"""Discriminative distribution alignment with cross-entropy loss (DDACL).

    Alternately learns a linear projection of each domain with one softmax classifier of
    both, and the labels of the unlabelled rows:

    .. math::

        \min_{W, b, P_s, P_t} \ell_s + \ell_t
        + \frac{\beta}{2 \kappa} \lVert A_s P_s - A_t P_t \rVert_F^2
        - \frac{\tau}{2} \frac{C}{C - 1} \sum_{k = s, t} \lVert H M_k P_k \rVert_F^2
        + \frac{\lambda}{2} \bigl(\lVert W \rVert_F^2 + \lVert P_s \rVert_F^2
        + \lVert P_t \rVert_F^2\bigr)

    with the mean cross entropies ``l_s`` and ``l_t`` of the labelled rows, the class
    means ``M_k``, the matrix ``A_k`` of the mean of all rows and the class means, the
    centring matrix `H`, and the norm `kappa` of the weights of the squared discrepancy.
    Rows are scaled to unit length first.

    Parameters
    ----------
    beta : float, default=0.001
        Weight of the discrepancy between the domains.
    tau : float, default=0.002
        Weight of the scatter of the class means. The objective is only bounded below if
        it is small enough; the authors use 0.001 for text and ImageNet.
    ridge : float, default=0.001
        Weight of the squared norms, the paper's lambda.
    n_components : int, default=100
        Dimension of the subspace, independent of the numbers of features and classes.
    max_iter : int, default=5
        Number of iterations of labelling and fitting.
    n_line_searches : int, default=20
        Number of line searches of the optimiser per iteration.
    random_state : int, RandomState or None, default=None
        Seed of the initial values; nothing else is random.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_classes, n_components), (n_classes,)
        Weights and intercepts of the classifier.
    objective_ : ndarray of shape (max_iter + 1,)
        Objective at the end of the first fit, which only sees the labelled target rows,
        and of each iteration. If the last value is negative, the fit has diverged
        (`collapsed_`, with a CollapseWarning).

    Notes
    -----
    An evaluation costs O(r C (n + d)) per domain for n labelled rows, d components, and
    r features or rows, whichever are fewer; there are about 60 evaluations per
    iteration. One QR decomposition per domain, O(d_s n_s^2), makes r small. Unlabelled
    rows are read once per iteration. The separation of class means is concave: if they
    scatter widely in both domains, the objective is unbounded below, and only the
    limited number of line searches keeps the result finite, which then depends on the
    seed and on rounding. The optimiser of the authors' code, and its softmax, which may
    overflow, are therefore part of the method. Reordering the rows only affects the
    rounding of sums, but may change many labels, and the accuracy of a trial by points,
    about as much as another seed; on the embedded texts it changes none. Renaming the
    classes draws other weights. `fit` raises `MethodFailed` for a class in only one
    domain, without a source row or a labelled target row. Each row counts once in the
    cross entropies and each class once in the means, whatever the class sizes.

    References
    ----------
    .. [1] Yao, Y., Zhang, Y., Li, X., Ye, Y., "Discriminative distribution alignment: A
       unified framework for heterogeneous domain adaptation", Pattern Recognition 101,
       2020. :doi:`10.1016/j.patcog.2019.107165`

    Examples
    --------
    >>> from cdspp import DDACL, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], [0, 1])
    >>> X = [[0.9, 0.1], [0.2, 1.0], [0.8, 0.3], [0.1, 0.7]]
    >>> model = DDACL(random_state=0).fit(X, [0, 1, -1, -1], source=source)
    >>> model.transduction_
    array([0, 1, 0, 1])
    """

    beta: float = 0.001
    tau: float = 0.002
    ridge: float = 0.001
    n_components: int = 100
    max_iter: int = 5
    n_line_searches: int = 20
    random_state: Any = None

    _parameter_constraints = {
        "beta": [base.NON_NEGATIVE],
        "tau": [base.NON_NEGATIVE],
        "ridge": [base.POSITIVE],
        "n_components": [base.COUNT],
        "max_iter": [base.COUNT],
        "n_line_searches": [base.COUNT],
        "random_state": ["random_state"],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        n, n_labelled, n_classes = size.n_source, size.n_labelled, size.n_classes
        rank = min(n + 1, size.d_source)
        rank_target = min(n_labelled + n_classes + 2, size.d_target)
        values = 4.0 * n_classes * (n * rank + n_labelled * rank_target)
        values += 1000.0 * n_classes * (rank + rank_target)
        reduced = 4.0 * size.d_source * n**2 * (n + 1 < size.d_source)
        reduced += 24.0 * size.d_target * (n_labelled + n_classes) ** 2
        reduced += 24.0 * n_classes * size.n_unlabelled * size.d_target
        memory = 2.0 * n * rank + 1200.0 * (rank + rank_target)
        return 0.02 + 9e-9 * values + 4e-11 * reduced, 8e-6 * memory

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        problem.require_every_class(self.classes_)
        prepared = self._prepare(problem)
        source = ReducedDomain(prepared.X_source, self._draw(problem))
        prepared = prepared.replace_source(source.rows, prepared.y_source)
        self._source_projection = source.projection
        self._objectives: list[float] = []
        # First the classifier and the target projection on the labelled target rows.
        target = ReducedDomain(prepared.X_labelled, self.projection_)
        domains = [(target.rows, prepared.y_labelled)]
        (projection,) = self._minimise(domains, (target.projection,))
        self.projection_ = target.expand(projection)
        codes = self._softmax(prepared.X_unlabelled).argmax(axis=1)
        iterations = []
        for iteration in range(1, self.max_iter + 1):
            self._fit_domains(prepared, codes)
            probabilities = self._softmax(prepared.X_unlabelled)
            codes, confidence = self._most_probable(probabilities)
            iterations.append(Iteration(iteration, codes, confidence, len(codes)))
        self.projection_source_ = source.expand(self._source_projection)
        self.objective_ = np.array(self._objectives)
        return iterations

    def _find_collapse(self, *signs: Any, **options: Any) -> Collapse:
        # Losses are positive, so a negative objective means that the quadratic form of
        # the projections is negative; scaling them up then lowers it without bound.
        value = float(self.objective_[-1])
        if value >= 0:
            return find_collapse(*signs, **options)
        return Collapse(
            "diverged",
            f"has diverged: its objective is {value:.2g}, and negative values have no "
            f"bound; lower tau from {self.tau:g}, for instance to {self.tau / 4:g}.",
        )

    def _draw(self, problem: Problem) -> Float:
        """Draw all initial values; return those of the source projection."""
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        rng = np.random.default_rng(seed)
        d, n_classes = self.n_components, problem.n_classes
        d_source, d_target = problem.X_source.shape[1], problem.X_labelled.shape[1]
        # One draw after another, in the order of the authors' code.
        self.coef_ = INITIAL_SCALE * rng.standard_normal((n_classes, d))
        self.intercept_ = INITIAL_SCALE * rng.standard_normal(n_classes)
        projection: Float = INITIAL_SCALE * rng.standard_normal((d_source, d))
        self.projection_ = INITIAL_SCALE * rng.standard_normal((d_target, d))
        return projection

    def _fit_domains(self, problem: Problem, codes: Int) -> None:
        """Fit on both domains, from the current values, with labels `codes`."""
        n_classes, n_labelled = problem.n_classes, len(problem.X_labelled)
        labelled = problem.X_labelled, problem.y_labelled
        means = stacked_means([labelled, (problem.X_unlabelled, codes)], n_classes)
        target = ReducedDomain(np.vstack([problem.X_labelled, means]), self.projection_)
        source = (problem.X_source, problem.y_source)
        y_target = np.concatenate([problem.y_labelled, codes])
        # The Frobenius norm of the n x n matrix of the squared discrepancy.
        of_all = 1.0 / len(problem.y_source) + 1.0 / len(y_target)
        of_class = 1.0 / counts(problem.y_source, n_classes)
        of_class += 1.0 / counts(y_target, n_classes)
        norm = np.sqrt((2 * n_classes + 1) * of_all**2 + of_class @ of_class)
        self._source_projection, projection = self._minimise(
            [source, (target.rows[:n_labelled], problem.y_labelled)],
            (self._source_projection, target.projection),
            means=(stacked_means([source], n_classes), target.rows[n_labelled:]),
            attraction=self.beta / norm,
            separation=self.tau * n_classes / max(n_classes - 1, 1),
        )
        self.projection_ = target.expand(projection)

    def _minimise(
        self,
        domains: Sequence[tuple[Float, Int]],
        projections: Sequence[Float],
        **alignment: Any,
    ) -> list[Float]:
        """Minimise from current values; set the classifier, return the projections."""
        start = [self.coef_, self.intercept_, *projections]
        objective = AlignmentObjective(domains, start, float(self.ridge), **alignment)
        x = np.concatenate([array.ravel() for array in start])
        x, values = minimise(objective, x, self.n_line_searches)
        self._objectives.append(values[-1])
        coef, intercept, *solution = unpack(x, start)
        self.coef_, self.intercept_ = coef.copy(), intercept.copy()
        return solution

    def _softmax(self, X: Float) -> Float:
        """Return class probabilities of target rows of unit length."""
        return softmax(X @ (self.projection_ @ self.coef_.T) + self.intercept_)

    def _probabilities(self, X: Float) -> Float:
        return self._softmax(self._prepare_target(X))


def unpack(vector: Float, arrays: Sequence[Float]) -> list[Float]:
    """Return views of a vector in the shapes of `arrays`."""
    parts = np.split(vector, np.cumsum([array.size for array in arrays[:-1]]))
    return [part.reshape(a.shape) for part, a in zip(parts, arrays, strict=True)]


@dataclass(frozen=True, eq=False)
class AlignmentObjective:
    """Cross entropy of the labelled rows, alignment and ridge, with the gradient.

    The variables are weights (n_classes, n_components) and intercepts of the
    classifier, and a projection per domain, with the shapes of `like`. Intercepts are
    not regularised. The alignment pulls the `means` of two domains together, and those
    of different classes apart.
    """

    domains: Sequence[tuple[Float, Int]]
    like: Sequence[Float]
    ridge: float
    means: Sequence[Float] = ()
    attraction: float = 0.0
    separation: float = 0.0

    def __call__(self, vector: Float) -> tuple[float, Float]:
        """Return value and gradient; the value is NaN if the softmax overflows."""
        weights, biases, *projections = unpack(vector, self.like)
        gradient = self.ridge * vector
        of_weights, of_biases, *slopes = unpack(gradient, self.like)
        of_biases[:] = 0.0
        value = 0.5 * self.ridge * float(vector @ vector - biases @ biases)
        for (X, codes), P, slope in zip(self.domains, projections, slopes, strict=True):
            loss, errors = _cross_entropy(X @ (P @ weights.T) + biases, codes)
            if not np.isfinite(loss):
                return np.nan, gradient
            value += loss
            products = X.T @ errors
            slope += products @ weights
            of_weights += products.T @ P
            of_biases += errors.sum(axis=0)
        if self.means:
            value += self.align(projections, slopes)
        return value, gradient

    def align(self, projections: Sequence[Float], gradients: Sequence[Float]) -> float:
        """Return the value of the alignment; add its gradient to `gradients`."""
        projected = [A @ P for A, P in zip(self.means, projections, strict=True)]
        gap = projected[0] - projected[1]
        value = self.attraction * float(np.vdot(gap, gap))
        domains = zip(self.means, (1.0, -1.0), projected, gradients, strict=True)
        for A, sign, B, gradient in domains:
            deviations = B[1:] - B[1:].mean(axis=0)
            value -= self.separation * float(np.vdot(deviations, deviations))
            force = sign * self.attraction * gap
            force[1:] -= self.separation * deviations
            gradient += A.T @ force
        return value / 2.0


def _cross_entropy(scores: Float, codes: Int) -> tuple[float, Float]:
    """Return the mean cross entropy and its gradient, NaN on overflow."""
    rows = np.arange(len(codes))
    # The largest score is not subtracted: an overflow tells the line search of the
    # authors' code to halve a step that is too long.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        if not probabilities.min() > 0.0:
            return np.nan, probabilities
    loss = -float(np.log(probabilities[rows, codes]).mean())
    probabilities[rows, codes] -= 1.0
    probabilities /= len(codes)
    return loss, probabilities


def stacked_means(blocks: Sequence[tuple[Float, Int]], n_classes: int) -> Float:
    """Return the mean of all rows of the blocks, followed by the class means."""
    sums = sum(class_sums(X, codes, n_classes) for X, codes in blocks)
    sizes = sum(counts(codes, n_classes) for _, codes in blocks)
    total = np.sum(sums, axis=0) / np.sum(sizes)
    return np.vstack([total, sums / np.asarray(sizes)[:, None]])


class ReducedDomain:
    """Rows and a projection in as many coordinates as there are rows, without loss.

    All gradients of a projection, except that of the ridge, lie in the span of the
    `rows`. An orthonormal basis of the span thus gives a smaller problem with the same
    values. The rest of the projection is only scaled; its norm is stored in an
    additional feature that is zero in all rows.
    """

    def __init__(self, rows: Float, projection: Float) -> None:
        self.rows, self.projection, n = rows, projection, len(rows)
        self._basis: Float | None = None
        if n + 1 >= rows.shape[1]:
            return
        basis, triangle = linalg.qr(rows.T, mode="economic", check_finite=False)
        coordinates = basis.T @ projection
        remainder = projection - basis @ coordinates
        norm = float(linalg.norm(remainder))
        self.rows = np.zeros((n, n + 1))
        self.rows[:, :n] = triangle.T
        self.projection = np.vstack([coordinates, np.zeros(projection.shape[1])])
        self.projection[n, 0] = norm
        self._basis = basis
        self._remainder = remainder / norm if norm else remainder

    def expand(self, projection: Float) -> Float:
        """Return a reduced projection in the original features."""
        if self._basis is None:
            return projection
        part = self._basis @ projection[:-1]
        return np.asarray(part + projection[-1, 0] * self._remainder)
