"""One domain of a CDSPP fit: its rows in use, and what both sides of the problem ask.

By a Gram matrix of features or of rows, whichever are fewer, or summed up over chunks
of rows that stay in their file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from cdspp.core.file_rows import FileRows, chunks_of, mapped
from cdspp.core.linalg import (
    add_symmetric_product,
    counts,
    diagonal,
    one_hot,
    scaled_on_both_sides,
    symmetric_product,
)
from cdspp.core.memory import require_memory
from cdspp.methods.base import Float, Int

__all__ = ["AnySide", "ChunkedSide", "RowsInUse", "Side", "require_room", "side_of"]

# Square matrices of the smaller of n and d that are held at once.
SQUARES = 3
# From this share of d on, rows in use are not solved for by rows: that reads their
# Gram matrix in three more products, and needs them copied into one piece.
NEARLY_ALL = 0.9

Factor = tuple[Float, bool]


class ClosedForm(NamedTuple):
    """``Q = K^{-1} M`` of one domain, for the classes of both.

    `overlap` is ``M^T Q``, ``expand(U)`` is ``Q U``, and ``rows(U)`` is ``X Q U``, or
    None where the rows are read by chunks.
    """

    overlap: Float
    expand: Callable[[Float], Float]
    rows: Callable[[Float], Float | None]


@dataclass(frozen=True, eq=False)
class Inverse:
    """``K^{-1}`` of one domain by a Cholesky factor of its smaller side.

    The factor is of K; or, with rows ``R = L^{1/2} X`` fewer than the features, of
    ``R R^T + alpha I``.
    """

    factor: Factor
    alpha: float
    rows: Float | None = None

    def apply(self, B: Float) -> Float:
        """Return ``K^{-1} B`` for `B` of shape (d, k)."""
        if self.rows is None:
            return np.asarray(linalg.cho_solve(self.factor, B, check_finite=False))
        inner = linalg.cho_solve(self.factor, self.rows @ B, check_finite=False)
        return np.asarray((B - self.rows.T @ inner) / self.alpha)

    def spread(self, columns: Int, B: Float) -> Float:
        """Return ``K^{-1} E B`` for a row of `B` for each of some features."""
        d = len(self.factor[0]) if self.rows is None else self.rows.shape[1]
        wide = np.zeros((d, B.shape[1]))
        wide[columns] = B
        return self.apply(wide)

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


class Side:
    """Rows of one domain in a fit, with what does not depend on the other domain.

    Answers ``K^{-1} M`` for ``K = X^T L X + alpha I`` and the class sums
    ``M = X^T Y``, where ``L = diag(own + other / 2) - Y Y^T`` and `own`, `other` are
    the class sizes of this domain and of the other one. `X` (n, d) has rows of unit
    length, and `codes` are their classes.
    """

    def __init__(self, X: Float, codes: Int, n_classes: int, alpha: float) -> None:
        self.X, self.codes, self.n_classes, self.alpha = X, codes, n_classes, alpha
        self.indicator = one_hot(codes, n_classes)
        self.class_counts = counts(codes, n_classes)

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
        """Solve ``Q = K^{-1} M`` for the classes with rows in both domains.

        Only these, `shared`, couple the domains; `other` are the class sizes of the
        other one. Where rows are fewer than features, the matrix to factorise is
        ``F X X^T F + alpha I`` with ``F = L^{1/2}``, diagonal plus one rank-one term a
        class: ``Y = F Y / sqrt(extra)`` for shared classes, hence
        ``K^{-1} M = X^T F (F X X^T F + alpha I)^{-1} Y`` scaled.
        """
        (n, d), extra, Y = self.X.shape, other / 2.0, self.indicator[:, shared]
        if n >= d:
            factor, M = self._factor_of_features(extra), self.sums[:, shared]
            Q = linalg.cho_solve(factor, M, check_finite=False)
            Z = self.X @ Q
            return ClosedForm(Y.T @ Z, lambda U: Q @ U, lambda U: Z @ U)
        factor, scale, shift = self._factor_of_rows(extra)
        B = linalg.cho_solve(factor, Y, check_finite=False) / np.sqrt(extra[shared])
        B = self._root(scale, shift, B)
        Z = linalg.blas.dsymm(1.0, self.gram, B)
        return ClosedForm(Y.T @ Z, lambda U: self.X.T @ (B @ U), lambda U: Z @ U)

    def inverse(self, other: Float) -> Inverse:
        """Return ``K^{-1}``, factorised by the smaller side."""
        n, d = self.X.shape
        if n >= d:
            return Inverse(self._factor_of_features(other / 2.0), self.alpha)
        factor, scale, shift = self._factor_of_rows(other / 2.0)
        return Inverse(factor, self.alpha, self._root(scale, shift, self.X))

    def _factor_of_features(self, extra: Float) -> Factor:
        weights = np.sqrt(self.class_counts + extra)[self.codes]
        K = symmetric_product(self.X * weights[:, None], of_rows=False)
        return _regularised_factor(K, self.sums, self.alpha)

    def _root(self, scale: Float, shift: Float, B: Float) -> Float:
        """Return ``F B``."""
        between = shift[:, None] * (self.indicator.T @ B)
        return scale[:, None] * B + between[self.codes]

    def _factor_of_rows(self, extra: Float) -> tuple[Factor, Float, Float]:
        """Factorise ``F X X^T F + alpha I``; return what makes up `F`, too."""
        root = np.sqrt(self.class_counts + extra)
        shift = (np.sqrt(extra) - root) / np.maximum(self.class_counts, 1.0)
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


def _regularised_factor(K: Float, M: Float, alpha: float) -> Factor:
    """Return the Cholesky factor of ``K - M M^T + alpha I``; `K` is overwritten."""
    K = linalg.blas.dsyrk(-1.0, M, beta=1.0, c=K, overwrite_c=True)
    diagonal(K)[:] += alpha
    c, lower = linalg.cho_factor(K, overwrite_a=True, check_finite=False)
    return c, lower


class RowsInUse(NamedTuple):
    """Rows of unit length, (n, d), in memory or in a file, of which some are in use.

    `codes` are the classes of those in use, and `used`, ascending, tells which they
    are; all where it is None.
    """

    X: Any
    codes: Int
    used: Int | None = None

    def chunks(self) -> Iterator[tuple[Float, Int]]:
        """Yield the rows in use and their class codes, a chunk at a time."""
        for place, rows in chunks_of(self.X, self.used):
            yield rows, self.codes[place]

    def placed(self, P: Float) -> RowsInUse:
        """Return the part with all its rows times a projection."""
        return self._replace(X=mapped(self.X, lambda X: X @ P, P.shape[1]))

    @property
    def in_file(self) -> bool:
        """Whether the rows are in a file."""
        return isinstance(self.X, FileRows)


class ChunkedSide:
    """Rows of one domain, n near d or above, with products summed up over chunks.

    Answers as `Side` does, by the same d x d matrix. Nothing of the size of the rows is
    copied, and rows in a file are passed over once: time O(n d^2 + d^3), memory O(d^2)
    and a chunk. The class weights differ from fit to fit, so that no Gram matrix could
    be kept but one a class. The class sums are set by `solve`.
    """

    sums: Float

    def __init__(
        self, parts: Sequence[RowsInUse], n_classes: int, alpha: float
    ) -> None:
        self.parts, self.n_classes, self.alpha = parts, n_classes, alpha
        self.codes = np.concatenate([part.codes for part in parts])
        self.class_counts = counts(self.codes, n_classes)

    def solve(self, other: Float, shared: NDArray[np.bool_]) -> ClosedForm:
        """Solve ``Q = K^{-1} M`` for the `shared` classes, see `Side.solve`."""
        inverse = self.inverse(other)
        M = self.sums[:, shared]
        Q = inverse.apply(M)
        return ClosedForm(M.T @ Q, lambda U: Q @ U, lambda U: None)

    def inverse(self, other: Float) -> Inverse:
        """Return ``K^{-1}``, factorised, in one pass over the rows."""
        d = self.parts[0].X.shape[1]
        roots = np.sqrt(self.class_counts + other / 2.0)
        K, sums = np.zeros((d, d), order="F"), np.zeros((self.n_classes, d))
        for part in self.parts:
            for rows, codes in part.chunks():
                n = len(codes)  # a class indicator matrix with a number a row
                stored = np.ones(n), codes, np.arange(n + 1)
                sums += sparse.csc_array(stored, (self.n_classes, n)) @ rows
                K = add_symmetric_product(K, rows * roots[codes][:, None])
        self.sums = sums.T
        return Inverse(_regularised_factor(K, self.sums, self.alpha), self.alpha)


AnySide = Side | ChunkedSide


def side_of(parts: Sequence[RowsInUse], n_classes: int, alpha: float) -> AnySide:
    """Return a domain to solve for, its rows in use read where they are fewer than d.

    One part in memory, all of it in use, is taken as it is.
    """
    n, d = sum(len(part.codes) for part in parts), parts[0].X.shape[1]
    some = [part for part in parts if len(part.codes)]
    if len(some) == 1 and some[0].used is None and not some[0].in_file:
        return Side(some[0].X, some[0].codes, n_classes, alpha)
    if n >= NEARLY_ALL * d:
        return ChunkedSide(parts, n_classes, alpha)
    rows, start = np.empty((n, d)), 0
    for part in some:
        for chunk, _ in part.chunks():
            rows[start : start + len(chunk)] = chunk
            start += len(chunk)
    codes = np.concatenate([part.codes for part in parts])
    return Side(rows, codes, n_classes, alpha)


def require_room(rows: Any) -> None:
    """Refuse rows of a file whose square matrices do not fit into memory.

    Of all rows that may be in use; with fewer than d of them, they are held themselves.
    DataError tells the memory needed and that which is free.
    """
    if not isinstance(rows, FileRows):
        return
    n, d = rows.shape
    side = min(n, d)
    require_memory(
        SQUARES * side**2 + side * d,
        f"CDSPP on {n} rows of {d} features, with square matrices of the smaller "
        "number,",
        "Leave rows or features out.",
    )
