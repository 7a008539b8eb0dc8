"""HFA: heterogeneous feature augmentation, supervised."""

from __future__ import annotations

from typing import Any

import numpy as np

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Float, Problem, Round
from cdspp.methods.hfa.augmented_kernels import (
    GaussianKernel,
    Solution,
    TargetExpansion,
    add_columns,
    block_diagonal,
    generate_columns,
)
from cdspp.methods.hfa.feature_augmentation import FeatureAugmentation
from cdspp.methods.hfa.libsvm import two_sides

__all__ = ["HFA"]


class _Machine:
    """One class against the others: a hinge-loss machine on the augmented kernel.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Block diagonal kernel, source rows first.
    y : ndarray of shape (n,)
        +1 for the class, -1 for the others.
    costs : ndarray of shape (n,)
        Upper bound of each dual variable.
    first : tuple of two ndarrays
        The first column, (n,), and its expansion in target rows, (n_labelled,).
    scale : float
        Square root of the trace bound.
    tol : float
        Tolerance of the solver.
    """

    def __init__(
        self,
        K: Float,
        y: Float,
        costs: Float,
        first: tuple[Float, Float],
        scale: float,
        tol: float,
    ) -> None:
        self._K, self._y, self._costs, self._scale = K, y, costs, scale
        self._columns, self._expansions = (vector[:, None] for vector in first)
        self._tol = tol
        self._kernel = np.empty_like(K)

    @property
    def n_columns(self) -> int:
        return len(self._columns.T)

    def solve(self, weights: Float) -> Solution:
        np.copyto(self._kernel, self._K)
        add_columns(self._kernel, self._columns, weights)
        dual, offset = two_sides(self._kernel, self._y, self._costs, self._tol)
        strengths = (self._columns.T @ dual) ** 2
        norm = float(dual @ self._times(dual))
        objective = np.abs(dual).sum() - 0.5 * (weights @ strengths + norm)
        return Solution(weights, dual, strengths, float(objective), offset)

    def extend(self, solution: Solution) -> bool:
        dual = solution.dual
        column = self._times(dual)
        norm = float(dual @ column)
        if norm <= 0:
            return False
        factor = self._scale / np.sqrt(norm)
        expansion = dual[-len(self._expansions) :]
        self._columns = np.column_stack([self._columns, factor * column])
        self._expansions = np.column_stack([self._expansions, factor * expansion])
        return True

    def _times(self, dual: Float) -> Float:
        support = np.flatnonzero(dual)
        return np.asarray(dual[support] @ self._K[support])

    def expansion(self, solution: Solution) -> Float:
        """Return the coefficients of the labelled target rows."""
        dual = solution.dual
        shares = solution.weights * (self._columns.T @ dual)
        return np.asarray(self._expansions @ shares + dual[-len(self._expansions) :])


class HFA(FeatureAugmentation):
    r"""Heterogeneous feature augmentation (HFA).

    Source rows become :math:`(P x; x; 0)` and target rows :math:`(Q x; 0; x)`; a
    support vector machine for each class is learned jointly with P and Q, which enter
    by a positive semidefinite matrix H alone:

    .. math::

        \min_{H \succeq 0,\ \mathrm{tr} H \le \lambda}\ \max_{\alpha}\
        1^T \alpha - \tfrac12 (\alpha \circ y)^T K^{1/2} (I + H) K^{1/2}
        (\alpha \circ y), \quad 0 \le \alpha_i \le C_i,\ y^T \alpha = 0

    with K the block diagonal matrix of a Gaussian kernel for each domain. H is a sum of
    directions of rank one, found one after another and weighted by multiple-kernel
    learning.

    Parameters
    ----------
    trace_bound : float, default=100.0
        The bound :math:`\lambda` on the trace of H.
    C_source : float, default=1.0
        Cost of a margin violation of a source row.
    C_target : float, default=1.0
        Cost of a margin violation of a labelled target row.
    p : float, default=1.0
        Norm of the weights of the directions.
    max_iter : int, default=50
        Most directions for each class.
    max_inner_iter : int, default=100
        Most updates of the weights after each new direction.
    tol : float, default=1e-3
        Both loops stop when the objective changes by less than this share.
    svm_tol : float, default=1e-3
        Tolerance of LIBSVM.

    Attributes
    ----------
    n_columns_ : ndarray of shape (n_classes,)
        Number of directions of each class.
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    For n source and labelled target rows, a class takes up to a few hundred solves of
    a support vector machine, each O(n^2 m) for the kernel with m directions. Rows are
    scaled to unit length, and the width of each Gaussian is the mean squared distance
    of the rows of its domain. Unlabelled rows take no part.

    The authors' code starts from a constant direction and restarts the weights from
    equal ones after each new direction, which is kept. The number of directions hangs
    on the tolerance of the solver, the predictions hardly do. A class without a
    labelled target row is learned from the source alone.

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

    identifier = "hfa"
    display_name = "HFA"
    supervised = True

    def __init__(
        self,
        trace_bound: float = 100.0,
        C_source: float = 1.0,
        C_target: float = 1.0,
        p: float = 1.0,
        max_iter: int = 50,
        max_inner_iter: int = 100,
        tol: float = 1e-3,
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(
            trace_bound, C_source, C_target, p, max_iter, max_inner_iter, tol, svm_tol
        )

    @classmethod
    def work(cls, size: Any) -> tuple[float, float]:
        """Return about how many seconds a fit takes, and MB beside the data.

        A few hundred solves a class, each on a kernel of all labelled rows.
        """
        squares = float(size.n_source + size.n_labelled) ** 2
        return 0.1 + size.n_classes * (0.01 + 3e-6 * squares), 170.0 + 40e-6 * squares

    def _fit_problem(self, problem: Problem) -> list[Round]:
        source = GaussianKernel(row_normalise(problem.X_source))
        target = GaussianKernel(row_normalise(problem.X_labelled))
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        coefficients = np.zeros((len(target.X), problem.n_classes))
        intercepts = np.zeros(problem.n_classes)
        self.n_columns_ = np.zeros(problem.n_classes, dtype=np.intp)
        K = block_diagonal(source.gram, target.gram)
        first = self._first_column(source, target)
        costs = np.repeat(
            [self.C_source, self.C_target], [len(source.X), len(target.X)]
        ).astype(np.float64)
        scale = np.sqrt(self.trace_bound)
        one_class = problem.n_classes < 2
        for code in range(0 if one_class else problem.n_classes):
            y = np.where(codes == code, 1.0, -1.0)
            machine = _Machine(K, y, costs, first, scale, self.svm_tol)
            solution = generate_columns(machine, self._schedule())
            coefficients[:, code] = machine.expansion(solution)
            intercepts[code] = solution.offset
            self._note(code, machine.n_columns)
        self._values = TargetExpansion(target.X, target.gamma, coefficients, intercepts)
        return []
