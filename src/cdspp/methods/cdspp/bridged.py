"""CDSPP with what both domains share in addition to labels."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from cdspp.core.linalg import column_signs, counts, psd_factor
from cdspp.methods.base import NON_NEGATIVE, Problem
from cdspp.methods.bridge import Bridge
from cdspp.methods.cdspp.cdspp import CDSPP, DOUBLE_CONSTRAINTS
from cdspp.methods.cdspp.structure_preserving import (
    Projection,
    RowsInUse,
    Solver,
    Solvers,
    effective_rank,
)


class CDSPPBridge(CDSPP):
    r"""CDSPP with shared columns and paired rows (CDSPP+bridge).

    Two terms are added to the problem of `CDSPPSup`, which keeps its closed form. The
    first pulls together the two rows of the projections that belong to a shared column,
    in the limit until they are equal:

    .. math::

        \mu \sum_k \lVert P_s[i_k] - P_t[j_k] \rVert^2

    The second makes each pair a separate class: one more column in the class sums of
    both domains. Selective pseudo-labelling and attributes are as in `CDSPP`, which
    gives the same fit without either. Both are this project's own additions. A
    class in only one domain is treated as in `CDSPPSup`, but shared columns or pairs
    tie it to the other domain. `SharedColumnsPlus`, a linear machine on the shared
    columns, is simpler and mostly as good.

    Parameters
    ----------
    mu : float, default=None
        Weight of the coupling of shared columns; None for infinite weight.
    pair_weight : float, default=1.0
        Weight of a pair relative to that of an average class, which is the product of
        its numbers of source rows and labelled target rows.
    alpha, max_iter, selection, final_fit, normalize_means, classifier
        As in `CDSPP`.
    n_components : int, default=None
        As in `CDSPP`. With m pairs, the subspace has up to m more directions.
    center : bool, default=False
        As in `CDSPP`. With columns or pairs, both domains have the same origin.
    eigenvector_scaling : {"metric", "unit"}, default="unit"
        As in `CDSPP`. Here cross-validation on labelled rows prefers unit length.
    keep_projections : bool, default=False
        As in `CDSPP`.

    Notes
    -----
    Let `K` be the block diagonal matrix of both regularised scatter matrices, `N` that
    of both domains' class sums, `J` the permutation that swaps the blocks, and `U` a
    matrix with a column per shared column (1 at its position in the source, -1 at its
    position in the target). The directions v solve

    .. math::

        N J N^\top v = \lambda \bigl(K + \mu U U^\top\bigr) v .

    Let ``G = N^T (K + mu U U^T)^{-1} N = F F^T``, of size 2C for C classes and pairs.
    For an eigenvector u of ``F^T J F`` with eigenvalue ``lambda > 0`` let
    ``v = (K + mu U U^T)^{-1} N J F u / lambda``. Then ``N J N^T v = N J G J F u /
    lambda = N J F u = lambda (K + mu U U^T) v``. Conversely, a solution with
    ``lambda > 0`` has ``v = (K + mu U U^T)^{-1} N w`` with ``w = J N^T v / lambda``, so
    ``J G w = lambda w``, and ``F^T w`` is an eigenvector of ``F^T J F``. By Woodbury's
    identity, the inverse follows from the factors of both domains and another one of
    size n_shared, even for infinite `mu`.

    Cost beyond that of `CDSPP`: O(n_shared s^2 + n_shared^3) per iteration, where s is
    the smaller of n and d of a domain; with m pairs, O((C + m)^3) instead of O(C^3).

    Examples
    --------
    >>> from cdspp import CDSPPBridge, SourceDomain
    >>> source = SourceDomain(
    ...     [[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], [0, 1], shared_columns=[(0, 1), (1, 0)]
    ... )
    >>> X = [[0.1, 0.9], [1.0, 0.2], [0.3, 0.8], [0.7, 0.1]]
    >>> CDSPPBridge().fit(X, [-1, 1, -1, -1], source=source).transduction_
    array([0, 1, 0, 1])
    """

    _parameter_constraints = DOUBLE_CONSTRAINTS | {
        "mu": [None, NON_NEGATIVE],
        "pair_weight": [NON_NEGATIVE],
    }

    mu: float | None
    pair_weight: float

    def __init__(
        self,
        mu: float | None = None,
        pair_weight: float = 1.0,
        alpha: float = 10.0,
        n_components: int | None = None,
        max_iter: int = 5,
        selection: str = "class",
        final_fit: bool = False,
        center: bool = False,
        normalize_means: bool = True,
        eigenvector_scaling: str = "unit",
        classifier: Any = None,
        keep_projections: bool = False,
    ) -> None:
        self._set_options(locals())

    def _pairs(self, prepared: Problem) -> tuple[list[RowsInUse], list[RowsInUse]]:
        bridge = prepared.bridge
        if bridge is None or not bridge.n_pairs or not self.pair_weight:
            return [], []
        codes = prepared.n_classes + np.arange(bridge.n_pairs)
        n_source = counts(prepared.y_source, prepared.n_classes)
        n_target = counts(prepared.y_labelled, prepared.n_classes)
        root = np.sqrt(self.pair_weight * np.mean(n_source * n_target))
        source, target = root * bridge.pairs_source, root * bridge.pairs_target
        return [RowsInUse(source, codes)], [RowsInUse(target, codes)]

    def _solve(self, sources: Solvers, target: Solver, prepared: Problem) -> Projection:
        bridge = prepared.bridge
        assert bridge is not None
        mu = np.inf if self.mu is None else float(self.mu)
        if mu and len(bridge.source) and not bridge.one_domain:
            return self._solve_coupled(sources[0], target, bridge, mu)
        projection = super()._solve(sources, target, prepared)
        if bridge.n_pairs:
            return replace(projection, rows_sources=(None,), rows_target=None)
        return projection

    def _solve_coupled(
        self, source: Solver, target: Solver, bridge: Bridge, mu: float
    ) -> Projection:
        """Solve the problem above by Woodbury's identity.

        With ``Q = K^{-1} N``, ``V = U^T Q`` and ``S = 1/mu + U^T K^{-1} U``,
        ``(K + mu U U^T)^{-1} N = Q - K^{-1} U S^{-1} V`` and
        ``G = N^T Q - V^T S^{-1} V``.
        """
        shared = (source.class_counts > 0) & (target.class_counts > 0)
        i, j = bridge.source, bridge.target
        inverse_source = source.inverse(target.class_counts)
        inverse_target = target.inverse(source.class_counts)
        sums_source, sums_target = source.sums[:, shared], target.sums[:, shared]
        Qs, Qt = inverse_source.apply(sums_source), inverse_target.apply(sums_target)
        V = np.hstack([Qs[i], -Qt[j]])
        S = inverse_source.block(i) + inverse_target.block(j)
        S[np.diag_indices_from(S)] += 1.0 / mu
        factor = linalg.cho_factor(S, overwrite_a=True, check_finite=False)
        R = linalg.cho_solve(factor, V, check_finite=False)
        G = linalg.block_diag(sums_source.T @ Qs, sums_target.T @ Qt) - V.T @ R
        F = psd_factor((G + G.T) / 2.0)
        C = int(shared.sum())
        swapped = np.roll(F, C, axis=0)
        values, vectors = linalg.eigh(-(F.T @ swapped), check_finite=False)
        values = -values  # in descending order
        rank = effective_rank(self.n_components, values)
        W = swapped @ vectors[:, :rank] / values[:rank]
        P_source = Qs @ W[:C] - inverse_source.apply_at(i, R @ W)
        P_target = Qt @ W[C:] + inverse_target.apply_at(j, R @ W)
        factors = column_signs(P_target)
        if self.eigenvector_scaling == "unit":
            factors /= np.sqrt((P_source**2).sum(axis=0) + (P_target**2).sum(axis=0))
        return Projection(
            target=P_target * factors,
            eigenvalues=values[:rank],
            rows_sources=(None,),
            rows_target=None,
            expand_sources=(partial(np.multiply, P_source, factors),),
        )
