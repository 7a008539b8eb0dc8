"""The structure preserving projection: a generalised eigenproblem in closed form.

The problem of size ``d_s + d_t`` has rank at most 2C, so two Cholesky solves and one
singular value decomposition of size C x C give every direction with a nonzero
eigenvalue; no matrix of size ``d_s + d_t`` is formed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cdspp.core.linalg import column_signs, psd_factor
from cdspp.methods.base import Float
from cdspp.methods.cdspp.sides import AnySide

__all__ = [
    "Projection",
    "in_both",
    "solve_projection",
    "solve_several",
    "useful_number",
]

# An eigenvalue below this share of the largest one is rounding error of a zero, of
# which there are where ranges of both factors are orthogonal; where class sums have a
# lower rank than there are classes, the factors have fewer columns.
RELATIVE_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class Projection:
    """Solution of the eigenproblem, largest eigenvalue first; all are positive.

    `target` is the projection (n_features, n_components) of the target features, and
    `expand_sources` compute those of the sources, which the rounds of pseudo-labelling
    do without. `rows_sources` and `rows_target` are projected rows, None where they are
    read by chunks.
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

    @property
    def source(self) -> Float:
        """Projection of the features of the source, or of the first one."""
        return self.sources[0]

    @property
    def rows_source(self) -> Float | None:
        """Projected rows of the source, or of the first one."""
        return self.rows_sources[0]


def solve_projection(
    source: AnySide,
    target: AnySide,
    n_components: int | None = None,
    *,
    scaling: str = "metric",
) -> Projection:
    r"""Solve the eigenproblem of CDSPP.

    .. math::

        \begin{pmatrix} 0 & S_c \\ S_c^T & 0 \end{pmatrix} p = \lambda
        \left( \begin{pmatrix} S_s & 0 \\ 0 & S_t \end{pmatrix} + \alpha I \right) p

    Directions are scaled by "metric", ``p^T (B + alpha I) p = 1``, or to "unit" length.
    By default there are as many as positive eigenvalues, at most C for C classes.

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
        rows_sources=(solved_source.rows(U * factors),),
        rows_target=solved_target.rows(V * factors),
        expand_sources=(partial(solved_source.expand, U * factors),),
    )


def solve_several(
    sides: Sequence[AnySide], n_components: int | None = None, *, scaling: str
) -> Projection:
    r"""Solve the eigenproblem of three or more domains, the target last.

    Every domain is tied to every other one as the source to the target above: block
    ``M_i M_j^T`` on the left for i != j, and on the right ``K_i`` with the class sizes
    of all other domains in place of those of the other one.

    With ``Q_i = K_i^{-1} M_i``, ``G_i = M_i^T Q_i = F_i F_i^T`` and F_i side by side in
    F, the eigenvalues are the positive ones of ``F^T F`` without its diagonal blocks, C
    of them at most; for its eigenvector u, ``p_i = Q_i (F u - F_i u_i) / lambda``. Cost
    O((D C)^3) for D domains beside one factor a domain.
    """
    total = np.sum([side.class_counts for side in sides], axis=0)
    solved, factors, coupled = [], [], []
    for side in sides:
        other = total - side.class_counts
        coupled.append((side.class_counts > 0) & (other > 0))
        solved.append(side.solve(other, coupled[-1]))
        factor = psd_factor(solved[-1].overlap)
        wide = np.zeros((len(total), factor.shape[1]))
        wide[coupled[-1]] = factor
        factors.append(wide)
    F = np.hstack(factors)
    own = linalg.block_diag(*(factor.T @ factor for factor in factors))
    values, vectors = linalg.eigh(F.T @ F - own, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = int(np.sum(values > RELATIVE_TOLERANCE * values.max(initial=0.0)))
    rank = useful_number(n_components, positive)
    values, vectors = values[:rank], vectors[:, :rank]
    parts = np.split(vectors, np.cumsum([each.shape[1] for each in factors])[:-1])
    whole = F @ vectors
    weights = [
        ((whole - factor @ part) / values)[classes]
        for factor, part, classes in zip(factors, parts, coupled, strict=True)
    ]
    P_target = solved[-1].expand(weights[-1])
    scales = column_signs(P_target)
    if scaling == "unit":
        expanded = [s.expand(w) for s, w in zip(solved, weights, strict=True)]
        scales /= np.sqrt(sum((P**2).sum(axis=0) for P in expanded))
    sources = list(zip(solved[:-1], weights[:-1], strict=True))
    return Projection(
        target=P_target * scales,
        eigenvalues=values,
        rows_sources=tuple(side.rows(w * scales) for side, w in sources),
        rows_target=solved[-1].rows(weights[-1] * scales),
        expand_sources=tuple(partial(s.expand, w * scales) for s, w in sources),
    )


def in_both(source: AnySide, target: AnySide) -> NDArray[np.bool_]:
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
