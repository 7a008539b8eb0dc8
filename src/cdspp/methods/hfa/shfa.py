"""SHFA: heterogeneous feature augmentation, semi-supervised."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.utils._param_validation import StrOptions

from cdspp.core.linalg import counts, row_normalise
from cdspp.methods.base import Float, Problem, Round
from cdspp.methods.hfa.augmented_kernels import GaussianKernel, symmetric_root
from cdspp.methods.hfa.hfa import HFA
from cdspp.methods.hfa.labelling_machine import (
    ExactSolver,
    LabellingKernels,
    LabellingMachine,
    LibsvmSolver,
    ratio_labels,
)
from cdspp.methods.shared.constraints import POSITIVE

__all__ = ["SHFA"]

# A share times a number of rows this close to an integer is meant to be one.
COUNTING = 1e-9


class SHFA(HFA):
    r"""Semi-supervised heterogeneous feature augmentation (SHFA).

    `HFA` with guessed labels for the unlabelled target rows. Guesses and augmentation
    are learned as weights d of kernels :math:`B_m`, one for each pair of a labelling
    :math:`y_m` and a direction :math:`h_m`:

    .. math::

        \max_{d \ge 0,\ \lVert d \rVert_p \le 1}\ \min_{\alpha \ge 0,\ 1^T \alpha = 1}\
        \tfrac12 \alpha^T \Bigl( \sum_m d_m B_m + W \Bigr) \alpha, \quad
        B_m = (K + 1 1^T + \lambda K^{1/2} h_m h_m^T K^{1/2}) \circ (y_m y_m^T)

    with K the block diagonal matrix of a Gaussian kernel for each domain and W diagonal
    with one over the cost of each row.

    Parameters
    ----------
    prior : {"uniform", "labelled"} or array-like of shape (n_classes,), \
            default="uniform"
        Share of each class among the unlabelled rows, which bounds the guesses: equal
        shares; those of the labelled target rows; or known shares in the order of
        `classes_`.
    trace_bound, C_source, C_target, max_iter, max_inner_iter, tol
        As in `HFA`, of the augmentation and of labellings.
    C_unlabelled : float, default=1e-3
        Cost of a margin violation of an unlabelled row.
    p : float, default=1.5
        Norm of the weights of the labellings.
    solver : {"libsvm", "exact"}, default="libsvm"
        Solver of the quadratic problems: LIBSVM's one-class machine, as the authors
        have it, or block principal pivoting, which has no tolerance.
    svm_tol : float, default=1e-3
        Tolerance of LIBSVM.

    Attributes
    ----------
    n_columns_ : ndarray of shape (n_classes,)
        Number of labellings of each class; the others are those of `HFA`.

    Notes
    -----
    For n rows of both domains in all, O(n^3) once for roots of the kernels; a class
    takes some three hundred quadratic problems with matrices of size n x n, each
    O(n^2 m) to form with m labellings, and O(n^2) for each new labelling: minutes a
    class for thousands of rows. Up to five matrices of size n x n are held at once.
    Rows and kernels are those of `HFA`. The authors' code takes `prior` from the labels
    to be predicted; here it never sees them. The labelling that is violated most is
    searched among single coordinates of a root of the kernel rather than by the norm
    that the objective has. The tolerance of LIBSVM matters: the exact solver labels a
    few rows in a hundred differently.

    References
    ----------
    See `HFA`.

    Examples
    --------
    >>> from cdspp import SHFA, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.1], [0.0, 1.0, 0.2]], [0, 1])
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.8, 0.1]]
    >>> SHFA().fit(X, [0, 1, -1, -1], source=source).transduction_
    array([0, 1, 0, 1])
    """

    identifier = "shfa"
    display_name = "SHFA"
    supervised = False

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
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
    def work(cls, size: Any) -> tuple[float, float]:
        """Return about how many seconds a fit takes, and MB beside the data."""
        # Roots of the kernels; then some three hundred solves a class on all rows.
        n = float(size.n_source + size.n_target)
        seconds = 3e-10 * n**3 + size.n_classes * (0.5 + 7e-6 * n**2)
        return seconds, 170.0 + 40e-6 * n**2

    def _fit_problem(self, problem: Problem) -> list[Round]:
        expected = self._expected_counts(problem)
        rows = np.vstack([problem.X_labelled, problem.X_unlabelled])
        target = GaussianKernel(row_normalise(rows))
        source = GaussianKernel(row_normalise(problem.X_source))
        kernels = self._kernels(source, target, len(problem.y_labelled))
        machine_of = partial(self._machine, kernels, problem, expected)
        self._learn(target, problem.n_classes, machine_of)
        return [self._single_round(problem.X_unlabelled)]

    def _solver(self, n: int) -> LibsvmSolver | ExactSolver:
        exact = self.solver == "exact"
        return ExactSolver(n) if exact else LibsvmSolver(n, self.svm_tol)

    def _expected_counts(self, problem: Problem) -> Float:
        """Return how many unlabelled rows each class is expected to have."""
        n_classes, n_unlabelled = problem.n_classes, len(problem.X_unlabelled)
        if isinstance(self.prior, str):
            sizes = np.ones(n_classes)
            if self.prior == "labelled":
                sizes = counts(problem.y_labelled, n_classes)
            shares = sizes / sizes.sum()
        else:
            shares = np.asarray(self.prior, dtype=np.float64)
            if shares.shape != (n_classes,):
                raise ValueError(
                    f"prior needs one share for each of {n_classes} classes, got shape "
                    f"{shares.shape}. Give them in the order of the sorted labels."
                )
            if not ((shares >= 0).all() and np.isclose(shares.sum(), 1.0)):
                raise ValueError(
                    f"prior needs shares of at least 0 with sum 1, got {shares}. "
                    "Divide them by their sum."
                )
        expected = np.minimum(shares, 1.0) * n_unlabelled
        whole = np.round(expected)
        close = np.abs(expected - whole) < COUNTING
        return np.asarray(np.where(close, whole, expected))

    def _kernels(
        self, source: GaussianKernel, target: GaussianKernel, n_labelled: int
    ) -> LabellingKernels:
        K = linalg.block_diag(source.gram, target.gram)
        n_source, n_unlabelled = len(source.X), len(target.X) - n_labelled
        sizes = n_source, n_labelled, n_unlabelled
        costs = np.repeat([self.C_source, self.C_target, self.C_unlabelled], sizes)
        return LabellingKernels(
            root=symmetric_root((1.0 + self.trace_bound) * K + 1.0),
            shifted=K + 1.0,
            first=self._first_column(source, target),
            ridge=1.0 / costs,
            n_source=n_source,
            n_known=n_source + n_labelled,
            scale=float(np.sqrt(self.trace_bound)),
        )

    def _machine(
        self, kernels: LabellingKernels, problem: Problem, expected: Float, code: int
    ) -> LabellingMachine:
        """Return the machine of a class, the first guess by the labelled rows alone."""
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        known = np.where(codes == code, 1.0, -1.0)
        rows = slice(kernels.n_source, kernels.n_known)
        y = known[rows]
        Q = kernels.shifted[rows, rows] * np.outer(y, y) + np.diag(kernels.ridge[rows])
        dual = self._solver(len(y)).minimise(Q)
        values = kernels.shifted[kernels.n_known :, rows] @ (y * dual)
        labels = np.concatenate([known, ratio_labels(values, expected[code])])
        solver = self._solver(len(labels))
        return LabellingMachine(kernels, labels, expected[code], solver)
