"""Manifold alignment with labels: the generalised eigenproblem of DAMA.

Rows of two domains, some of them labelled, give two matrices of size at most
``d_s + d_t``; every class matrix of size n x n is replaced by class sums, and a domain
with fewer rows than features is first rotated into the space of its rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import class_sums, column_signs, counts, symmetric_product
from cdspp.methods.base import UNLABELLED, Float, Int
from cdspp.methods.shared.graphs import heat_kernel_graph, laplacian

__all__ = ["Alignment", "Domain", "align"]


@dataclass(frozen=True, eq=False)
class Domain:
    """Rows of one domain with their class codes, and what rests on this domain alone.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    codes : ndarray of shape (n,)
        Class codes; -1 where a row only takes part in the neighbour graph.
    n_neighbors : int, default=5
        Neighbours of a row in the graph.
    """

    X: Float
    codes: Int
    n_neighbors: int = 5

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a class, of shape (n,)."""
        return np.asarray(self.codes != UNLABELLED)

    @cached_property
    def _rotation(self) -> tuple[Float, Float | None]:
        """Return rows of at most n coordinates and the basis that they refer to."""
        n, d = self.X.shape
        if n >= d:
            return self.X, None
        basis, R = linalg.qr(self.X.T, mode="economic", check_finite=False)
        return np.ascontiguousarray(R.T), basis

    @property
    def rows(self) -> Float:
        """Rows in the coordinates of the solver, (n, r) with r = min(n, d)."""
        return self._rotation[0]

    def expand(self, P: Float) -> Float:
        """Return a projection (r, k) of `rows` as one of `X`, (d, k)."""
        basis = self._rotation[1]
        return P if basis is None else np.asarray(basis @ P)

    @cached_property
    def geometry(self) -> Float:
        """Quadratic form (r, r) of the Laplacian of the neighbour graph."""
        L = laplacian(heat_kernel_graph(self.X, self.n_neighbors))
        return np.asarray(self.rows.T @ (L @ self.rows))

    @property
    def known(self) -> Int:
        """Class codes of the labelled rows."""
        return self.codes[self.labelled]

    def class_sums(self, n_classes: int) -> Float:
        """Return the sums of the labelled rows of each class, (r, n_classes)."""
        return class_sums(self.rows[self.labelled], self.known, n_classes).T

    def scatter(self, weights: Float) -> Float:
        """Return the weighted scatter of the labelled rows, its upper triangle."""
        weighted = self.rows[self.labelled] * np.sqrt(weights)[:, None]
        return symmetric_product(weighted, of_rows=False)


@dataclass(frozen=True, eq=False)
class Alignment:
    """Solution of the eigenproblem, largest eigenvalue first.

    Attributes
    ----------
    source, target : ndarray of shape (n_features of the domain, n_components)
        Projections of the features.
    eigenvalues : ndarray of shape (n_components,)
        Eigenvalues, descending.
    """

    source: Float
    target: Float
    eigenvalues: Float


def align(
    source: Domain,
    target: Domain,
    n_classes: int,
    *,
    alpha: float,
    mu: float,
    n_components: int | None = None,
    scaling: str = "metric",
) -> Alignment:
    r"""Solve the eigenproblem of DAMA for its largest eigenvalues.

    .. math::

        Z^T L_d Z p = \lambda \bigl(Z^T (\mu L_g + L_s) Z + \alpha I\bigr) p

    where Z holds the rows of both domains in two diagonal blocks, and `L_d`, `L_s` and
    `L_g` are the Laplacians of the pairs of different class, of the pairs of equal
    class and of the neighbour graphs of the domains.

    Parameters
    ----------
    source, target : Domain
        Rows of both domains; at least one is labelled.
    n_classes : int
        Number of classes.
    alpha : float
        Weight of the regulariser.
    mu : float
        Weight of the neighbour graphs.
    n_components : int, default=None
        Number of directions, the number of classes by default; never more than the
        eigenproblem has.
    scaling : {"metric", "unit"}, default="metric"
        Scale each direction by the matrix on the right, or to unit length.

    Returns
    -------
    alignment : Alignment
        The leading directions.

    Raises
    ------
    MethodFailed
        The matrix on the right is not positive definite in floating point.

    Notes
    -----
    The regulariser is isotropic, so that a direction with a positive eigenvalue lies in
    the space of the rows: the size r of the problem is ``min(n_s, d_s) + min(n_t,
    d_t)``, and the cost O(n r^2 + r^3).
    """
    differing, similar = _pencil(source, target, n_classes, alpha, mu)
    size = len(similar)
    kept = _possible(n_components, n_classes, size)
    try:
        values, P = linalg.eigh(
            differing,
            similar,
            lower=False,
            subset_by_index=[size - kept, size - 1],
            overwrite_a=True,
            overwrite_b=True,
            check_finite=False,
        )
    except linalg.LinAlgError as error:
        raise MethodFailed(
            f"the eigenproblem is not definite with alpha={alpha:g} ({error})"
        ) from error
    values, P = values[::-1], P[:, ::-1]
    if scaling == "unit":
        P = P / np.sqrt((P**2).sum(axis=0))
    split = source.rows.shape[1]
    P_target = target.expand(P[split:])
    signs = column_signs(P_target)
    return Alignment(source.expand(P[:split]) * signs, P_target * signs, values)


def _pencil(
    source: Domain, target: Domain, n_classes: int, alpha: float, mu: float
) -> tuple[Float, Float]:
    """Return the upper triangles of the two matrices, in Fortran order.

    With class indicators Y, the Laplacian of the pairs of equal class is ``diag(size of
    the own class) - Y Y^T``; of those of different class, ``diag(size of all others) -
    1 1^T + Y Y^T``.
    """
    domains = (source, target)
    sizes = counts(np.concatenate([domain.known for domain in domains]), n_classes)
    sums = np.vstack([domain.class_sums(n_classes) for domain in domains])
    split, size = source.rows.shape[1], len(sums)
    differing, similar = np.zeros((2, size, size)).transpose(0, 2, 1)
    for domain, block in zip(
        domains, (slice(0, split), slice(split, size)), strict=True
    ):
        own = sizes[domain.known]
        similar[block, block] = mu * domain.geometry + domain.scatter(own)
        differing[block, block] = domain.scatter(sizes.sum() - own)
    update = linalg.blas.dsyrk
    similar = update(-1.0, sums, beta=1.0, c=similar, overwrite_c=True)
    differing = update(1.0, sums, beta=1.0, c=differing, overwrite_c=True)
    total = sums.sum(axis=1, keepdims=True)
    differing = update(-1.0, total, beta=1.0, c=differing, overwrite_c=True)
    similar[np.diag_indices(size)] += alpha
    return differing, similar


def _possible(n_components: int | None, n_classes: int, size: int) -> int:
    if n_components is not None and n_components > size:
        warnings.warn(
            f"n_components={n_components}, but the eigenproblem has {size} directions "
            f"(no more than rows or features). Using {size}.",
            stacklevel=3,
        )
    return min(n_components or n_classes, size)
