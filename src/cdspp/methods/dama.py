"""DAMA, manifold alignment with labels: supervised and semi-supervised forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import class_sums, column_signs, counts, symmetric_product
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem
from cdspp.methods.shared.common_subspace import (
    SubspaceClassifier,
    SubspaceRecogniser,
    one_or_list,
    selective_pseudo_labelling,
)
from cdspp.methods.shared.graphs import heat_kernel_graph, laplacian

# Below this ratio of labelled rows to coordinates, solving for rows is cheaper.
FEW_ROWS = 0.75


@dataclass(eq=False, repr=False)
class DAMASup(SubspaceRecogniser):
    r"""Supervised domain adaptation by manifold alignment (DAMA_sup).

    Finds projections of both domains in which rows of one class lie close together and
    rows of different classes far apart, whatever their domain, and neighbours in a
    domain remain neighbours:

    .. math::

        \max_P \operatorname{tr} \bigl(P^T Z^T L_d Z P\bigr) \quad \text{s.t.} \quad
        P^T \bigl(Z^T (\mu L_g + L_s) Z + \alpha I\bigr) P = I

    where Z has the rows of both domains in two diagonal blocks, P stacks both
    projections, and `L_d`, `L_s` and `L_g` are the Laplacians of pairs of different
    classes, of pairs of the same class, and of a neighbour graph per domain. Rows are
    scaled to unit length first. Unlabelled rows are ignored; `DAMA` uses them in the
    neighbour graph, `DAMAPlus` with pseudo-labels.

    Parameters
    ----------
    alpha : float, default=10.0
        Weight of the regulariser.
    mu : float, default=0.1
        Weight of the neighbour graphs.
    n_components : int, default=None
        Dimension of the subspace; by default the number of classes, and at most the
        number of directions of the eigenproblem.
    n_neighbors : int, default=5
        Neighbours of a row in the graph of its domain.
    eigenvector_scaling : {"metric", "unit"}, default="metric"
        Scaling of the directions: by the constraint, or to unit length. It matters
        because projected rows are normalised afterwards.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the directions, descending.

    Notes
    -----
    Cost O(n^2 d) for the neighbour graph of a domain and O(n r^2 + r^3) for the
    eigenproblem, whose size r is the sum over both domains of the smaller of n and d.
    The method of 2011 has no regulariser, minimises the reciprocal ratio (the same
    subspace) and leaves classification to any classifier. Wang and Breckon add the
    regulariser and the nearest normalised class mean of centred rows of unit length,
    and set ``mu = 0.1``; `alpha` and the dimension are those of their own method. The
    width of the graph's kernel, which they estimate on at most 3000 random rows, is
    here the mean of all distances, so that nothing is random. A class in only one
    domain has a mean in the subspace and may be predicted, though nothing ties it to
    the other domain. Large classes have more weight in the projection, but not in the
    labels. Two halves of a source, given as two sources, have separate projections,
    which may change labels.

    References
    ----------
    .. [1] Wang, C., Mahadevan, S., "Heterogeneous domain adaptation using manifold
       alignment", IJCAI 2011. :doi:`10.5591/978-1-57735-516-8/IJCAI11-259`
    .. [2] Wang and Breckon, 2022: see `CDSPPSup`.

    Examples
    --------
    >>> from cdspp import DAMASup, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = DAMASup().fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    alpha: float = 10.0
    mu: float = 0.1
    n_components: int | None = None
    n_neighbors: int = 5
    eigenvector_scaling: str = "metric"

    # For the cost of each fit: shares of unlabelled rows in use, and pseudo-labelled.
    _shares: ClassVar[tuple[tuple[float, float], ...]] = ((0.0, 0.0),)

    _parameter_constraints = SubspaceRecogniser._parameter_constraints | {
        "mu": [base.NON_NEGATIVE],
        "n_neighbors": [base.COUNT],
    }

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""

        def domain_seconds(n: float, d: int) -> float:
            products = 5.1e-11 * n**2 * d
            products += 1.1e-10 * (n * min(n, d) ** 2 + (n < d) * d * n**2 / 2)
            graph: float = 3.5e-8 * n**2 + 2e-8 * n * size.n_classes
            return products + graph

        rank_source = min(size.n_source, size.d_source)
        seconds, order = 0.004 + domain_seconds(size.n_source, size.d_source), 0.0
        for shares in cls._shares:
            n, n_labelled = (size.n_labelled + s * size.n_unlabelled for s in shares)
            r, m = rank_source + min(n, size.d_target), size.n_source + n_labelled
            few_rows_seconds = 3e-11 * (r**3 / 3 + r**2 * m + r * m**2 + 2 * m**3)
            seconds += domain_seconds(n, size.d_target)
            seconds += few_rows_seconds if m < FEW_ROWS * r else 1.3e-10 * r**3
            order = max(order, r)
        members = (size.n_source + size.n_target) * size.n_classes
        return seconds, 40.0 + 33e-6 * order**2 + 8e-6 * members

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        prepared = self._prepare(problem)
        sources = [Domain(*part, int(self.n_neighbors)) for part in prepared.sources]
        return self._fit_prepared(sources, prepared)

    def _fit_prepared(self, sources: list[Domain], problem: Problem) -> list[Iteration]:
        X, codes = problem.X_labelled, problem.y_labelled
        if not self.supervised:
            X = np.vstack([X, problem.X_unlabelled])
            codes = np.append(codes, np.full(len(X) - len(codes), base.UNLABELLED))
        self._fit_target(sources, X, codes)
        return []

    def _fit_target(self, sources: list[Domain], X: Float, codes: Int) -> None:
        target, n_classes = Domain(X, codes, int(self.n_neighbors)), len(self.classes_)
        options = float(self.alpha), float(self.mu), self.n_components
        projections, self.eigenvalues_ = align(
            [*sources, target], n_classes, *options, self.eigenvector_scaling
        )
        *of_sources, self.projection_ = projections
        self.projection_source_ = one_or_list(of_sources)
        labelled = [*(source.X for source in sources), target.X[target.labelled]]
        Z = np.vstack([X @ P for X, P in zip(labelled, projections, strict=True)])
        y = np.concatenate([*(s.codes for s in sources), target.labelled_codes])
        self._recogniser = SubspaceClassifier.fit(Z, y, Z.mean(axis=0), n_classes)


