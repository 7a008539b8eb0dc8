"""Manifold alignment with labels: the generalised eigenproblem of DAMA."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import (
    class_sums,
    column_signs,
    counts,
    diagonal,
    symmetric_product,
)
from cdspp.methods.base import UNLABELLED, Float, Int
from cdspp.methods.shared.graphs import heat_kernel_graph, laplacian

# Below this ratio of labelled rows to coordinates the rows make the smaller problem.
FEW_ROWS = 0.75


@dataclass(frozen=True, eq=False)
class Domain:
    """Rows (n, d) of one domain; with code -1 they are in the neighbour graph alone."""

    X: Float
    codes: Int
    n_neighbors: int

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a class, of shape (n,)."""
        return np.asarray(self.codes != UNLABELLED)

    @cached_property
    def _rotation(self) -> tuple[Float, tuple[Float, Float] | None]:
        """Return rows of at most n coordinates and the reflections that lead there."""
        n, d = self.X.shape
        if n >= d:
            return self.X, None
        # Few columns are ever expanded: the basis itself would double the cost.
        reflections, R = linalg.qr(self.X.T, mode="raw", check_finite=False)
        return np.ascontiguousarray(R.T), reflections

    @property
    def rows(self) -> Float:
        """Rows in the coordinates of the solver, (n, r) with r = min(n, d)."""
        return self._rotation[0]

    def expand(self, P: Float) -> Float:
        """Return a projection (r, k) of `rows` as one of `X`, (d, k)."""
        reflections = self._rotation[1]
        if reflections is None:
            return P
        whole = np.zeros((self.X.shape[1], P.shape[1]), order="F")
        whole[: len(P)] = P
        space = max(1, 64 * P.shape[1])  # LAPACK reflects 64 columns at a time
        found, *_ = linalg.lapack.dormqr("L", "N", *reflections, whole, space)
        return np.asarray(found)

    @cached_property
    def geometry(self) -> Float:
        """Quadratic form (r, r) of the Laplacian of the neighbour graph."""
        L = laplacian(heat_kernel_graph(self.X, self.n_neighbors))
        return np.asarray(self.rows.T @ (L @ self.rows))

    @property
    def known(self) -> Int:
        """Class codes of the labelled rows."""
        return self.codes[self.labelled]

    def scatter(self, weights: Float) -> Float:
        """Return the weighted scatter of the labelled rows, its upper triangle."""
        weighted = self.rows[self.labelled] * np.sqrt(weights)[:, None]
        return symmetric_product(weighted, of_rows=False)


Domains = Sequence[Domain]


def align(
    domains: Domains,
    n_classes: int,
    alpha: float,
    mu: float,
    n_components: int | None,
    scaling: str,
) -> tuple[list[Float], Float]:
    r"""Solve the eigenproblem of DAMA for its largest eigenvalues.

    .. math::

        Z^T L_d Z p = \lambda \bigl(Z^T (\mu L_g + L_s) Z + \alpha I\bigr) p

    with the names and options of `DAMASup`, the target being the last domain. Returns
    the projection of each domain's features, and the eigenvalues, descending.

    The regulariser is isotropic, so that a direction with a positive eigenvalue lies in
    the space of the rows: the size r of the problem is the sum of ``min(n, d)`` over
    the domains. Of few labelled rows m it is solved in their space, where m^3 takes the
    place of most of r^3.
    """
    sizes = counts(np.concatenate([domain.known for domain in domains]), n_classes)
    by_domain = [class_sums(d.rows[d.labelled], d.known, n_classes) for d in domains]
    sums = np.hstack(by_domain).T  # in place of every class matrix of size n x n
    # The Laplacian of the pairs of equal class is ``diag(size of the class) - Y Y^T``.
    blocks = (mu * each.geometry + each.scatter(sizes[each.known]) for each in domains)
    similar = np.asfortranarray(linalg.block_diag(*blocks))
    similar = linalg.blas.dsyrk(-1.0, sums, beta=1.0, c=similar, overwrite_c=1)
    size = len(similar)
    diagonal(similar)[:] += alpha
    if n_components is not None and n_components > size:
        warnings.warn(
            f"n_components={n_components}, but the eigenproblem has {size} directions "
            f"(no more than rows or features). Using {size}.",
            stacklevel=2,
        )
    kept = min(n_components or n_classes, size)
    few = kept < sizes.sum() < FEW_ROWS * size
    solve = _solve_by_rows if few else _solve_by_coordinates
    try:
        values, P = solve(domains, sizes, sums, similar, kept)
    except linalg.LinAlgError as error:
        text = f"the eigenproblem is not definite with alpha={alpha:g} ({error})"
        raise MethodFailed(text) from error
    values, P = values[::-1], P[:, ::-1]
    if scaling == "unit":
        P = P / np.sqrt((P**2).sum(axis=0))
    splits = np.cumsum([domain.rows.shape[1] for domain in domains])[:-1]
    parts = zip(domains, np.split(P, splits), strict=True)
    projections = [domain.expand(part) for domain, part in parts]
    signs = column_signs(projections[-1])
    return [projection * signs for projection in projections], values


