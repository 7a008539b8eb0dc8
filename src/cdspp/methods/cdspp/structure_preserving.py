"""The structure preserving projection: a generalised eigenproblem in closed form."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse

from cdspp.core.linalg import (
    blas,
    class_sums,
    column_signs,
    psd_factor,
    scaled_on_both_sides,
    scaled_rows,
    symmetric_product,
)
from cdspp.methods.base import Float, Int
from cdspp.methods.shared.machines import stacked

# With at least this many rows per feature, rows are read in chunks: a `DomainSolver`
# would need three more products with their Gram matrix, and a contiguous copy of them.
NEARLY_ALL = 0.9
# Values of a chunk: 4 MiB as float64, which stays in the processor's cache.
CHUNK_VALUES = 2**19
# An eigenvalue below this share of the largest counts as zero: it is a rounding error,
# because the ranges of both factors may be orthogonal.
RELATIVE_TOLERANCE = 1e-10

Factor = tuple[Float, bool]


class ClosedForm(NamedTuple):
    """The solution ``Q = K^{-1} M``, with a column per class, in three parts.

    `factor` is F of ``M^T Q = F F^T``, `expand` returns ``Q U`` for U, and `rows`
    returns ``X Q U``, or None for rows in chunks.
    """

    factor: Float
    expand: Callable[[Float], Float]
    rows: Callable[[Float], Float | None]


class Inverse(NamedTuple):
    """``K^{-1}`` by a factor of K, or of ``R R^T + alpha I`` for ``R = L^{1/2} X``."""

    factor: Factor
    alpha: float
    rows: Float | None = None

    def apply(self, B: Float) -> Float:
        """Return ``K^{-1} B`` for `B` of shape (d, k)."""
        if self.rows is None:
            return np.asarray(linalg.cho_solve(self.factor, B, check_finite=False))
        inner = linalg.cho_solve(self.factor, self.rows @ B, check_finite=False)
        return np.asarray((B - self.rows.T @ inner) / self.alpha)

    def closed_form(self, M: Float, X: Float | None = None) -> ClosedForm:
        """Return the closed form of class sums `M` (d, C) of rows `X`.

        With more classes than features, one triangular system gives a factor of rank d.
        """
        d, n_classes = M.shape
        if self.rows is None and n_classes > d:
            half = self._solve_lower(M)
            c, lower = self.factor
            Q = linalg.solve_triangular(
                c, half, trans=int(lower), lower=lower, check_finite=False
            )
            factor = half.T
        else:
            Q = self.apply(M)
            factor = psd_factor(M.T @ Q)
        return ClosedForm(
            factor, lambda U: Q @ U, lambda U: None if X is None else X @ (Q @ U)
        )

    def _solve_lower(self, B: Float) -> Float:
        """Return ``T^{-1} B`` for the lower Cholesky factor T that `factor` stores."""
        c, lower = self.factor
        half = linalg.solve_triangular(
            c, B, trans=0 if lower else 1, lower=lower, check_finite=False
        )
        return np.asarray(half)

    def apply_at(self, columns: Int, B: Float) -> Float:
        """Return ``K^{-1} E B``, where E places the rows of `B` at some features."""
        d = len(self.factor[0]) if self.rows is None else self.rows.shape[1]
        wide = np.zeros((d, B.shape[1]))
        wide[columns] = B
        return self.apply(wide)

    def block(self, columns: Int) -> Float:
        """Return the rows and columns of ``K^{-1}`` at some features."""
        if self.rows is None:
            unit = np.zeros((len(self.factor[0]), len(columns)))
            unit[columns, np.arange(len(columns))] = 1.0
        else:
            unit = self.rows[:, columns]
        half = self._solve_lower(unit)
        inner = half.T @ half
        if self.rows is None:
            return np.asarray(inner)
        return np.asarray((np.eye(len(columns)) - inner) / self.alpha)


@dataclass(eq=False)
class DomainSolver:
    """Rows (n, d) of one domain, of unit length, and all that depends only on them.

    Rows are dense or CSR; CSR rows are never made dense.

    Computes ``K^{-1} M`` for ``K = X^T L X + alpha I`` and the class sums
    ``M = X^T Y``, where ``L = diag(own + other / 2) - Y Y^T``, and `own` and `other`
    are the class sizes of this domain and of the other one.
    """

    X: Any
    codes: Int
    class_counts: Int
    alpha: float

    @cached_property
    def indicator(self) -> Float:
        """Class indicators ``Y``, (n, n_classes), for fewer rows than features."""
        return np.eye(len(self.class_counts), dtype=self.X.dtype)[self.codes]

    @cached_property
    def gram(self) -> Float:
        """Upper triangle of ``X X^T``, used with fewer rows than features."""
        return symmetric_product(self.X, of_rows=True)

    @cached_property
    def gram_sums(self) -> Float:
        """``X M = X X^T Y`` of shape (n, n_classes)."""
        return np.asarray(blas("symm", self.gram)(1.0, self.gram, self.indicator))

    @cached_property
    def sums(self) -> Float:
        """Class sums ``M`` of shape (d, n_classes)."""
        return self._class_sums(self.X).T

    def solve(self, other: Int, shared: NDArray[np.bool_]) -> ClosedForm:
        """Solve ``Q = K^{-1} M`` for the classes `shared` by both domains.

        With fewer rows than features, the matrix to factorise is
        ``F X X^T F + alpha I``, where ``F = L^{1/2}`` is diagonal plus one rank-one
        term per class. As ``Y = F Y / sqrt(extra)`` for shared classes,
        ``K^{-1} M = X^T F (F X X^T F + alpha I)^{-1} Y``, scaled.
        """
        n, d = self.X.shape
        if n >= d:
            return self.inverse(other).closed_form(self.sums[:, shared], self.X)
        extra, Y = other / 2.0, self.indicator[:, shared]
        factor, scale, shift = self._factor_of_rows(extra)
        B = linalg.cho_solve(factor, Y, check_finite=False)
        B /= np.sqrt(extra[shared])
        B = self._root(scale, shift, B)
        Z = blas("symm", self.gram)(1.0, self.gram, B)
        overlap = psd_factor(self._class_sums(Z)[shared])
        return ClosedForm(overlap, lambda U: self.X.T @ (B @ U), lambda U: Z @ U)

    def _class_sums(self, B: Float) -> Float:
        return class_sums(B, self.codes, len(self.class_counts))

    def inverse(self, other: Int) -> Inverse:
        """Return ``K^{-1}`` by a factor of the size of the smaller of n and d."""
        n, d = self.X.shape
        if n < d:
            factor, scale, shift = self._factor_of_rows(other / 2.0)
            return Inverse(factor, self.alpha, self._root(scale, shift, self.X))
        roots = np.sqrt(self.class_counts + other / 2.0).astype(self.X.dtype)
        K = symmetric_product(scaled_rows(self.X, roots[self.codes]), of_rows=False)
        return Inverse(_regularised_factor(K, self.sums, self.alpha), self.alpha)

    def _root(self, scale: Float, shift: Float, B: Float) -> Float:
        """Return ``F B``."""
        between = shift[:, None] * self._class_sums(B)
        return scale[:, None] * B + between[self.codes]

    def _factor_of_rows(self, extra: Float) -> tuple[Factor, Float, Float]:
        """Factorise ``F X X^T F + alpha I``; also return the parts of `F`."""
        root = np.sqrt(self.class_counts + extra)
        shift = (np.sqrt(extra) - root) / np.maximum(self.class_counts, 1.0)
        root, shift = root.astype(self.X.dtype), shift.astype(self.X.dtype)
        scale = root[self.codes]
        between = self._class_sums(self.gram_sums)
        coupling = scale[:, None] * self.gram_sums * shift
        coupling += (0.5 * shift[:, None] * between * shift)[self.codes]
        S = scaled_on_both_sides(self.gram, scale)
        S = blas("syr2k", S)(
            1.0, coupling.T, self.indicator.T, trans=1, beta=1.0, c=S, overwrite_c=True
        )
        S[np.diag_indices_from(S)] += self.alpha
        return linalg.cho_factor(S, overwrite_a=True, check_finite=False), scale, shift


def _regularised_factor(K: Float, M: Float, alpha: float) -> Factor:
    """Return the Cholesky factor of ``K - M M^T + alpha I``; `K` is overwritten."""
    K = blas("syrk", K)(-1.0, M, beta=1.0, c=K, overwrite_c=True)
    K[np.diag_indices_from(K)] += alpha
    c, lower = linalg.cho_factor(K, overwrite_a=True, check_finite=False)
    return c, lower


class RowsInUse(NamedTuple):
    """Rows (n, d) of unit length, and the classes of the rows `used`, or of all."""

    X: Any
    codes: Int
    used: Int | None = None

    def chunks(self) -> Iterator[tuple[Float, Int]]:
        """Yield the rows in use and their class codes, a chunk at a time."""
        X, codes, used = self
        if used is None:
            yield X, codes
        else:
            width = X.nnz // X.shape[0] if issparse(X) else X.shape[1]
            step = max(1, CHUNK_VALUES // max(1, width))
            for start in range(0, len(used), step):
                chosen = slice(start, start + step)
                yield X[used[chosen]], codes[chosen]

    def project(self, P: Float) -> RowsInUse:
        """Return this part with all rows projected."""
        return self._replace(X=self.X @ P)


@dataclass(eq=False)
class ChunkedSolver:
    """A solver for n near or above d: one pass over chunks of rows, memory O(d^2).

    No Gram matrix is cached: class weights differ between fits, so it would take one
    per class. `inverse` sets the class sums.
    """

    parts: list[RowsInUse]
    codes: Int
    class_counts: Int
    alpha: float
    sums: Float = field(init=False)

    def solve(self, other: Int, shared: NDArray[np.bool_]) -> ClosedForm:
        """Solve ``Q = K^{-1} M`` for the `shared` classes, see `DomainSolver.solve`."""
        return self.inverse(other).closed_form(self.sums[:, shared])

    def inverse(self, other: Int) -> Inverse:
        """Return ``K^{-1}``, factorised, in one pass over the rows."""
        n_classes, d = len(self.class_counts), self.parts[0].X.shape[1]
        roots = np.sqrt(self.class_counts + other / 2.0)
        dtype = _row_dtype(self.parts)
        K, sums = np.zeros((d, d), dtype, "F"), np.zeros((n_classes, d), dtype)
        roots = roots.astype(dtype)
        for part in self.parts:
            for rows, codes in part.chunks():
                sums += class_sums(rows, codes, n_classes)
                weighted = (rows * roots[codes][:, None]).T
                K = blas("syrk", K)(1.0, weighted, beta=1.0, c=K, overwrite_c=True)
        self.sums = sums.T
        return Inverse(_regularised_factor(K, self.sums, self.alpha), self.alpha)


Solver = DomainSolver | ChunkedSolver
Solvers = list[Solver]


def make_solver(parts: list[RowsInUse], n_classes: int, alpha: float) -> Solver:
    """Return the solver of a domain; if few rows are in use, they are copied."""
    codes = np.concatenate([part.codes for part in parts])
    class_counts = np.bincount(codes, minlength=n_classes)
    n, d = len(codes), parts[0].X.shape[1]
    some = [part for part in parts if len(part.codes)]
    if len(some) == 1 and some[0].used is None and isinstance(some[0].X, np.ndarray):
        rows = some[0].X
    elif some and issparse(some[0].X):
        rows = stacked([rows for part in some for rows, _ in part.chunks()])
    elif n >= NEARLY_ALL * d:
        return ChunkedSolver(parts, codes, class_counts, alpha)
    else:
        rows, start = np.empty((n, d), _row_dtype(some)), 0
        for part in some:
            for chunk, _ in part.chunks():
                rows[start : start + len(chunk)] = chunk
                start += len(chunk)
    return DomainSolver(rows, codes, class_counts, alpha)


def _row_dtype(parts: list[RowsInUse]) -> Any:
    """Return the dtype of a domain's rows."""
    return np.result_type(*(part.X.dtype for part in parts))