class DAMA(DAMASup):
    """Semi-supervised manifold alignment (DAMA).

    Like `DAMASup`, which documents parameters and attributes, but with unlabelled rows
    in the target's neighbour graph. The classifier only uses labelled rows.

    Notes
    -----
    Cost O(n^2 d) for the graph and O(n d^2) for its quadratic form, with n target rows,
    labelled or not. If labelled rows are few, the eigenproblem has the size of their
    number in both domains. A class in only one domain is treated as in `DAMASup`; two
    halves of a source may change labels, as there.
    """

    _shares = ((1.0, 0.0),)


class DAMAPlus(DAMASup):
    """Manifold alignment with selective pseudo-labelling (DAMA+).

    `DAMASup` in the iterations of `CDSPP` (Wang and Breckon, 2022, see `CDSPPSup`).
    Attributes and example are those of `DAMASup`; `history_` has an entry per fit.

    Parameters
    ----------
    alpha, mu, n_components, n_neighbors, eigenvector_scaling
        As in `DAMASup`.
    max_iter, keep_projections
        As in `CDSPP`.

    Notes
    -----
    The neighbour graph of an iteration covers the labelled rows and those with a
    pseudo-label in it. What only depends on the source is computed once. A class in
    only one domain is treated as in `DAMASup`; two halves of a source may change
    labels, as there.
    """

    _shares = tuple((k / 5, k / 5) for k in range(5))

    _parameter_constraints = DAMASup._parameter_constraints | {
        "max_iter": [base.COUNT],
        "keep_projections": ["boolean"],
    }

    def __init__(
        self,
        alpha: float = 10.0,
        mu: float = 0.1,
        n_components: int | None = None,
        max_iter: int = 5,
        n_neighbors: int = 5,
        eigenvector_scaling: str = "metric",
        keep_projections: bool = False,
    ) -> None:
        super().__init__(alpha, mu, n_components, n_neighbors, eigenvector_scaling)
        self.max_iter, self.keep_projections = max_iter, keep_projections

    def _fit_prepared(self, sources: list[Domain], problem: Problem) -> list[Iteration]:
        X_unlabelled = problem.X_unlabelled

        def fit_predict(selected: Int, codes: Int) -> Iteration:
            X = np.vstack([problem.X_labelled, X_unlabelled[selected]])
            self._fit_target(sources, X, np.concatenate([problem.y_labelled, codes]))
            projections = self.projection_source_, self.projection_
            stored = projections if self.keep_projections else None
            return replace(self._single_iteration(X_unlabelled), projections=stored)

        return selective_pseudo_labelling(fit_predict, int(self.max_iter))


