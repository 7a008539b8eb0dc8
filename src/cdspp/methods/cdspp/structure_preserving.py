"""The structure preserving projection: a generalised eigenproblem in closed form.

The problem of size ``d_s + d_t`` has rank at most 2C, so two Cholesky solves and one
singular value decomposition of size C x C give every direction with a nonzero
eigenvalue; no matrix of size ``d_s + d_t`` is formed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.linalg import (
    column_signs,
    counts,
    diagonal,
    one_hot,
    psd_factor,
    scaled_on_both_sides,
    symmetric_product,
)
from cdspp.methods.base import Float, Int

__all__ = [
    "ClosedForm",
    "Inverse",
    "Projection",
    "Side",
    "SideLike",
    "in_both",
    "regularised_factor",
    "solve_projection",
    "useful_number",
]

# An eigenvalue below this share of the largest one is rounding error of a zero, of
# which there are where ranges of both factors are orthogonal; where class sums have a
# lower rank than there are classes, the factors have fewer columns.
RELATIVE_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Projection:
    """Solution of the eigenproblem, largest eigenvalue first.

    Attributes
    ----------
    target : ndarray of shape (n_features, n_components)
        Projection of the target features.
    eigenvalues : ndarray of shape (n_components,)
        Positive eigenvalues, descending.
    rows_source : ndarray of shape (n_source, n_components) or None
        Projected source rows; None where they are read by chunks.
    rows_target : ndarray of shape (n_target, n_components) or None
        Projected target rows, likewise.
    expand_source : callable
        Computes `source`, which the rounds of pseudo-labelling do without.
    """

    target: Float
    eigenvalues: Float
    rows_source: Float | None
    rows_target: Float | None
    expand_source: Callable[[], Float]

    @cached_property
    def source(self) -> Float:
        """Projection of the source features, (n_features_source, n_components)."""
        return self.expand_source()


class ClosedForm(NamedTuple):
    """``Q = K^{-1} M`` of one domain, for the classes of both.

    Attributes
    ----------
    overlap : ndarray of shape (n_shared, n_shared)
        ``M^T Q``.
    expand : callable
        ``expand(U)`` is ``Q U``.
    rows : callable
        ``rows(U)`` is ``X Q U``, or None where the rows are read by chunks.
    """

    overlap: Float
    expand: Callable[[Float], Float]
    rows: Callable[[Float], Float | None]


@dataclass(frozen=True, eq=False)
class Inverse:
    """``K^{-1}`` of one domain by a Cholesky factor of its smaller side.

    Attributes
    ----------
    factor : tuple
        Of K; or, with rows, of ``R R^T + alpha I``.
    alpha : float
        Weight of the regulariser.
    rows : ndarray of shape (n, d) or None
        ``R = L^{1/2} X``, where the rows are fewer than the features.
    """

    factor: tuple[Float, bool]
    alpha: float
    rows: Float | None = None

    @property
    def n_features(self) -> int:
        """Size of K."""
        return len(self.factor[0]) if self.rows is None else self.rows.shape[1]

    def apply(self, B: Float) -> Float:
        """Return ``K^{-1} B`` for `B` of shape (d, k)."""
        if self.rows is None:
            return np.asarray(linalg.cho_solve(self.factor, B, check_finite=False))
        inner = linalg.cho_solve(self.factor, self.rows @ B, check_finite=False)
        return np.asarray((B - self.rows.T @ inner) / self.alpha)

    def block(self, columns: Int) -> Float:
        """Return the rows and columns of ``K^{-1}`` at some features."""
        c, lower = self.factor
        if self.rows is None:
            unit = np.zeros((len(c), len(columns)))
            unit[columns, np.arange(len(columns))] = 1.0
        else:
            unit = self.rows[:, columns]
        half = linalg.solve_triangular(
            c, unit, trans=0 if lower else 1, lower=lower, check_finite=False
        )
        inner = half.T @ half
        if self.rows is None:
            return np.asarray(inner)
        return np.asarray((np.eye(len(columns)) - inner) / self.alpha)


class SideLike(Protocol):
    """One domain in a fit, its rows in memory (`Side`) or read by chunks."""

    @property
    def codes(self) -> Int:
        """Class codes of the rows."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    def alpha(self) -> float:
        """Weight of the regulariser."""

    @property
    def class_counts(self) -> Float:
        """Class sizes, (n_classes,)."""

    @property
    def sums(self) -> Float:
        """Class sums ``M`` of shape (d, n_classes)."""

    def solve(self, other: Float, shared: NDArray[np.bool_]) -> ClosedForm:
        """Solve ``Q = K^{-1} M`` for the `shared` classes."""

    def inverse(self, other: Float) -> Inverse:
        """Return ``K^{-1}``, factorised."""


