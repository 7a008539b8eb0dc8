"""The structure preserving projection where both domains share columns.

One more term, ``mu sum_k |P_s[i_k] - P_t[j_k]|^2``, pulls the rows of both projections
together that belong to a shared column. The problem keeps its rank of at most 2C.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import linalg

from cdspp.core.linalg import column_signs, psd_factor
from cdspp.methods.base import Float
from cdspp.methods.bridge import Bridge
from cdspp.methods.cdspp.structure_preserving import (
    RELATIVE_TOLERANCE,
    Inverse,
    Projection,
    SideLike,
    in_both,
    useful_number,
)

__all__ = ["solve_coupled"]


def solve_coupled(
    source: SideLike,
    target: SideLike,
    bridge: Bridge,
    mu: float,
    n_components: int | None = None,
    *,
    scaling: str = "metric",
) -> Projection:
    r"""Solve the eigenproblem of CDSPP with coupled projections.

    .. math::

        N J N^\top v = \lambda \bigl(K + \mu U U^\top\bigr) v, \quad
        K = \operatorname{diag}(K_s, K_t), \; N = \operatorname{diag}(M_s, M_t), \;
        U = \begin{pmatrix} E_s \\ -E_t \end{pmatrix}

    where `M` holds the class sums of a domain, `J` swaps both blocks, and a column of
    `E` is one in the place of a shared column.

    Parameters
    ----------
    source, target : Side or ChunkedSide
        Labelled rows of both domains.
    bridge : Bridge
        The shared columns.
    mu : float
        Weight of the coupling; infinite for shared columns that are projected alike.
    n_components : int, default=None
        Number of directions; all with a positive eigenvalue by default.
    scaling : {"metric", "unit"}, default="metric"
        ``v^T (K + mu U U^T) v = 1``, or vectors of unit length.

    Returns
    -------
    projection : Projection
        The leading directions.

    Notes
    -----
    The proof stands at `cdspp.methods.cdspp.bridged.CDSPPBridge`. By Woodbury's
    identity, with ``Q = K^{-1} N``, ``V = U^T Q`` and ``S = 1/mu + U^T K^{-1} U``, of
    which a block comes from each domain,

    .. math::

        (K + \mu U U^\top)^{-1} N = Q - K^{-1} U S^{-1} V, \qquad
        G = N^\top (K + \mu U U^\top)^{-1} N = N^\top Q - V^\top S^{-1} V .

    Cost a side: one Cholesky factor of the smaller of n and d, and n_shared solves with
    it; O(n_shared^3 + C^3) for the rest.
    """
    shared, i, j = in_both(source, target), bridge.source, bridge.target
    inverses = source.inverse(target.class_counts), target.inverse(source.class_counts)
    sums = source.sums[:, shared], target.sums[:, shared]
    Qs, Qt = (K.apply(M) for K, M in zip(inverses, sums, strict=True))
    V = np.hstack([Qs[i], -Qt[j]])
    S = inverses[0].block(i) + inverses[1].block(j)
    S[np.diag_indices_from(S)] += 1.0 / mu
    factor = linalg.cho_factor(S, overwrite_a=True, check_finite=False)
    R = linalg.cho_solve(factor, V, check_finite=False)
    G = linalg.block_diag(sums[0].T @ Qs, sums[1].T @ Qt) - V.T @ R
    F = psd_factor((G + G.T) / 2.0)
    swapped = np.roll(F, shared.sum(), axis=0)
    values, vectors = linalg.eigh(-(F.T @ swapped), check_finite=False)
    values = -values  # the largest first
    positive = int(np.sum(values > RELATIVE_TOLERANCE * values.max(initial=0.0)))
    rank = useful_number(n_components, positive)
    W = swapped @ vectors[:, :rank] / values[:rank]
    C = int(shared.sum())
    P_source = Qs @ W[:C] - _spread(inverses[0], i, R @ W)
    P_target = Qt @ W[C:] + _spread(inverses[1], j, R @ W)
    factors = column_signs(P_target)
    if scaling == "unit":
        factors /= np.sqrt((P_source**2).sum(axis=0) + (P_target**2).sum(axis=0))
    return Projection(
        target=P_target * factors,
        eigenvalues=values[:rank],
        rows_source=None,
        rows_target=None,
        expand_source=partial(np.multiply, P_source, factors),
    )


def _spread(K: Inverse, columns: np.ndarray, B: Float) -> Float:
    """Return ``K^{-1} E B`` for a row of `B` for each of some columns."""
    wide = np.zeros((K.n_features, B.shape[1]))
    wide[columns] = B
    return K.apply(wide)