@dataclass(frozen=True, eq=False)
class Domain:
    """Rows (n, d) of one domain; those of code -1 are only in the neighbour graph."""

    X: Float
    codes: Int
    n_neighbors: int

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Mask of the rows that have a class, of shape (n,)."""
        return np.asarray(self.codes != base.UNLABELLED)

    @cached_property
    def _rotation(self) -> tuple[Float, tuple[Float, Float] | None]:
        """Return rows in at most n coordinates, and the reflections used for it."""
        n, d = self.X.shape
        if n >= d:
            return self.X, None
        # Only few columns are expanded, and the basis itself would double the cost.
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
        padded = np.zeros((self.X.shape[1], P.shape[1]), order="F")
        padded[: len(P)] = P
        space = max(1, 64 * P.shape[1])  # LAPACK reflects 64 columns at a time
        expanded, *_ = linalg.lapack.dormqr("L", "N", *reflections, padded, space)
        return np.asarray(expanded)

    @cached_property
    def geometry(self) -> Float:
        """Quadratic form (r, r) of the Laplacian of the neighbour graph."""
        L = laplacian(heat_kernel_graph(self.X, self.n_neighbors))
        return np.asarray(self.rows.T @ (L @ self.rows))

    @property
    def labelled_codes(self) -> Int:
        """Class codes of the labelled rows."""
        return self.codes[self.labelled]

    def scatter(self, weights: Float) -> Float:
        """Return the weighted scatter of the labelled rows, its upper triangle."""
        weighted = self.rows[self.labelled] * np.sqrt(weights)[:, None]
        return symmetric_product(weighted, of_rows=False)


def align(
    domains: Sequence[Domain],
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

    The regulariser is isotropic, so a direction with a positive eigenvalue lies in the
    span of the rows: the size r is the sum of ``min(n, d)`` over the domains. With few
    labelled rows m, it is solved in their span, where m^3 replaces most of r^3.
    """
    sizes = counts(np.concatenate([d.labelled_codes for d in domains]), n_classes)
    by_domain = [
        class_sums(d.rows[d.labelled], d.labelled_codes, n_classes) for d in domains
    ]
    sums = np.hstack(by_domain).T  # instead of any class matrix of size n x n
    # The Laplacian of pairs of the same class is ``diag(class size) - Y Y^T``.
    blocks = (mu * d.geometry + d.scatter(sizes[d.labelled_codes]) for d in domains)
    similar = np.asfortranarray(linalg.block_diag(*blocks))
    similar = linalg.blas.dsyrk(-1.0, sums, beta=1.0, c=similar, overwrite_c=1)
    size = len(similar)
    similar[np.diag_indices_from(similar)] += alpha
    rank = min(n_components or n_classes, size)
    has_few_rows = rank < sizes.sum() < FEW_ROWS * size
    solve = _solve_by_rows if has_few_rows else _solve_by_coordinates
    try:
        values, P = solve(domains, sizes, sums, similar, rank)
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
    domains: Sequence[Domain], sizes: Float, sums: Float, similar: Float, rank: int
) -> tuple[Float, Float]:
    """Return the largest eigenvalues, ascending, and their vectors."""
    # The Laplacian of different classes is ``diag(n of others) - 1 1^T + Y Y^T``.
    blocks = (d.scatter(sizes.sum() - sizes[d.labelled_codes]) for d in domains)
    different = np.asfortranarray(linalg.block_diag(*blocks))
    different = linalg.blas.dsyrk(1.0, sums, beta=1.0, c=different, overwrite_c=1)
    total = sums.sum(axis=1, keepdims=True)
    size = len(similar)
    return linalg.eigh(  # type: ignore[no-any-return]
        linalg.blas.dsyrk(-1.0, total, beta=1.0, c=different, overwrite_c=1),
        similar,
        lower=False,
        subset_by_index=[size - rank, size - 1],
        overwrite_a=True,
        overwrite_b=True,
        check_finite=False,
    )


def _solve_by_rows(
    domains: Sequence[Domain], sizes: Float, sums: Float, similar: Float, rank: int
) -> tuple[Float, Float]:
    """Return the same as `_solve_by_coordinates`, by a problem in the labelled rows.

    Let ``F^T F`` be the left matrix and ``U^T U`` the right one. The eigenproblem is
    that of ``V^T V`` with ``V = U^{-T} F^T``, whose eigenvectors w give ``U^{-1} V w``.
    The root of the left Laplacian scales the difference of a row and its class mean by
    the root of the number of rows of other classes, and the difference of the class
    mean and the overall mean by the root of n.
    """
    U = linalg.cholesky(similar, check_finite=False)
    total, by_class = sizes.sum(), sums.T
    means = by_class / np.maximum(sizes, 1.0)[:, None]
    within, between = np.sqrt(total - sizes), np.sqrt(total)
    shifts = between * (means - by_class.sum(axis=0) / total) - within[:, None] * means
    rows = [within[d.labelled_codes, None] * d.rows[d.labelled] for d in domains]
    codes = np.concatenate([domain.labelled_codes for domain in domains])
    F = np.asarray(shifts[codes] + linalg.block_diag(*rows))
    V = linalg.solve_triangular(U, F.T, trans=1, overwrite_b=True, check_finite=False)
    n = len(F)
    values, W = linalg.eigh(
        symmetric_product(V.T, of_rows=True),
        lower=False,
        subset_by_index=[n - rank, n - 1],
        overwrite_a=True,
        check_finite=False,
    )
    # Fewer directions than requested separate classes.
    if values[0] <= n * np.spacing(values[-1]):
        return _solve_by_coordinates(domains, sizes, sums, similar, rank)
    P = linalg.solve_triangular(U, V @ (W / np.sqrt(values)), check_finite=False)
    return values, P
