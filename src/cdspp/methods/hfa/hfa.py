r"""HFA: heterogeneous feature augmentation, supervised.

It learns a matrix ``H = trace_bound * sum_m d_m h_m h_m^T``, one direction h_m at a
time, with a machine whose kernel is ``K + sum_m d_m g_m g_m^T`` for the columns ``g_m =
sqrt(trace_bound) K^{1/2} h_m``. Neither H nor a matrix root is formed.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy import linalg
from sklearn.svm import SVC, OneClassSVM
from sklearn.utils._param_validation import Interval

from cdspp.core.errors import MethodFailed
from cdspp.core.files import storable
from cdspp.core.linalg import row_normalise, squared_distances
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem

log = logging.getLogger(__name__)


class GaussianKernel:
    """Gaussian kernel of unit rows; gamma is the inverse mean squared distance."""

    def __init__(self, X: Float) -> None:
        distances = squared_distances(X, X)
        mean = distances.mean()
        # With a smaller mean distance, rows of unit length only differ by rounding.
        self.X, self.gamma = X, 1.0 / mean if mean > 1e-13 else 0.0
        distances *= -self.gamma
        self.gram: Float = np.exp(distances, out=distances)


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
        kernel = np.exp(-self.gamma * squared_distances(X, self.rows))
        return np.asarray((kernel @ self.coefficients + self.intercepts).argmax(axis=1))


class Solution(NamedTuple):
    """A solved machine for fixed weights; `strengths` are ``a^T B_m a`` of its dual."""

    weights: Float
    dual: Float
    strengths: Float
    objective: float
    offset: float = 0.0


class AugmentedMachine(ABC):
    """A machine of one class against all others, on weighted columns.

    Each column is stored with its expansion in the target rows, which come last.
    """

    def __init__(self, first: tuple[Float, Float], scale: float) -> None:
        self._columns, self._expansions = (vector[:, None] for vector in first)
        self._scale = scale

    @abstractmethod
    def solve(self, weights: Float) -> Solution:
        """Solve the machine for given weights of the columns."""

    @abstractmethod
    def extend(self, solution: Solution) -> bool:
        """Add the column that `solution` violates most; return False if none."""

    @abstractmethod
    def expansion(self, solution: Solution) -> tuple[Float, float]:
        """Return the coefficients of the target rows and the constant."""

    def _add(self, dual: Float, column: Float) -> bool:
        """Add the scaled column of signed dual variables, unless it is zero."""
        norm = float(dual @ column)
        if norm <= 0:
            return False
        factor = self._scale / np.sqrt(norm)
        expansion = dual[-len(self._expansions) :]
        self._columns = np.column_stack([self._columns, factor * column])
        self._expansions = np.column_stack([self._expansions, factor * expansion])
        return True


def next_weights(weights: Float, strengths: Float, p: float) -> Float:
    """Return the closed-form weights of lp-norm multiple-kernel learning."""
    powers = (weights * np.sqrt(np.maximum(strengths, 0.0))) ** (2.0 / (p + 1.0))
    norm = float(np.sum(powers**p) ** (1.0 / p))
    return powers / norm if norm > 0 else weights


def add_columns(K: Float, columns: Float, weights: Float) -> None:
    """Add ``columns @ diag(weights) @ columns.T`` to the C-ordered square `K`."""
    G = np.asfortranarray(columns * np.sqrt(weights))
    linalg.blas.dgemm(1.0, G, G, beta=1.0, c=K.T, trans_b=True, overwrite_c=True)


def root_sums(K: Float) -> tuple[Float, Float]:
    """Return ``R 1`` and ``R^+ 1`` for the symmetric root R of `K`."""
    values, vectors = linalg.eigh(K, check_finite=False)
    roots = np.sqrt(np.maximum(values, 0.0))
    sums = vectors.sum(axis=0)
    nonzero = roots > len(K) * np.spacing(roots[-1])
    inverse = vectors[:, nonzero] @ (sums[nonzero] / roots[nonzero])
    return np.asarray(vectors @ (roots * sums)), np.asarray(inverse)


class _HingeMachine(AugmentedMachine):
    """A hinge-loss machine on the augmented kernel; `y` is +1 for the class or -1."""

    def __init__(
        self, K: Float, y: Float, costs: Float, tol: float, *augmentation: Any
    ) -> None:
        super().__init__(*augmentation)
        self._K, self._y, self._costs, self._tol = K, y, costs, tol
        self._kernel = np.empty_like(K)

    def solve(self, weights: Float) -> Solution:
        np.copyto(self._kernel, self._K)
        add_columns(self._kernel, self._columns, weights)
        solve, costs = _libsvm_solver(), self._costs
        dual, offset = solve(self._kernel, self._tol, self._y, sample_weight=costs)
        strengths = (self._columns.T @ dual) ** 2
        norm = float(dual @ self._kernel_product(dual))
        objective = np.abs(dual).sum() - 0.5 * (weights @ strengths + norm)
        return Solution(weights, dual, strengths, float(objective), offset)

    def extend(self, solution: Solution) -> bool:
        return self._add(solution.dual, self._kernel_product(solution.dual))

    def expansion(self, solution: Solution) -> tuple[Float, float]:
        shares = solution.weights * (self._columns.T @ solution.dual)
        target_duals = solution.dual[-len(self._expansions) :]
        return np.asarray(self._expansions @ shares + target_duals), solution.offset

    def _kernel_product(self, dual: Float) -> Float:
        support = np.flatnonzero(dual)
        return np.asarray(dual[support] @ self._K[support])


@dataclass(eq=False, repr=False)
class HFA(base.HeterogeneousClassifier):
    r"""Heterogeneous feature augmentation (HFA).

    Source rows become :math:`(P x; x; 0)`, target rows :math:`(Q x; 0; x)`. One support
    vector machine per class is learned with P and Q, which only enter through H:

    .. math::

        \min_{H \succeq 0,\ \mathrm{tr} H \le \lambda}\ \max_{\alpha}\
        1^T \alpha - \tfrac12 (\alpha \circ y)^T K^{1/2} (I + H) K^{1/2}
        (\alpha \circ y), \quad 0 \le \alpha_i \le C_i,\ y^T \alpha = 0

    with the block diagonal matrix K of a Gaussian kernel per domain. H is a sum of
    rank-one directions, found one by one and weighted by multiple-kernel learning.

    Parameters
    ----------
    trace_bound : float, default=100.0
        The bound :math:`\lambda` on the trace of H.
    C_source : float, default=1.0
    C_target : float, default=1.0
        Costs of margin violations of source rows and of labelled target rows.
    p : float, default=1.0
        Norm of the weights of the directions.
    max_iter : int, default=50
        Maximum number of directions per class.
    max_inner_iter : int, default=100
        Maximum number of updates of the weights after each new direction.
    tol : float, default=1e-3
        Relative change of the objective below which both loops stop.
    svm_tol : float, default=1e-3
        Tolerance of LIBSVM.

    Attributes
    ----------
    n_columns_ : ndarray of shape (n_classes,)
        Number of directions of each class.

    Notes
    -----
    For n source rows and labelled target rows, each class takes up to a few hundred
    solutions of a support vector machine, each O(n^2 m) for the kernel with m
    directions. Rows are scaled to unit length, and the width of each Gaussian is the
    mean squared distance of the rows of its domain. Unlabelled rows are not used. A
    class in only one domain also has a machine and may be predicted. All rows of a
    domain have the same cost, so large classes have more weight. Reordering the rows
    may change a few labels, within the tolerance of LIBSVM. As in the authors' code,
    the first direction is constant, and after each new direction the weights restart
    from equal values. The number of directions depends on the tolerance of the solver;
    the predictions hardly do.

    References
    ----------
    .. [1] Li, W., Duan, L., Xu, D., Tsang, I. W., "Learning with augmented features for
       supervised and semi-supervised heterogeneous domain adaptation", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 36(6), 2014.
       :doi:`10.1109/TPAMI.2013.167`
    .. [2] Kloft, M., Brefeld, U., Sonnenburg, S., Zien, A., "Lp-norm multiple kernel
       learning", Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> from cdspp import HFA, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.1], [0.0, 1.0, 0.2]], [0, 1])
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.8, 0.1]]
    >>> HFA().fit(X, [0, 1, -1, -1], source=source).transduction_
    array([0, 1, 0, 1])
    """

    trace_bound: float = 100.0
    C_source: float = 1.0
    C_target: float = 1.0
    p: float = 1.0
    max_iter: int = 50
    max_inner_iter: int = 100
    tol: float = 1e-3
    svm_tol: float = 1e-3

    _parameter_constraints = {
        "trace_bound": [base.POSITIVE],
        "C_source": [base.POSITIVE],
        "C_target": [base.POSITIVE],
        "p": [Interval(Real, 1, None, closed="left")],
        "max_iter": [base.COUNT],
        "max_inner_iter": [base.COUNT],
        "tol": [base.NON_NEGATIVE],
        "svm_tol": [base.POSITIVE],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        # A few hundred solutions per class, each with a kernel of all labelled rows.
        squares = float(size.n_source + size.n_labelled) ** 2
        return 0.1 + size.n_classes * (0.01 + 3e-6 * squares), 170.0 + 40e-6 * squares

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        source = GaussianKernel(row_normalise(problem.X_source))
        target = GaussianKernel(row_normalise(problem.X_labelled))
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        K = linalg.block_diag(source.gram, target.gram)
        augmentation = self._first_column(source, target), np.sqrt(self.trace_bound)
        sizes = [len(source.X), len(target.X)]
        costs = np.repeat([self.C_source, self.C_target], sizes).astype(np.float64)

        def machine(code: int) -> AugmentedMachine:
            y = np.where(codes == code, 1.0, -1.0)
            return _HingeMachine(K, y, costs, self.svm_tol, *augmentation)

        self._learn(target, problem.n_classes, machine)
        return []

    def _first_column(
        self, source: GaussianKernel, target: GaussianKernel
    ) -> tuple[Float, Float]:
        """Return the column of a constant direction, and its expansion."""
        sums, inverse_sums = root_sums(target.gram)
        sums = np.concatenate([root_sums(source.gram)[0], sums])
        factor = np.sqrt(self.trace_bound / len(sums))
        return factor * sums, factor * inverse_sums

    def _learn(
        self,
        target: GaussianKernel,
        n_classes: int,
        machine_of: Callable[[int], AugmentedMachine],
    ) -> None:
        """Learn a machine per class code; a single class needs none."""
        coefficients = np.zeros((len(target.X), n_classes))
        intercepts = np.zeros(n_classes)
        self.n_columns_ = np.zeros(n_classes, dtype=np.intp)
        for code in range(n_classes if n_classes > 1 else 0):
            machine = machine_of(code)
            solution = self._generate_columns(machine)
            coefficients[:, code], intercepts[code] = machine.expansion(solution)
            n_columns = self.n_columns_[code] = len(solution.weights)
            log.info("class %d of %d: %d columns", code + 1, n_classes, n_columns)
        self._values = TargetExpansion(target.X, target.gamma, coefficients, intercepts)

    def _generate_columns(self, machine: AugmentedMachine) -> Solution:
        """Add columns until the objective settles; return the last solution."""
        solution = self._learn_weights(machine, 1)
        for n_columns in range(2, self.max_iter + 1):
            if not machine.extend(solution):
                break
            previous, solution = solution, self._learn_weights(machine, n_columns)
            if self._converged(solution, previous):
                break
        return solution

    def _learn_weights(self, machine: AugmentedMachine, n_columns: int) -> Solution:
        """Alternate machine and weights, starting from equal weights of p-norm one."""
        p = self.p
        solution = machine.solve(np.full(n_columns, n_columns ** (-1.0 / p)))
        for _ in range(self.max_inner_iter - 1):
            previous = solution
            weights = next_weights(previous.weights, previous.strengths, p)
            solution = machine.solve(weights)
            if self._converged(solution, previous):
                break
        return solution

    def _converged(self, solution: Solution, previous: Solution) -> bool:
        change = abs(solution.objective - previous.objective)
        return change <= self.tol * abs(solution.objective)

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._values.predict(row_normalise(X)), None


# LIBSVM on kernel matrices, by scikit-learn's inner routine: on a small machine, the
# checks of its public classes take several times as long. The public classes are used
# if the routine is missing or gives another machine. The cache size is in MB.
SVM_OPTIONS = {"kernel": "precomputed", "cache_size": 200.0}
C_SVC, ONE_CLASS = 0, 2


def one_class(Q: Float, tol: float) -> Float:
    """Return the minimiser of ``a^T Q a / 2``, ``a >= 0``, with a sum of about 1."""
    # Five digits, as in the authors' code: LIBSVM's tolerance makes the start matter.
    share = float(f"{1.0 / len(Q):.5g}")
    return _libsvm_solver()(Q, tol, nu=share)[0] if len(Q) > 1 else np.ones(1)


@cache
def _libsvm_solver() -> Callable[..., tuple[Float, float]]:
    """Return the inner routine if it agrees with the public classes, or else these.

    Both return signed dual variables and the intercept; a `y` must have both signs.
    """
    try:
        if _probe(_by_inner_routine) == _probe(_by_public_class):
            return _by_inner_routine
    # In another release, it may be missing, or take or return something else.
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    return _by_public_class


def _probe(solve: Callable[..., tuple[Float, float]]) -> list[tuple[bytes, float]]:
    """Return the machines of a small problem, with active and inactive bounds."""
    rows = np.random.default_rng(0).standard_normal((12, 4))
    kernel = rows @ rows.T + np.eye(12)
    y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    hinge = solve(kernel, 1e-3, y, sample_weight=np.linspace(0.1, 2.0, 12))
    single = solve(kernel, 1e-3, nu=0.1)
    return [(dual.tobytes(), intercept) for dual, intercept in (hinge, single)]


def _by_inner_routine(
    kernel: Float, tol: float, y: Float | None = None, **extra: Any
) -> tuple[Float, float]:
    from sklearn.svm import _libsvm

    _libsvm.set_verbosity_wrap(0)
    labels = np.ones(len(kernel)) if y is None else (y < 0).astype(np.float64)
    extra |= SVM_OPTIONS | {"tol": tol, "svm_type": ONE_CLASS if y is None else C_SVC}
    support, _, _, duals, intercepts, *_ = _libsvm.fit(kernel, labels, **extra)
    return _full_dual(len(kernel), support, duals, intercepts)


def _by_public_class(
    kernel: Float, tol: float, y: Float | None = None, **extra: Any
) -> tuple[Float, float]:
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        if y is None:
            svm = OneClassSVM(tol=tol, **SVM_OPTIONS, **extra).fit(kernel)
            return _full_dual(len(kernel), svm.support_, svm.dual_coef_, svm.intercept_)
        # For LIBSVM, the first side is the one that scikit-learn sorts first.
        svm = SVC(tol=tol, **SVM_OPTIONS).fit(kernel, -y, **extra)
    # With two classes, scikit-learn flips the signs: positive means the second class.
    return _full_dual(len(kernel), svm.support_, -svm.dual_coef_, -svm.intercept_)


def _full_dual(n: int, support: Any, duals: Any, offsets: Any) -> tuple[Float, float]:
    dual, offset = np.zeros(n), float(offsets[0])
    dual[support] = duals[0]
    if not (np.isfinite(dual).all() and np.isfinite(offset)):
        raise MethodFailed("a weight is not finite; lower trace_bound or the costs")
    return dual, offset
