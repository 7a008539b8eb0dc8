"""Kernel alignment of two unrelated feature spaces: the eigenproblem of TIT.

The problem has one unknown a sample. The Gram matrix is block diagonal, one block a
domain, so that all large products and factors are made a domain at a time; the two
terms that join the domains, mean discrepancy and centring, have rank one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import column_signs, diagonal, symmetric_product
from cdspp.methods.base import Float, Int
from cdspp.methods.shared.graphs import laplacian

__all__ = ["KernelBlock", "class_graph", "solve_alignment"]

# Below this ratio of features to rows the orthonormal basis saves more than it costs.
NARROW = 0.75
# Lanczos is worth its start-up beyond this many times the directions asked for.
LANCZOS_FROM = 5
# |1 / phi| below this share of the largest is rounding error of a zero.
RELATIVE_TOLERANCE = 1e-13


def class_graph(
    X: Float, codes: Int, absent: Float, n_neighbors: int = 8
) -> sparse.csr_array:
    r"""Return the supervised cosine graph of the rows of one domain.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of unit length, or zero.
    codes : ndarray of shape (n,)
        Classes; only rows of one class are joined.
    absent : ndarray of shape (n_classes,)
        How many rows of each class the other domain has. Their cosine with these rows
        is zero, which takes the place of a negative one.
    n_neighbors : int, default=8
        Neighbours of a row besides itself; equal cosines go to the lower index.

    Returns
    -------
    W : csr_array of shape (n, n)
        Zero diagonal; the larger of the two directions, an absent one being zero.

    Notes
    -----
    O(m^2 d) for each class of m rows.
    """
    rows, columns, weights = [], [], []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        cosines = X[members] @ X[members].T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, : n_neighbors + 1]
        nearest = np.take_along_axis(cosines, order, axis=1)
        displaced = np.arange(order.shape[1]) + absent[code] > n_neighbors
        kept = (nearest > 0) | ((nearest < 0) & ~displaced)
        kept &= order != np.arange(len(members))[:, None]
        rows.append(np.repeat(members, kept.sum(axis=1)))
        columns.append(members[order[kept]])
        weights.append(nearest[kept])
    places = (np.concatenate(rows), np.concatenate(columns))
    shape = (len(X), len(X))
    graph = sparse.csr_array((np.concatenate(weights), places), shape=shape)
    return sparse.csr_array(graph.maximum(graph.T))


@dataclass(frozen=True, eq=False)
class KernelBlock:
    r"""One domain's block of the Gram matrix K in orthonormal coordinates Q.

    Attributes
    ----------
    basis : ndarray of shape (n, r) or None
        Q, with ``K = Q Q^T K``; None stands for the identity, where the number of
        features is not much below n.
    image : ndarray of shape (n, r)
        ``K Q``.
    """

    basis: Float | None
    image: Float

    @classmethod
    def of_rows(cls, X: Float) -> KernelBlock:
        """Choose the smaller form."""
        if X.shape[1] > NARROW * X.shape[0]:
            return cls(None, X @ X.T)
        basis, factor = linalg.qr(X, mode="economic", check_finite=False)
        return cls(basis, X @ factor.T)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.image)

    def compress(self, V: Float) -> Float:
        """Return ``Q^T V``."""
        return V if self.basis is None else np.asarray(self.basis.T @ V)

    def resolve(self, J: sparse.csr_array, weights: Float, alpha: float) -> Resolvent:
        r"""Solve ``N = K J K + \alpha G`` of this block, ``G^{-1} = diag(weights)``.

        Notes
        -----
        With ``T = Q^T K G^{-1} K Q`` and ``J_Q = Q^T J Q`` the push-through identity
        gives ``N^{-1} K Q = G^{-1} K Q (\alpha I + J_Q T)^{-1}``: 5 r^3 + 3 n r^2
        operations, or 4 n^3 without a basis.
        """
        T = symmetric_product(self.image * np.sqrt(weights)[:, None], of_rows=False)
        T += np.triu(T, 1).T
        inner = J if self.basis is None else self.basis.T @ (J @ self.basis)
        system = inner @ T.T
        diagonal(system)[:] += alpha
        # The matrix is nearly singular where 1 / phi is very large, which is allowed:
        # the routine that warns of it is avoided. It takes columns: the transpose.
        *factors, S, info = linalg.lapack.dgesv(
            system.T, T, overwrite_a=True, overwrite_b=True
        )
        if info:
            raise MethodFailed("the left matrix of the eigenproblem is singular")
        return Resolvent(S, self.image, weights, tuple(factors))


@dataclass(frozen=True, eq=False)
class Resolvent:
    r"""What ``N^{-1}`` of one block makes of the kernel.

    Attributes
    ----------
    S : ndarray of shape (r, r)
        With ``K N^{-1} K = Q S Q^T``, symmetric and possibly indefinite.
    image : ndarray of shape (n, r)
        ``K Q``.
    weights : ndarray of shape (n,)
        Diagonal of ``G^{-1}``.
    factors : tuple of two ndarrays
        Triangular factors of ``\alpha I + T J_Q``, and their pivots.
    """

    S: Float
    image: Float
    weights: Float
    factors: tuple[Float, Int]

    def solve(self, C: Float) -> Float:
        """Return ``N^{-1} K Q C``."""
        inner, _ = linalg.lapack.dgetrs(*self.factors, C, trans=1)
        return np.asarray(self.weights[:, None] * (self.image @ inner))


def solve_alignment(
    blocks: tuple[KernelBlock, KernelBlock],
    graphs: tuple[sparse.csr_array, sparse.csr_array],
    weights: tuple[Float, Float],
    *,
    n_components: int,
    alpha: float,
    beta: float,
    delta: float,
) -> tuple[Float, Float]:
    r"""Solve the eigenproblem of TIT for the smallest eigenvalues in magnitude.

    .. math::

        \bigl[K (M + \beta L - R) K + \alpha G\bigr] a = \varphi K H K a

    Parameters
    ----------
    blocks : tuple of KernelBlock
        Source and target rows.
    graphs : tuple of csr_array
        Graph of each domain, with Laplacian L.
    weights : tuple of ndarray
        Diagonal of the inverse of G, a domain each.
    n_components : int
        How many directions at most; fewer where fewer eigenvalues are finite.
    alpha, beta, delta : float
        Weights of the row sparsity, of the graph and of the target's variance.

    Returns
    -------
    A_source, A_target : ndarray of shape (n_source, k) and (n_target, k)
        Eigenvectors, of unit 2-norm in all.

    Raises
    ------
    MethodFailed
        The kernel has no variance, or the left matrix is singular.
    """
    J = [beta * laplacian(graph) for graph in graphs]
    J[1] = J[1] - delta * sparse.eye_array(len(blocks[1]))
    solved = [
        block.resolve(inner, weight, alpha)
        for block, inner, weight in zip(blocks, J, weights, strict=True)
    ]
    reduced = _Reduced(blocks, [resolvent.S for resolvent in solved])
    X = reduced.leading(min(n_components, reduced.n - 1))
    coordinates = reduced.split(reduced.eliminate(X))
    parts = [
        resolvent.solve(C) for resolvent, C in zip(solved, coordinates, strict=True)
    ]
    A = np.vstack(parts)
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    if not (np.isfinite(norms).all() and norms.all()):
        raise MethodFailed("the left matrix of the eigenproblem is singular")
    A *= column_signs(A) / norms
    return A[: len(parts[0])], A[len(parts[0]) :]


class _Reduced:
    r"""The symmetric problem that both blocks and the two terms of rank one leave.

    With ``N = N_0 + g g^T``, ``g = K e``, ``s = S_0 Q^T e`` and ``\rho = 1 + e^T Q s``
    the matrix ``K N^{-1} K`` is ``Q (S_0 - s s^T / \rho) Q^T``. Centring enters by the
    square root of ``Q^T H Q = I - h h^T``, the identity but for one direction.
    """

    def __init__(self, blocks: Sequence[KernelBlock], S: Sequence[Float]) -> None:
        sizes = [len(block) for block in blocks]
        self.n = sum(sizes)
        self._S = S
        self._cut = len(S[0])
        ones = [block.compress(np.ones(len(block))) for block in blocks]
        difference = np.concatenate([ones[0] / sizes[0], -ones[1] / sizes[1]])
        self._e = difference / np.sqrt(1.0 / sizes[0] + 1.0 / sizes[1])
        self._s = self._blockwise(self._e)
        self._rho = 1.0 + self._e @ self._s
        h = np.concatenate(ones) / np.sqrt(self.n)
        length = np.sqrt(h @ h)
        self._h = h / (length or 1.0)
        self._shrink = 1.0 - np.sqrt(max(0.0, 1.0 - length**2))

    def split(self, V: Float) -> list[Float]:
        """Return the source and the target part."""
        return [V[: self._cut], V[self._cut :]]

    def eliminate(self, X: Float) -> Float:
        """Return ``c`` with ``N^{-1} K H w = N_0^{-1} K Q c`` of eigenvectors `X`."""
        C = self._centre(X)
        return np.asarray(C - np.multiply.outer(self._e, self._s @ C / self._rho))

    def leading(self, k: int) -> Float:
        """Return the eigenvectors of the `k` largest eigenvalues in magnitude."""
        size = len(self._e)
        start = self._apply(np.random.default_rng(0).standard_normal(size))
        if not np.isfinite(start).all():
            raise MethodFailed("the left matrix of the eigenproblem is singular")
        if not start.any():
            raise MethodFailed("no row differs from another within the kernel")
        solve = _by_lanczos if size > LANCZOS_FROM * k else _densely
        values, vectors = solve(self._apply, start, k)
        magnitudes = np.abs(values)
        order = np.argsort(-magnitudes, kind="stable")[:k]
        kept = magnitudes[order] > RELATIVE_TOLERANCE * magnitudes.max()
        return vectors[:, order[kept]]

    def _blockwise(self, V: Float) -> Float:
        parts = zip(self._S, self.split(V), strict=True)
        return np.concatenate([S @ part for S, part in parts])

    def _centre(self, V: Float) -> Float:
        return np.asarray(V - np.multiply.outer(self._h, self._shrink * (self._h @ V)))

    def _apply(self, V: Float) -> Float:
        C = self._centre(V)
        product = self._blockwise(C)
        product -= np.multiply.outer(self._s, self._s @ C / self._rho)
        return self._centre(product)


def _by_lanczos(
    apply: Callable[[Float], Float], start: Float, k: int
) -> tuple[Float, Float]:
    operator = LinearOperator((len(start), len(start)), matvec=apply, dtype=np.float64)
    try:
        pairs: tuple[Float, Float] = eigsh(
            operator, k, which="LM", v0=start, ncv=2 * k + 1
        )
    except ArpackNoConvergence:
        return _densely(apply, start, k)
    return pairs


def _densely(
    apply: Callable[[Float], Float], start: Float, k: int
) -> tuple[Float, Float]:
    matrix = apply(np.eye(len(start)))
    pairs: tuple[Float, Float] = linalg.eigh(
        (matrix + matrix.T) / 2.0, check_finite=False
    )
    return pairs