@dataclass(frozen=True, eq=False)
class Side:
    """Rows of one domain in a fit, with what does not depend on the other domain.

    Answers ``K^{-1} M`` for ``K = X^T L X + alpha I`` and the class sums
    ``M = X^T Y``, where ``L = diag(own + other / 2) - Y Y^T`` and `own`, `other` are
    the class sizes of this domain and of the other one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of unit length.
    codes : ndarray of shape (n,)
        Class codes.
    n_classes : int
        Number of classes.
    alpha : float
        Weight of the regulariser.
    """

    X: Float
    codes: Int
    n_classes: int
    alpha: float
    indicator: Float = field(init=False)
    class_counts: Float = field(init=False)

    def __post_init__(self) -> None:
        """Derive the class indicator matrix and the class sizes."""
        object.__setattr__(self, "indicator", one_hot(self.codes, self.n_classes))
        object.__setattr__(self, "class_counts", counts(self.codes, self.n_classes))

    @cached_property
    def gram(self) -> Float:
        """Upper triangle of ``X X^T``, for a domain with fewer rows than features."""
        return symmetric_product(self.X, of_rows=True)

    @cached_property
    def gram_sums(self) -> Float:
        """``X M = X X^T Y`` of shape (n, n_classes)."""
        return np.asarray(linalg.blas.dsymm(1.0, self.gram, self.indicator))

    @cached_property
    def sums(self) -> Float:
        """Class sums ``M`` of shape (d, n_classes)."""
        return np.asarray(self.X.T @ self.indicator)

    def solve(self, other: Float, shared: NDArray[np.bool_]) -> ClosedForm:
        """Solve ``Q = K^{-1} M`` for the `shared` classes.

        Parameters
        ----------
        other : ndarray of shape (n_classes,)
            Class sizes of the other domain.
        shared : boolean ndarray of shape (n_classes,)
            Classes with samples in both domains; only these couple the domains.
        """
        n, d = self.X.shape
        solve = self._solve_by_rows if n < d else self._solve_by_features
        Z, expand = solve(self.class_counts, other / 2.0, shared)
        overlap = self.indicator[:, shared].T @ Z
        return ClosedForm(overlap, expand, lambda U: Z @ U)

    def _solve_by_features(
        self, own: Float, extra: Float, shared: NDArray[np.bool_]
    ) -> tuple[Float, Callable[[Float], Float]]:
        """Factorise ``X^T W X - M M^T + alpha I`` of size d x d."""
        factor = self._factor_of_features(own, extra)
        M = self.sums[:, shared]
        Q = linalg.cho_solve(factor, M, check_finite=False)
        return self.X @ Q, lambda U: Q @ U

    def _solve_by_rows(
        self, own: Float, extra: Float, shared: NDArray[np.bool_]
    ) -> tuple[Float, Callable[[Float], Float]]:
        """Factorise ``F X X^T F + alpha I`` of size n x n, with ``F = L^{1/2}``.

        `F` is diagonal plus one rank-one term a class. ``Y = F Y / sqrt(extra)`` for
        shared classes, hence ``K^{-1} M = X^T F (F X X^T F + alpha I)^{-1} Y`` scaled.
        """
        factor, scale, shift = self._factor_of_rows(own, extra)
        Y = self.indicator[:, shared]
        B = linalg.cho_solve(factor, Y, check_finite=False) / np.sqrt(extra[shared])
        B = self._root(scale, shift, B)
        Z = linalg.blas.dsymm(1.0, self.gram, B)
        return Z, lambda U: self.X.T @ (B @ U)

    def inverse(self, other: Float) -> Inverse:
        """Return ``K^{-1}``, factorised by the smaller side."""
        n, d = self.X.shape
        if n >= d:
            factor = self._factor_of_features(self.class_counts, other / 2.0)
            return Inverse(factor, self.alpha)
        factor, scale, shift = self._factor_of_rows(self.class_counts, other / 2.0)
        return Inverse(factor, self.alpha, self._root(scale, shift, self.X))

    def _factor_of_features(self, own: Float, extra: Float) -> tuple[Float, bool]:
        weights = np.sqrt(own + extra)[self.codes]
        K = symmetric_product(self.X * weights[:, None], of_rows=False)
        return regularised_factor(K, self.sums, self.alpha)

    def _root(self, scale: Float, shift: Float, B: Float) -> Float:
        """Return ``F B``."""
        return (
            scale[:, None] * B + (shift[:, None] * (self.indicator.T @ B))[self.codes]
        )

    def _factor_of_rows(
        self, own: Float, extra: Float
    ) -> tuple[tuple[Float, bool], Float, Float]:
        """Factorise ``F X X^T F + alpha I``; return what makes up `F`, too."""
        root = np.sqrt(own + extra)
        shift = (np.sqrt(extra) - root) / np.maximum(own, 1.0)
        scale = root[self.codes]
        between = self.indicator.T @ self.gram_sums
        coupling = scale[:, None] * self.gram_sums * shift
        coupling += (0.5 * shift[:, None] * between * shift)[self.codes]
        S = scaled_on_both_sides(self.gram, scale)
        S = linalg.blas.dsyr2k(
            1.0, coupling.T, self.indicator.T, trans=1, beta=1.0, c=S, overwrite_c=True
        )
        diagonal(S)[:] += self.alpha
        factor = linalg.cho_factor(S, overwrite_a=True, check_finite=False)
        return factor, scale, shift