def _solve_by_coordinates(
    domains: Domains, sizes: Float, sums: Float, similar: Float, kept: int
) -> tuple[Float, Float]:
    """Return the largest eigenvalues, ascending, and their vectors."""
    size = len(similar)
    return linalg.eigh(  # type: ignore[no-any-return]
        _differing(domains, sizes, sums),
        similar,
        lower=False,
        subset_by_index=[size - kept, size - 1],
        overwrite_a=True,
        overwrite_b=True,
        check_finite=False,
    )


def _solve_by_rows(
    domains: Domains, sizes: Float, sums: Float, similar: Float, kept: int
) -> tuple[Float, Float]:
    """Return the same from an eigenproblem of the size of the labelled rows.

    With ``F^T F`` the matrix on the left and ``U^T U`` that on the right it is that of
    ``V^T V``, ``V = U^{-T} F^T``, whose vectors w give ``U^{-1} V w``.
    """
    U = linalg.cholesky(similar, check_finite=False)
    rows = _differing_rows(domains, sizes, sums)
    V = linalg.solve_triangular(
        U, rows.T, trans=1, overwrite_b=True, check_finite=False
    )
    n = len(rows)
    values, W = linalg.eigh(
        symmetric_product(V.T, of_rows=True),
        lower=False,
        subset_by_index=[n - kept, n - 1],
        overwrite_a=True,
        check_finite=False,
    )
    # Fewer directions tell classes apart than are asked for.
    if values[0] <= n * np.spacing(values[-1]):
        return _solve_by_coordinates(domains, sizes, sums, similar, kept)
    P = linalg.solve_triangular(U, V @ (W / np.sqrt(values)), check_finite=False)
    return values, P


def _differing(domains: Domains, sizes: Float, sums: Float) -> Float:
    """Return the upper triangle of the matrix on the left.

    The Laplacian of pairs of different class is ``diag(all others) - 1 1^T + Y Y^T``.
    """
    blocks = (each.scatter(sizes.sum() - sizes[each.known]) for each in domains)
    matrix = np.asfortranarray(linalg.block_diag(*blocks))
    matrix = linalg.blas.dsyrk(1.0, sums, beta=1.0, c=matrix, overwrite_c=1)
    total = sums.sum(axis=1, keepdims=True)
    return np.asarray(linalg.blas.dsyrk(-1.0, total, beta=1.0, c=matrix, overwrite_c=1))


def _differing_rows(domains: Domains, sizes: Float, sums: Float) -> Float:
    """Return F of shape (n_labelled, size), ``F^T F`` being the matrix on the left.

    The root of its Laplacian scales a row less the mean of its class by the root of the
    number of all others, and that mean less the mean of all by the root of n.
    """
    n, sums = sizes.sum(), sums.T
    means = sums / np.maximum(sizes, 1.0)[:, None]
    within, between = np.sqrt(n - sizes), np.sqrt(n)
    shifts = between * (means - sums.sum(axis=0) / n) - within[:, None] * means
    rows = [within[d.known, None] * d.rows[d.labelled] for d in domains]
    known = np.concatenate([domain.known for domain in domains])
    return np.asarray(shifts[known] + linalg.block_diag(*rows))