@dataclass(frozen=True, eq=False)
class Projection:
    """Solution of the eigenproblem, with positive eigenvalues in descending order.

    Projections of sources are computed on first use, because most iterations of
    pseudo-labelling need none. Projected rows are None if rows are read in chunks.
    """

    target: Float
    eigenvalues: Float
    rows_sources: tuple[Float | None, ...]
    rows_target: Float | None
    expand_sources: tuple[Callable[[], Float], ...]

    @cached_property
    def sources(self) -> list[Float]:
        """Projection of each source's features, (n_features_source, n_components)."""
        return [expand() for expand in self.expand_sources]


def solve_projection(
    source: Solver,
    target: Solver,
    n_components: int | None = None,
    *,
    scaling: str = "metric",
) -> Projection:
    r"""Solve the eigenproblem of CDSPP.

    .. math::

        \begin{pmatrix} 0 & S_c \\ S_c^T & 0 \end{pmatrix} p = \lambda
        \left( \begin{pmatrix} S_s & 0 \\ 0 & S_t \end{pmatrix} + \alpha I \right) p

    A `scaling` of "metric" means that p has length one in the right matrix, "unit" in
    the 2-norm. There is one per positive eigenvalue, at most C for C classes.

    The rank is at most 2C. With ``G = M^T Q = Y^T X Q`` per domain, ``G_s = A A^T``
    and ``G_t = B B^T``, the eigenvalues are the singular values of ``A^T B = W
    diag(sigma) Z^T``; ``u = B z`` and ``v = A w`` give ``p_s = Q_s u`` and ``p_t = Q_t
    v`` without an inverse. A domain costs one symmetric product and one Cholesky factor
    of the smaller of n and d; the rest costs O(C^3).
    """
    # Only classes with rows in both domains couple the domains.
    shared = (source.class_counts > 0) & (target.class_counts > 0)
    solved_source = source.solve(target.class_counts, shared)
    solved_target = target.solve(source.class_counts, shared)
    A, B = solved_source.factor, solved_target.factor
    overlap = (A.T @ B).astype(np.float64)
    W, sigma, Zt = linalg.svd(overlap, full_matrices=False, check_finite=False)
    rank = effective_rank(n_components, sigma)
    sigma = sigma[:rank]
    norms = np.sqrt(2.0) * sigma
    weights = [B @ Zt[:rank].T / norms, A @ W[:, :rank] / norms]
    return _scaled([solved_source, solved_target], weights, sigma, scaling)


