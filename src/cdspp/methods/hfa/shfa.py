"""SHFA: heterogeneous feature augmentation, semi-supervised."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.utils._param_validation import StrOptions

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import counts, row_normalise
from cdspp.methods.base import POSITIVE, Float, Iteration, Problem
from cdspp.methods.hfa import hfa
from cdspp.methods.hfa.hfa import HFA, AugmentedMachine, GaussianKernel, Solution

# Iterations without progress after which rows are exchanged one at a time.
PATIENCE = 3
# Number of candidate labellings that are scored at a time.
CHUNK = 256


class ExactSolver:
    """Minimises ``a^T Q a / 2`` on the simplex by block principal pivoting.

    ``v = a / (a^T Q a)`` solves the complementarity problem ``Q v >= 1``, ``v >= 0``,
    ``v^T (Q v - 1) = 0``, starting from the previous support. Exchanging one row at a
    time always terminates; exchanging all violating rows takes fewer steps.
    """

    def __init__(self, n: int) -> None:
        self._support = np.ones(n, dtype=bool)

    def __call__(self, Q: Float) -> Float:
        """Return the minimiser for a positive definite `Q`, up to rounding."""
        support = self._support.copy()
        fewest, patience = len(Q) + 1, PATIENCE
        for _ in range(10 * len(Q)):  # more iterations would be due to rounding
            rows, v = np.flatnonzero(support), np.zeros(len(Q))
            # Rows first, then columns: several times faster than both at once. The
            # transpose of a symmetric matrix has LAPACK's order, for work in place.
            block = Q.take(rows, axis=0).take(rows, axis=1).T
            try:
                factor = linalg.cho_factor(block, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError as error:
                reason = "the kernel is singular; choose lower costs"
                raise MethodFailed(reason) from error
            v[rows] = linalg.cho_solve(factor, np.ones(len(rows)), check_finite=False)
            is_violated = np.where(support, v < 0, Q @ v - 1.0 < -1e-10)
            violations = np.flatnonzero(is_violated)
            if not len(violations):
                self._support = support
                return np.asarray(v / v.sum())
            if len(violations) < fewest:
                fewest, patience = len(violations), PATIENCE
            elif patience:
                patience -= 1
            exchanges = violations if patience else violations[-1:]
            support[exchanges] = ~support[exchanges]
        raise MethodFailed("principal pivoting did not converge; choose lower costs")


def ratio_labels(values: Float, expected: float) -> Float:
    """Label about `expected` rows with the largest values +1, and the others -1.

    The number is rounded down if more values are positive, and otherwise up.
    """
    is_over = np.sum(values > 0) > expected
    n_positive = int(np.floor(expected) if is_over else np.ceil(expected))
    labels = np.full(len(values), -1.0)
    labels[np.argsort(-values, kind="stable")[:n_positive]] = 1.0
    return labels


def _positive_sums(values: Float, expected: float) -> Float:
    """Return, by row, the sum of the values that `ratio_labels` makes positive."""
    lower, upper = int(np.floor(expected)), int(np.ceil(expected))
    if not upper:
        return np.zeros(len(values))
    is_over = (values > 0).sum(axis=1) > expected
    first = values.shape[1] - upper
    ordered = np.partition(values, first, axis=1)[:, first:]
    return np.asarray(ordered.sum(axis=1) - is_over * (upper - lower) * ordered[:, 0])


class LabellingKernels(NamedTuple):
    """Kernels of all machines; rows are source, labelled target, unlabelled target.

    `shifted` is the kernel plus one; the root of a kernel, `root`, scores labellings.
    """

    shifted: Float
    root: Float
    first: tuple[Float, Float]
    ridge: Float
    n_fixed: int
    scale: float


class LabellingMachine(AugmentedMachine):
    """A machine on kernels times guessed labellings, of which `labels` is the first."""

    def __init__(
        self,
        kernels: LabellingKernels,
        labels: Float,
        expected: float,
        minimise: Callable[[Float], Float],
    ) -> None:
        super().__init__(kernels.first, kernels.scale)
        self._kernels, self._expected, self._minimise = kernels, expected, minimise
        self._labels = labels[:, None]
        self._buffer = np.empty_like(kernels.shifted)

    def solve(self, weights: Float) -> Solution:
        """Solve the quadratic problem for given weights of the labellings."""
        dual = self._minimise(self._quadratic(weights))
        strengths = self._strengths(dual)
        ridge = float(dual @ (self._kernels.ridge * dual))
        objective = -0.5 * (float(weights @ strengths) + ridge)
        return Solution(weights, dual, strengths, objective)

    def _quadratic(self, weights: Float) -> Float:
        """Return ``sum_m d_m B_m + W``; labellings differ only in unlabelled rows."""
        Q, n_fixed = self._buffer, self._kernels.n_fixed
        fixed_labels, guesses = self._labels[:n_fixed, 0], self._labels[n_fixed:]
        mean = guesses @ weights
        row_labels = np.concatenate([fixed_labels * weights.sum(), mean])
        np.multiply(fixed_labels[:, None], row_labels, out=Q[:n_fixed])
        np.multiply(mean[:, None], fixed_labels, out=Q[n_fixed:, :n_fixed])
        np.matmul(guesses * weights, guesses.T, out=Q[n_fixed:, n_fixed:])
        Q *= self._kernels.shifted
        hfa.add_columns(Q, self._columns * self._labels, weights)
        Q[np.diag_indices_from(Q)] += self._kernels.ridge
        return Q

    def _strengths(self, dual: Float) -> Float:
        shifted, n_fixed = self._kernels.shifted, self._kernels.n_fixed
        signed = self._labels * dual[:, None]
        rows = n_fixed + np.flatnonzero(dual[n_fixed:])
        fixed_duals, guesses = signed[:n_fixed, 0], signed[rows]
        # Rows first, then columns: several times faster than both at once.
        block = shifted.take(rows, axis=0).take(rows, axis=1)
        norms = np.einsum("um,um->m", guesses, block @ guesses)
        norms += 2.0 * guesses.T @ (shifted[rows, :n_fixed] @ fixed_duals)
        norms += fixed_duals @ (shifted[:n_fixed, :n_fixed] @ fixed_duals)
        return np.asarray(np.einsum("im,im->m", self._columns, signed) ** 2 + norms)

    def extend(self, solution: Solution) -> bool:
        """Add the labelling with the largest coordinate of ``root (a * y)``."""
        dual, n_fixed = solution.dual, self._kernels.n_fixed
        best = int(self._scores(dual).argmax())
        sign, row = (1.0, best) if best < len(dual) else (-1.0, best - len(dual))
        values = sign * self._kernels.root[row, n_fixed:] * dual[n_fixed:]
        guesses = ratio_labels(values, self._expected)
        labels = np.concatenate([self._labels[:n_fixed, 0], guesses])
        signed = labels * dual
        if is_added := self._add(signed, self._kernels.shifted @ signed - signed.sum()):
            self._labels = np.column_stack([self._labels, labels])
        return is_added

    def _scores(self, dual: Float) -> Float:
        """Return the scores of the 2n candidates without labelling any row.

        ``sum(y z)`` is twice the sum of the values that become positive, minus the sum
        of all values. Only as many zeros are kept as may become positive.
        """
        n_fixed, root = self._kernels.n_fixed, self._kernels.root
        rows = n_fixed + np.flatnonzero(dual[n_fixed:])
        n_zeros = min(len(root) - n_fixed - len(rows), int(np.ceil(self._expected)))
        agreement = root[:, :n_fixed] @ (self._labels[:n_fixed, 0] * dual[:n_fixed])
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
        # The average over all rows with a positive dual variable.
        Q = self._quadratic(solution.weights)
        margin = float(np.mean(Q[np.flatnonzero(solution.dual)] @ solution.dual))
        return values / margin, float(mean.sum()) / margin


def symmetric_root(A: Float) -> Float:
    """Return the symmetric root of `A`, with negative eigenvalues set to zero."""
    values, vectors = linalg.eigh(A, check_finite=False)
    vectors *= np.maximum(values, 0.0) ** 0.25
    return np.asarray(vectors @ vectors.T)


class SHFA(HFA):
    r"""Semi-supervised heterogeneous feature augmentation (SHFA).

    `HFA` with guessed labels for the unlabelled target rows. Guesses and augmentation
    are learned as weights d of kernels :math:`B_m`, one per pair of a labelling
    :math:`y_m` and a direction :math:`h_m`:

    .. math::

        \max_{d \ge 0,\ \lVert d \rVert_p \le 1}\ \min_{\alpha \ge 0,\ 1^T \alpha = 1}\
        \tfrac12 \alpha^T \Bigl( \sum_m d_m B_m + W \Bigr) \alpha, \quad
        B_m = (K + 1 1^T + \lambda K^{1/2} h_m h_m^T K^{1/2}) \circ (y_m y_m^T)

    with the block diagonal matrix K of a Gaussian kernel per domain, and the diagonal
    matrix W of the inverse costs of all rows.

    Parameters
    ----------
    prior : {"uniform", "labelled"} or array-like of shape (n_classes,), \
            default="uniform"
        Share of each class among the unlabelled rows, which bounds the guesses: equal
        shares, those of the labelled target rows, or given shares in the order of
        `classes_`.
    trace_bound, C_source, C_target, max_iter, max_inner_iter, tol
        As in `HFA`, which has references and an example.
    C_unlabelled : float, default=1e-3
        Cost of a margin violation of an unlabelled row.
    p : float, default=1.5
        Norm of the weights of the labellings.
    solver : {"libsvm", "exact"}, default="libsvm"
        Solver of the quadratic problems: LIBSVM's one-class machine, as in the authors'
        code, or block principal pivoting, which has no tolerance.
    svm_tol : float, default=1e-3
        Tolerance of LIBSVM.

    Attributes
    ----------
    n_columns_ : ndarray of shape (n_classes,)
        Number of labellings per class; other attributes are those of `HFA`.

    Notes
    -----
    For n rows of both domains together, roots of the kernels cost O(n^3) once. Each
    class takes some three hundred quadratic problems with matrices of size n x n, each
    O(n^2 m) to build for m labellings, and O(n^2) per new labelling: minutes per class
    for thousands of rows. Up to five matrices of size n x n exist at once. Rows and
    kernels are those of `HFA`. The authors' code takes `prior` from the labels to be
    predicted, which are never seen here. The search for the most violated labelling
    uses single coordinates of a root of the kernel, not the norm of the objective. The
    tolerance of LIBSVM matters: the exact solver labels a few rows in a hundred
    differently. LIBSVM starts at the first rows, so that reordering the rows may change
    labels, but none with ``solver="exact"``; the given order is the authors'. A class
    in only one domain is treated as in `HFA`, and `prior` has the class shares.
    """

    _parameter_constraints = {
        **HFA._parameter_constraints,
        "prior": [StrOptions({"uniform", "labelled"}), "array-like"],
        "C_unlabelled": [POSITIVE],
        "solver": [StrOptions({"libsvm", "exact"})],
    }

    def __init__(
        self,
        prior: str | ArrayLike = "uniform",
        trace_bound: float = 100.0,
        C_source: float = 1.0,
        C_target: float = 1.0,
        C_unlabelled: float = 1e-3,
        p: float = 1.5,
        max_iter: int = 50,
        max_inner_iter: int = 100,
        tol: float = 1e-3,
        solver: str = "libsvm",
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(
            trace_bound, C_source, C_target, p, max_iter, max_inner_iter, tol, svm_tol
        )
        self.prior, self.C_unlabelled, self.solver = prior, C_unlabelled, solver

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        # Roots of the kernels, and some three hundred solutions per class on all rows.
        n = float(size.n_source + size.n_target)
        seconds = 3e-10 * n**3 + size.n_classes * (0.5 + 7e-6 * n**2)
        return seconds, 170.0 + 40e-6 * n**2

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        expected = self._expected_counts(problem)
        parts = problem.X_source, problem.X_labelled, problem.X_unlabelled
        source = GaussianKernel(row_normalise(parts[0]))
        target = GaussianKernel(row_normalise(np.vstack(parts[1:])))
        K = linalg.block_diag(source.gram, target.gram)
        costs = self.C_source, self.C_target, self.C_unlabelled
        n_source, n_fixed = len(parts[0]), len(parts[0]) + len(parts[1])
        kernels = LabellingKernels(
            root=symmetric_root((1.0 + self.trace_bound) * K + 1.0),
            shifted=K + 1.0,
            first=self._first_column(source, target),
            ridge=1.0 / np.repeat(costs, [len(X) for X in parts]),
            n_fixed=n_fixed,
            scale=float(np.sqrt(self.trace_bound)),
        )
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        rows = slice(n_source, n_fixed)

        def machine(code: int) -> LabellingMachine:
            # The first guess is by a machine on the labelled target rows only.
            signs = np.where(codes == code, 1.0, -1.0)
            y, ridge = signs[rows], np.diag(kernels.ridge[rows])
            Q = kernels.shifted[rows, rows] * np.outer(y, y) + ridge
            values = kernels.shifted[n_fixed:, rows] @ (y * self._solver(len(y))(Q))
            labels = np.concatenate([signs, ratio_labels(values, expected[code])])
            solver = self._solver(len(labels))
            return LabellingMachine(kernels, labels, expected[code], solver)

        self._learn(target, problem.n_classes, machine)
        return []

    def _solver(self, n: int) -> Callable[[Float], Float]:
        exact = self.solver == "exact"
        return ExactSolver(n) if exact else partial(hfa.one_class, tol=self.svm_tol)

    def _expected_counts(self, problem: Problem) -> Float:
        n_classes, n_unlabelled = problem.n_classes, len(problem.X_unlabelled)
        if isinstance(self.prior, str):
            sizes = counts(problem.y_labelled, n_classes)
            sizes = sizes if self.prior == "labelled" else np.ones(n_classes)
            shares = sizes / sizes.sum()
        else:
            shares = np.asarray(self.prior, dtype=np.float64)
            has_shares = shares.shape == (n_classes,) and (shares >= 0).all()
            if not (has_shares and np.isclose(shares.sum(), 1.0)):
                raise ValueError(
                    f"prior needs a nonnegative share for each of {n_classes} classes, "
                    f"with the sum 1, got {shares}. Give them in the order of the "
                    "sorted labels, divided by their sum."
                )
        expected = np.minimum(shares, 1.0) * n_unlabelled
        whole = np.round(expected)  # a share times a number of rows has rounding errors
        return np.asarray(np.where(np.abs(expected - whole) < 1e-9, whole, expected))
