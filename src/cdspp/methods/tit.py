"""TIT: kernel alignment with a supervised graph and row sparsity, then an SVM.

The Gram matrix has one block per domain. The two terms of the eigenproblem that join
the domains, mean discrepancy and centring, have rank one.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import column_signs, counts, symmetric_product
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.shared.common_subspace import SubspaceMethod
from cdspp.methods.shared.graphs import laplacian
from cdspp.methods.svm_t import SVMT

# Below this ratio of features to rows, an orthonormal basis saves more than it costs.
NARROW = 0.75
# Lanczos iteration pays off for matrices of this many times the wanted directions.
LANCZOS_FROM = 5
# |1 / phi| below this share of the largest is a zero with a rounding error.
RELATIVE_TOLERANCE = 1e-13


@dataclass(eq=False, repr=False)
class TIT(SubspaceMethod):
    r"""Transfer independently together (TIT).

    Gives each sample a row of coefficients A such that the new features ``Z = K A`` of
    both domains have similar means, keep classes together, and depend on few samples:

    .. math::

        \bigl[K (M + \beta L - \delta R) K + \alpha G\bigr] a = \varphi K H K a

    for the smallest :math:`|\varphi|`, with the columns a of A, the linear kernel K of
    rows of unit length (zero between the domains), the mean discrepancy M, the
    Laplacian L of a graph within classes, the indicator R of the target, the centring
    matrix H, and ``G_ii = 1 / ||A_i||`` from the previous iteration. A linear support
    vector machine on Z of all labelled rows labels the others, which changes the graph.

    Parameters
    ----------
    n_components : int, default=100
        Number of new features; fewer if the kernel has a smaller rank.
    alpha : float, default=1.0
        Weight of the row sparsity, lambda in the paper.
    beta : float, default=0.1
        Weight of the graph.
    delta : float, default=0.01
        Weight of the reward for variance of the target rows.
    n_neighbors : int, default=8
        Neighbours of a sample in the graph.
    max_iter : int, default=5
        Number of iterations.
    C : float, default=1.0
        Cost of a margin violation in the support vector machine.

    Notes
    -----
    Projections are the transposed rows times A. Cost per iteration and domain of n rows
    and d features: O(n d^2 + d^3) if d < 0.75 n, else O(n^3); O(n min(n, d)) memory.
    The eigenproblem is solved by Lanczos iteration on its inverse, which needs no
    factor of the singular right matrix.

    As in the released code, samples have no weights in the support vector machine: the
    code computes the paper's landmark weights but never uses them. Eigenvectors have
    unit 2-norm, as in MATLAB; with unit ``a^T K H K a``, as in LAPACK, accuracies are
    tens of points lower. Equal numbers of features in both domains do not mean shared
    features here, as they do in the released code. Renaming the classes may change
    labels, because tied votes go to the first class, as in LIBSVM, and each iteration
    depends on the previous votes. Rounding, which depends on the order of the rows,
    changes a few labels. A class in only one domain also trains the machine and may be
    predicted. Each row counts once, whatever the class sizes.

    References
    ----------
    .. [1] Li, J., Lu, K., Huang, Z., Zhu, L., Shen, H. T., "Transfer Independently
       Together: A Generalized Framework for Domain Adaptation", IEEE Transactions on
       Cybernetics 49(6), 2019. :doi:`10.1109/TCYB.2018.2820174`

    Examples
    --------
    >>> from cdspp import TIT, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> X = [[0.9, 0.1], [0.2, 1.0], [0.8, 0.3], [0.1, 0.7]]
    >>> TIT().fit(X, [*source.y, *source.y], source=source).predict([[1.0, 0.2]])
    array(['cat'], dtype='<U3')
    """

    n_components: int = 100
    alpha: float = 1.0
    beta: float = 0.1
    delta: float = 0.01
    n_neighbors: int = 8
    max_iter: int = 5
    C: float = 1.0

    _parameter_constraints = {
        "n_components": [base.COUNT],
        "alpha": [base.POSITIVE],
        "beta": [base.NON_NEGATIVE],
        "delta": [base.NON_NEGATIVE],
        "n_neighbors": [base.COUNT],
        "max_iter": [base.COUNT],
        "C": [base.POSITIVE],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        seconds, squares = 0.03, 0.0
        for n, d in ((size.n_source, size.d_source), (size.n_target, size.d_target)):
            rank, work = n, 4.0 * n**3
            if d <= NARROW * n:
                rank, work = d, 5.0 * d**3 + 3.0 * n * d**2
            seconds += n * d * min(n, d) / 7.5e9 + 5 * (work / 4e10 + 1.8e-7 * rank**2)
            squares += rank**2
        n_trained = size.n_source + size.n_labelled
        seconds += 2e-7 * n_trained * (n_trained + size.n_unlabelled)
        return seconds, 48e-6 * squares

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        problem = self._prepare(problem)
        source, y_source = problem.X_source, problem.y_source
        labelled, unlabelled = problem.X_labelled, problem.X_unlabelled
        target = np.vstack([labelled, unlabelled])
        blocks = (KernelBlock(source), KernelBlock(target))
        weights = [np.ones(len(source)), np.ones(len(target))]
        sizes, k = counts(y_source, problem.n_classes), self.n_neighbors
        options = self.n_components, self.alpha, self.beta, self.delta
        self._learn(labelled, problem.y_labelled)
        prediction = self._vote(unlabelled)
        iterations = []
        for number in range(1, self.max_iter + 1):
            codes = np.concatenate([problem.y_labelled, prediction])
            graph = class_graph(source, y_source, counts(codes, problem.n_classes), k)
            graphs = graph, class_graph(target, codes, sizes, k)
            A = solve_alignment(blocks, graphs, weights, *options)
            # The inverse of G has the 2-norms of rows, and a small value for zero rows.
            weights = [np.sqrt(np.einsum("ij,ij->i", B, B) + 2.2e-16) for B in A]
            self.projection_source_ = source.T @ A[0]
            self.projection_ = target.T @ A[1]
            Z_source = source @ self.projection_source_
            Z = np.vstack([Z_source, labelled @ self.projection_])
            self._learn(Z, np.concatenate([y_source, problem.y_labelled]))
            prediction = self._vote(unlabelled @ self.projection_)
            iterations.append(Iteration(number, prediction, n_selected=len(prediction)))
        return iterations

    def _learn(self, Z: Float, codes: Int) -> None:
        self._machine = SVMT(strategy="ovo", l2=False, C=self.C).fit(Z, codes)

    def _vote(self, Z: Float) -> Int:
        if not len(Z):
            return np.empty(0, dtype=np.intp)
        return np.asarray(self._machine.predict(Z), dtype=np.intp)

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._vote(self._map_target(self._prepare_target(X))), None


def class_graph(X: Float, codes: Int, n_other: Float, k: int) -> sparse.csr_array:
    """Return the supervised cosine graph of the unit or zero rows of one domain.

    Each row is joined with `k` rows of its class; ties go to the lower index. The other
    domain has `n_other` rows per class. Their cosine with these rows is zero, so they
    replace neighbours with a negative cosine.
    """
    rows, columns, weights = [], [], []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        cosines = X[members] @ X[members].T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, : k + 1]
        nearest = np.take_along_axis(cosines, order, axis=1)
        displaced = np.arange(order.shape[1]) + n_other[code] > k
        is_edge = (nearest > 0) | ((nearest < 0) & ~displaced)
        is_edge &= order != np.arange(len(members))[:, None]
        rows.append(np.repeat(members, is_edge.sum(axis=1)))
        columns.append(members[order[is_edge]])
        weights.append(nearest[is_edge])
    places = (np.concatenate(rows), np.concatenate(columns))
    graph = sparse.csr_array((np.concatenate(weights), places), shape=(len(X),) * 2)
    return sparse.csr_array(graph.maximum(graph.T))


class KernelBlock:
    r"""One domain's block of the Gram matrix K in orthonormal coordinates Q.

    The `basis` (n, r) is Q, with ``K = Q Q^T K``; None stands for the identity, used
    unless features are far fewer than rows. `image` is ``K Q``, `ones` is ``Q^T 1``.
    """

    def __init__(self, X: Float) -> None:
        self.basis: Float | None = None
        rows = X
        if X.shape[1] <= NARROW * len(X):
            self.basis, rows = linalg.qr(X, mode="economic", check_finite=False)
        self.image = X @ rows.T
        ones = np.ones(len(X))
        self.ones: Float = ones if self.basis is None else self.basis.T @ ones

    def resolve(
        self, J: sparse.csr_array, weights: Float, alpha: float
    ) -> tuple[Float, Callable[[Float], Float]]:
        r"""Solve ``N = K J K + \alpha G`` of this block, ``G^{-1} = diag(weights)``.

        Returns S with ``K N^{-1} K = Q S Q^T``, symmetric and possibly indefinite, and
        the function that gives ``N^{-1} K Q C`` for C. With ``T = Q^T K G^{-1} K Q``
        and ``J_Q = Q^T J Q`` the push-through identity gives ``N^{-1} K Q = G^{-1} K Q
        (\alpha I + J_Q T)^{-1}``: 5 r^3 + 3 n r^2 operations, or 4 n^3 without a basis.
        """
        T = symmetric_product(self.image * np.sqrt(weights)[:, None], of_rows=False)
        T += np.triu(T, 1).T
        reduced_graph = J if self.basis is None else self.basis.T @ (J @ self.basis)
        left = reduced_graph @ T.T
        left[np.diag_indices_from(left)] += alpha
        # A very large 1 / phi makes the matrix nearly singular. That is allowed, so the
        # routine does not warn of it. It expects columns, hence the transpose.
        *factors, S, info = linalg.lapack.dgesv(left.T, T, overwrite_a=1, overwrite_b=1)
        if info:
            raise MethodFailed("the left matrix of the eigenproblem is singular")

        def solve(C: Float) -> Float:
            solution, _ = linalg.lapack.dgetrs(*factors, C, trans=1)
            return np.asarray(weights[:, None] * (self.image @ solution))

        return S, solve


def solve_alignment(
    blocks: tuple[KernelBlock, KernelBlock],
    graphs: tuple[sparse.csr_array, sparse.csr_array],
    weights: Sequence[Float],
    n_components: int,
    alpha: float,
    beta: float,
    delta: float,
) -> tuple[Float, Float]:
    """Return the coefficients of TIT for both domains, jointly of unit norm.

    There are fewer than `n_components` if fewer eigenvalues are finite.
    """
    J = [beta * laplacian(graph) for graph in graphs]
    J[1] = J[1] - delta * sparse.eye_array(len(weights[1]))
    S_source, solve_source = blocks[0].resolve(J[0], weights[0], alpha)
    S_target, solve_target = blocks[1].resolve(J[1], weights[1], alpha)
    reduced = _ReducedProblem(blocks, (S_source, S_target))
    X = reduced.leading(min(n_components, reduced.n - 1))
    C_source, C_target = reduced.eliminate(X)
    A = np.vstack([solve_source(C_source), solve_target(C_target)])
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    if not (np.isfinite(norms).all() and norms.all()):
        raise MethodFailed("the left matrix of the eigenproblem is singular")
    A *= column_signs(A) / norms
    return A[: len(weights[0])], A[len(weights[0]) :]


class _ReducedProblem:
    r"""The symmetric problem that remains of both blocks and the rank-one terms.

    With ``N = N_0 + g g^T``, ``g = K e``, ``s = S_0 Q^T e`` and ``\rho = 1 + e^T Q s``
    the matrix ``K N^{-1} K`` is ``Q (S_0 - s s^T / \rho) Q^T``. Centring enters through
    the square root of ``Q^T H Q = I - h h^T``, the identity except in one direction.
    """

    def __init__(self, blocks: Sequence[KernelBlock], S: Sequence[Float]) -> None:
        sizes = [len(block.image) for block in blocks]
        self.n, self._S = sum(sizes), S
        ones = [block.ones for block in blocks]
        difference = np.concatenate([ones[0] / sizes[0], -ones[1] / sizes[1]])
        self._e = difference / np.sqrt(1.0 / sizes[0] + 1.0 / sizes[1])
        self._s = self._blockwise(self._e)
        self._rho = 1.0 + self._e @ self._s
        h = np.concatenate(ones) / np.sqrt(self.n)
        length = np.sqrt(h @ h)
        self._h = h / (length or 1.0)
        self._shrink = 1.0 - np.sqrt(max(0.0, 1.0 - length**2))

    def eliminate(self, X: Float) -> list[Float]:
        """Return, by domain, ``N^{-1} K H w = N_0^{-1} K Q c`` of eigenvectors `X`."""
        C = self._centre(X)
        C = C - np.multiply.outer(self._e, self._s @ C / self._rho)
        return np.split(C, [len(self._S[0])])

    def leading(self, k: int) -> Float:
        """Return the eigenvectors of the `k` largest eigenvalues in magnitude."""
        start = self._apply(np.random.default_rng(0).standard_normal(len(self._e)))
        if not np.isfinite(start).all():
            raise MethodFailed("the left matrix of the eigenproblem is singular")
        if not start.any():
            raise MethodFailed("all rows are equal in the kernel")
        values, vectors = self._eigenpairs(start, k)
        magnitudes = np.abs(values)
        order = np.argsort(-magnitudes, kind="stable")[:k]
        is_positive = magnitudes[order] > RELATIVE_TOLERANCE * magnitudes.max()
        return vectors[:, order[is_positive]]

    def _eigenpairs(self, start: Float, k: int) -> tuple[Float, Float]:
        """Solve by Lanczos iteration, or densely if that is cheaper or it stalls."""
        n = len(start)
        if n > LANCZOS_FROM * k:
            operator = LinearOperator((n, n), matvec=self._apply, dtype=np.float64)
            with suppress(ArpackNoConvergence):
                values, vectors = eigsh(operator, k, v0=start, ncv=2 * k + 1)
                return values, vectors
        matrix = self._apply(np.eye(n))
        values, vectors = linalg.eigh((matrix + matrix.T) / 2.0, check_finite=False)
        return values, vectors

    def _blockwise(self, V: Float) -> Float:
        V_source, V_target = np.split(V, [len(self._S[0])])
        return np.concatenate([self._S[0] @ V_source, self._S[1] @ V_target])

    def _centre(self, V: Float) -> Float:
        return np.asarray(V - np.multiply.outer(self._h, self._shrink * (self._h @ V)))

    def _apply(self, V: Float) -> Float:
        C = self._centre(V)
        product = self._blockwise(C)
        product -= np.multiply.outer(self._s, self._s @ C / self._rho)
        return self._centre(product)
