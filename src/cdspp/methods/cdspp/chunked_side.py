"""One domain of a CDSPP fit of which a chunk of rows at a time is worked on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from cdspp.core.file_rows import FileRows, chunks_of, mapped
from cdspp.core.linalg import add_symmetric_product, counts
from cdspp.core.memory import require_memory
from cdspp.methods.base import Float, Int
from cdspp.methods.cdspp.structure_preserving import (
    ClosedForm,
    Inverse,
    Side,
    SideLike,
    regularised_factor,
)

__all__ = ["ChunkedSide", "RowsInUse", "require_room", "side_of"]

# Square matrices of the smaller of n and d that are held at once.
SQUARES = 3
# From this share of d on, rows in use are not solved for by rows: that reads their
# Gram matrix in three more products, and needs them copied into one piece.
NEARLY_ALL = 0.9


class RowsInUse(NamedTuple):
    """Rows of unit length, in memory or in a file, of which some are in use.

    Attributes
    ----------
    X : ndarray or FileRows of shape (n, d)
        The rows.
    codes : ndarray of shape (n_used,)
        Class codes of those in use.
    used : ndarray of shape (n_used,) or None
        Which are in use, ascending; all where it is None.
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
    copied, and rows in a file are passed over once.

    Parameters
    ----------
    parts : sequence of RowsInUse
        The rows in use.
    n_classes : int
        Number of classes.
    alpha : float
        Weight of the regulariser.

    Attributes
    ----------
    sums : ndarray of shape (d, n_classes)
        Class sums ``M``, set by `solve`.

    Notes
    -----
    Time O(n d^2 + d^3), memory O(d^2) and a chunk. The class weights differ from fit to
    fit, so that no Gram matrix could be kept but one a class.
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
        factor = self.inverse(other).factor
        M = self.sums[:, shared]
        Q = linalg.cho_solve(factor, M, check_finite=False)
        return ClosedForm(M.T @ Q, lambda U: Q @ U, lambda U: None)

    def inverse(self, other: Float) -> Inverse:
        """Return ``K^{-1}``, factorised, in one pass over the rows."""
        d = self.parts[0].X.shape[1]
        roots = np.sqrt(self.class_counts + other / 2.0)
        K, sums = np.zeros((d, d), order="F"), np.zeros((self.n_classes, d))
        for part in self.parts:
            for rows, codes in part.chunks():
                sums += _indicator(codes, self.n_classes) @ rows
                K = add_symmetric_product(K, rows * roots[codes][:, None])
        self.sums = sums.T
        return Inverse(regularised_factor(K, self.sums, self.alpha), self.alpha)


def _indicator(codes: Int, n_classes: int) -> sparse.csc_array:
    """Return the class indicator matrix (n_classes, n), with a number a row of X."""
    n = len(codes)
    return sparse.csc_array((np.ones(n), codes, np.arange(n + 1)), (n_classes, n))


def side_of(parts: Sequence[RowsInUse], n_classes: int, alpha: float) -> SideLike:
    """Return a domain to solve for, its rows in use read where they are fewer than d.

    Parameters
    ----------
    parts : sequence of RowsInUse
        The rows in use; where they are one part in memory, it is taken as it is.
    n_classes : int
        Number of classes.
    alpha : float
        Weight of the regulariser.
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


def require_room(rows: FileRows) -> None:
    """Refuse rows of a file whose square matrices do not fit into memory.

    Parameters
    ----------
    rows : FileRows of shape (n, d)
        All rows that may be in use. With fewer than d in use, they are held themselves.

    Raises
    ------
    DataError
        With the memory needed and that which is free.
    """
    n, d = rows.shape
    side = min(n, d)
    require_memory(
        SQUARES * side**2 + side * d,
        f"CDSPP on {n} rows of {d} features, with square matrices of the smaller "
        "number,",
        "Leave rows or features out.",
    )
