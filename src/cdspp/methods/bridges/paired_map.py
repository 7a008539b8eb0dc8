"""Rows that map the source into the target's space, learnt of paired rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from cdspp.core.linalg import row_normalise
from cdspp.core.scaling import PrincipalComponents
from cdspp.methods.base import Float, Problem
from cdspp.methods.bridge import PAIRS, Bridge, missing_bridge
from cdspp.methods.bridges.joint_machine import JointMachine, stacked, unit_rows
from cdspp.methods.shared.common_subspace import components_of
from cdspp.methods.shared.constraints import COUNT

# Of the mean squared singular value of the paired source rows.
PENALTIES = np.logspace(-3, 2, 11)


def ridge_map(A: Float, B: Float) -> tuple[Float, float]:
    """Return the ridge regression of `B` on `A`, and its penalty.

    Of `PENALTIES`, that with the least generalised cross-validation error
    ``m rss / (m - df)^2``. One singular value decomposition serves all of them.
    """
    U, values, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
    squares, targets = values**2, U.T @ B
    total, explained = (B**2).sum(), (targets**2).sum(axis=1)

    def error(penalty: float) -> float:
        kept = squares / (squares + penalty)
        rss = total - ((2.0 - kept) * kept) @ explained
        free = len(A) - kept.sum()
        return float(rss / free**2) if free > 0 else np.inf

    if not values.any():
        return np.zeros((A.shape[1], B.shape[1])), 0.0
    penalty = min(PENALTIES * squares.mean(), key=error)
    shrunk = values / (squares + penalty)
    return Vt.T @ (shrunk[:, None] * targets), float(penalty)


class PairedMap(JointMachine):
    r"""Source rows mapped into the target's space by a ridge map of pairs (paired map).

    A ridge regression, learnt from the paired rows alone, predicts the target's
    features from those of the source; all rows have unit length:

    .. math::

        \min_W \sum_k \lVert W^T p^s_k - p^t_k \rVert^2 + \lambda \lVert W \rVert_F^2

    Mapped source rows and labelled target rows then train the machine of
    `cdspp.methods.bridges.shared_columns.SharedColumns`. No pair needs a label, and
    unlabelled target rows are ignored.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation.
    n_components : int, default=100
        Rows with more features are first reduced to this many uncentred principal
        components, of the rows in use and the pairs of their domain.

    Attributes
    ----------
    map_ : ndarray
        From components of the source to those of the target.
    penalty_ : float
        Penalty of the ridge regression, by generalised cross-validation: of 1e-3 to 1e2
        times the mean squared singular value of the paired source rows.
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    Cost O(nnz k) for k components of sparse rows, which are never made dense, and
    O(m k^2) for m pairs. Without a source the map is the identity.

    References
    ----------
    .. [1] Golub, G. H., Heath, M., Wahba, G., "Generalized cross-validation as a method
       for choosing a good ridge parameter", Technometrics 21(2), 1979.
       :doi:`10.1080/00401706.1979.10489751`

    Examples
    --------
    >>> from cdspp import PairedMap, SourceDomain
    >>> left, right = [[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]], [[2, 1], [1, 2], [1, 3]]
    >>> source = SourceDomain([[9.0, 1], [1, 9]], [0, 1], paired_rows=(left, right))
    >>> PairedMap().fit([[8.0, 0.0], [0.0, 7.0]], [1, -1], source=source).transduction_
    array([1, 0])
    """

    identifier = "paired-map"
    display_name = "paired map"
    supervised = True
    bridges = frozenset({PAIRS})

    _parameter_constraints = JointMachine._parameter_constraints | {
        "n_components": [COUNT]
    }

    def __init__(self, C: float = 1.0, n_components: int = 100) -> None:
        self.C, self.n_components = C, n_components

    @classmethod
    def cost(cls, size: Any, n_components: int = 100) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        source, target = (min(d, n_components) for d in (size.d_source, size.d_target))
        return super().cost(replace(size, d_source=source, d_target=target, density=1))

    def _build(self, problem: Problem, bridge: Bridge) -> None:
        source, target = [problem.X_source], [problem.X_labelled]
        if not self.supervised:
            target.append(problem.X_unlabelled)
        if bridge.n_pairs:
            source.append(bridge.pairs_source)
            target.append(bridge.pairs_target)
        elif not bridge.one_domain:
            example = "paired_rows=(rows_source, rows_target)"
            raise missing_bridge(self, "paired rows", example, "--paired")
        self._axes_target = self._axes("target", target)
        if bridge.one_domain:
            self._axes_source = self._axes_target
            width = self._prepare_target(problem.X_labelled[:1]).shape[1]
            self.map_, self.penalty_ = np.eye(width), 0.0
            return
        self._axes_source = self._axes("source", source)
        pairs_source = self._reduced(self._axes_source, bridge.pairs_source)
        self._learn(pairs_source, self._prepare_target(bridge.pairs_target))

    def _learn(self, A: Float, B: Float) -> None:
        self.map_, self.penalty_ = ridge_map(A, B)

    def _axes(self, domain: str, parts: list[Any]) -> PrincipalComponents | None:
        """Return the principal components of a domain that is wide, else None."""
        if parts[0].shape[1] <= self.n_components:
            return None
        X = unit_rows(stacked(parts))
        return components_of(self, domain, X, self.n_components, center=False)

    @staticmethod
    def _reduced(axes: PrincipalComponents | None, X: Any) -> Float:
        rows = unit_rows(X)
        if axes is not None:
            return row_normalise(axes.transform(rows))
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)

    def _prepare_source(self, X: Any) -> Any:
        return row_normalise(self._reduced(self._axes_source, X) @ self.map_)

    def _prepare_target(self, X: Any) -> Float:
        return self._reduced(self._axes_target, X)


class PairedMapPlus(PairedMap):
    """The paired map with selective pseudo-labels on the unlabelled target rows.

    Parameters
    ----------
    C, n_components
        As in `PairedMap`, which has the attributes, too; unlabelled target rows take
        part in the components.
    max_iter : int, default=5
        Number of rounds, as in
        `cdspp.methods.bridges.shared_columns.SharedColumnsPlus`.
    """

    identifier = "paired-map-plus"
    display_name = "paired map+"
    supervised = False

    _parameter_constraints = PairedMap._parameter_constraints | {"max_iter": [COUNT]}

    def __init__(
        self, C: float = 1.0, n_components: int = 100, max_iter: int = 5
    ) -> None:
        super().__init__(C, n_components)
        self.max_iter = max_iter


class Procrustes(PairedMap):
    r"""Source rows rotated into the target's space by pairs (Procrustes).

    As `PairedMap`, whose parameters and attributes it has, with an orthogonal map in
    place of the ridge regression and a penalty of zero, in as many directions as the
    pairs span and both domains have:

    .. math::

        \max_W \operatorname{tr} \bigl(W^T P_s^T P_t\bigr) = U V^T
        \quad \text{for} \quad P_s^T P_t = U \Sigma V^T

    References
    ----------
    .. [1] Schönemann, P. H., "A generalized solution of the orthogonal Procrustes
       problem", Psychometrika 31, 1966. :doi:`10.1007/BF02289451`
    """

    identifier = "procrustes"
    display_name = "Procrustes"

    def _learn(self, A: Float, B: Float) -> None:
        U, values, Vt = linalg.svd(A.T @ B, full_matrices=False, check_finite=False)
        # Of fewer pairs than features, what is left over could turn anywhere.
        rank = int(np.sum(values > 1e-10 * values[0]))
        self.map_, self.penalty_ = U[:, :rank] @ Vt[:rank], 0.0