def regularised_factor(K: Float, M: Float, alpha: float) -> tuple[Float, bool]:
    """Return the Cholesky factor of ``K - M M^T + alpha I``; `K` is overwritten."""
    K = linalg.blas.dsyrk(-1.0, M, beta=1.0, c=K, overwrite_c=True)
    diagonal(K)[:] += alpha
    factor: tuple[Float, bool] = linalg.cho_factor(
        K, overwrite_a=True, check_finite=False
    )
    return factor


def solve_projection(
    source: SideLike,
    target: SideLike,
    n_components: int | None = None,
    *,
    scaling: str = "metric",
) -> Projection:
    r"""Solve the eigenproblem of CDSPP.

    .. math::

        \begin{pmatrix} 0 & S_c \\ S_c^T & 0 \end{pmatrix} p = \lambda
        \left( \begin{pmatrix} S_s & 0 \\ 0 & S_t \end{pmatrix} + \alpha I \right) p

    Parameters
    ----------
    source, target : Side or ChunkedSide
        Labelled rows of both domains.
    n_components : int, default=None
        Number of directions; all with a positive eigenvalue by default, which are at
        most C, the number of classes.
    scaling : {"metric", "unit"}, default="metric"
        ``p^T (B + alpha I) p = 1``, or vectors of unit length.

    Returns
    -------
    projection : Projection
        The leading directions.

    Notes
    -----
    With ``G = M^T Q = Y^T X Q`` a side, ``G_s = A A^T`` and ``G_t = B B^T``, the
    eigenvalues are the singular values of ``A^T B = W diag(sigma) Z^T``; ``u = B z``
    and ``v = A w`` give ``p_s = Q_s u`` and ``p_t = Q_t v`` without any inverse. Cost
    a side: one symmetric product and one Cholesky factor of the smaller of n and d;
    O(C^3) for the rest.
    """
    shared = in_both(source, target)
    solved_source = source.solve(target.class_counts, shared)
    solved_target = target.solve(source.class_counts, shared)
    A, B = psd_factor(solved_source.overlap), psd_factor(solved_target.overlap)
    W, sigma, Zt = linalg.svd(A.T @ B, full_matrices=False, check_finite=False)
    positive = int(np.sum(sigma > RELATIVE_TOLERANCE * sigma[0])) if len(sigma) else 0
    rank = useful_number(n_components, positive)
    sigma = sigma[:rank]
    norms = np.sqrt(2.0) * sigma
    U, V = B @ Zt[:rank].T / norms, A @ W[:, :rank] / norms
    P_target = solved_target.expand(V)
    factors = column_signs(P_target)
    if scaling == "unit":
        squares = (solved_source.expand(U) ** 2).sum(axis=0) + (P_target**2).sum(axis=0)
        factors /= np.sqrt(squares)
    return Projection(
        target=P_target * factors,
        eigenvalues=sigma,
        rows_source=solved_source.rows(U * factors),
        rows_target=solved_target.rows(V * factors),
        expand_source=partial(solved_source.expand, U * factors),
    )


def in_both(source: SideLike, target: SideLike) -> NDArray[np.bool_]:
    """Return the classes with rows in both domains, which alone couple them."""
    return (source.class_counts > 0) & (target.class_counts > 0)


def useful_number(n_components: int | None, positive: int) -> int:
    """Return how many directions to take; warn where fewer are positive than asked."""
    if n_components is None:
        return positive
    if n_components > positive:
        warnings.warn(
            f"n_components={n_components}, but only {positive} directions have a "
            "positive eigenvalue (at most one a class); the others would be arbitrary. "
            f"Using {positive}.",
            stacklevel=3,
        )
    return min(n_components, positive)