def solve_several(
    solvers: Solvers, n_components: int | None = None, *, scaling: str
) -> Projection:
    r"""Solve the eigenproblem of three or more domains, the target last.

    Every domain is tied to every other one like source and target in
    `solve_projection`: the left matrix has the blocks ``M_i M_j^T`` for i != j, the
    right one ``K_i`` with the class sizes of all other domains instead of one.

    With ``Q_i = K_i^{-1} M_i``, ``G_i = M_i^T Q_i = F_i F_i^T`` and ``F = [F_1, F_2,
    ...]``, the eigenvalues are the positive eigenvalues of ``F^T F`` without its
    diagonal blocks, at most C; an eigenvector u gives ``p_i = Q_i (F u - F_i u_i) /
    lambda``. Cost O((D C)^3) for D domains, in addition to one factor per domain.
    """
    total = np.sum([solver.class_counts for solver in solvers], axis=0)
    solved, factors, coupled = [], [], []
    for solver in solvers:
        other = total - solver.class_counts
        coupled.append((solver.class_counts > 0) & (other > 0))
        solved.append(solver.solve(other, coupled[-1]))
        factor = solved[-1].factor
        wide = np.zeros((len(total), factor.shape[1]))
        wide[coupled[-1]] = factor
        factors.append(wide)
    F = np.hstack(factors)
    own = linalg.block_diag(*(factor.T @ factor for factor in factors))
    values, vectors = linalg.eigh(F.T @ F - own, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = effective_rank(n_components, values)
    values, vectors = values[:rank], vectors[:, :rank]
    parts = np.split(vectors, np.cumsum([each.shape[1] for each in factors])[:-1])
    whole = F @ vectors
    weights = [
        ((whole - factor @ part) / values)[classes]
        for factor, part, classes in zip(factors, parts, coupled, strict=True)
    ]
    return _scaled(solved, weights, values, scaling)


def _scaled(
    solved: list[ClosedForm], weights: list[Float], eigenvalues: Float, scaling: str
) -> Projection:
    """Return the scaled directions ``Q U`` of all domains, the target last."""
    pairs = zip(solved, weights, strict=True)
    *sources, (target, V) = [(form, U.astype(form.factor.dtype)) for form, U in pairs]
    P_target = target.expand(V)
    factors = column_signs(P_target)
    if scaling == "unit":
        expanded = [*(form.expand(U) for form, U in sources), P_target]
        factors /= np.sqrt(sum((P**2).sum(axis=0) for P in expanded))
    return Projection(
        target=P_target * factors,
        eigenvalues=eigenvalues,
        rows_sources=tuple(form.rows(U * factors) for form, U in sources),
        rows_target=target.rows(V * factors),
        expand_sources=tuple(partial(form.expand, U * factors) for form, U in sources),
    )


def effective_rank(n_components: int | None, eigenvalues: Float) -> int:
    """Return the number of directions; warn if too few eigenvalues are positive."""
    smallest = RELATIVE_TOLERANCE * eigenvalues.max(initial=0.0)
    positive = int(np.sum(eigenvalues > smallest))
    if n_components is None:
        return positive
    if n_components > positive:
        warnings.warn(
            f"n_components={n_components}, but only {positive} directions have a "
            "positive eigenvalue (at most one per class); others would be arbitrary. "
            f"Using {positive}.",
            stacklevel=3,
        )
    return min(n_components, positive)
