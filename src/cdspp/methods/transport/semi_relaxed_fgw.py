"""Semi-relaxed fused Gromov-Wasserstein transport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from cdspp.core.linalg import row_normalise, squared_distances
from cdspp.methods.base import Float, Problem
from cdspp.methods.shared.constraints import COUNT, POSITIVE, SHARE
from cdspp.methods.transport.plans import (
    PlanClassifier,
    label_cost,
    relative,
    require_plan,
    transport_library,
)

__all__ = ["SemiRelaxedFGW"]


class SemiRelaxedFGW(PlanClassifier):
    r"""Transport that keeps distances, with free source masses (srFGW).

    .. math::

        \min_{T \ge 0,\; T 1 = 1 / n_t} (1 - \alpha) \sum_{ij} T_{ij} [y_i \neq y_j]
        + \alpha \sum_{ijkl} (D^t_{ik} - D^s_{jl})^2 T_{ij} T_{kl}
        - \varepsilon H(T)

    Distances D lie within the domains. Every target row sends its mass to source rows,
    which may get any share, so that the classes of the target may differ in size from
    those of the source. The first term goes over labelled target rows; distances are
    squared and at most one. A target row takes the class that gets most of its mass.

    Parameters
    ----------
    alpha : float, default=0.5
        Weight of the distances, between 0 and 1.
    epsilon : float, default=0.01
        Weight of the entropy.
    max_iter : int, default=200
        Most steps of the mirror descent.

    Attributes
    ----------
    plan_ : ndarray of shape (n_target, n_source)
        The plan, labelled target rows first.
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    A step costs O(n_s n_t (n_s + n_t)), in n_s^2 + n_t^2 + 8 n_s n_t numbers. Rows have
    unit length; new ones too are tied to source rows by distances to fitted rows, plan
    and source masses. The paper has graphs alone: no printed results can be compared.

    References
    ----------
    .. [1] Vincent-Cuaz, C., Flamary, R., Corneli, M., Vayer, T., Courty, N.,
       "Semi-relaxed Gromov-Wasserstein divergence and applications on graphs", ICLR
       2022. :doi:`10.48550/arXiv.2110.02753`
    .. [2] Flamary, R., et al., "POT: Python Optimal Transport", JMLR 22(78), 2021. It
       computes the plan.

    Examples
    --------
    >>> from cdspp import SemiRelaxedFGW, SourceDomain
    >>> source = SourceDomain([[9.0, 1], [8, 0], [1, 9], [0, 8]], [0, 0, 1, 1])
    >>> X, y = [[5.0, 0.0], [0.0, 4.0], [4.0, 1.0], [1.0, 6.0]], [0, 1, -1, -1]
    >>> SemiRelaxedFGW().fit(X, y, source=source).transduction_
    array([0, 1, 0, 1])
    """

    identifier = "semi-relaxed-fgw"
    display_name = "srFGW"

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        "alpha": [SHARE],
        "epsilon": [POSITIVE],
        "max_iter": [COUNT],
    }

    plan_: Float

    def __init__(
        self, alpha: float = 0.5, epsilon: float = 0.01, max_iter: int = 200
    ) -> None:
        self.alpha, self.epsilon, self.max_iter = alpha, epsilon, max_iter

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Return about how many seconds a fit takes, and MB beside the data."""
        n, m = float(size.n_source), float(size.n_target)
        seconds = n * m * (3.5e-6 + 8e-9 * (n + m))
        return seconds, 8e-6 * (8 * n * m + 3 * (n**2 + m**2))

    def _fit_plan(self, problem: Problem, X: Float) -> None:
        module = transport_library("ot.gromov")
        require_plan(type(self).__name__, len(problem.X_source), len(X), squares=3)
        source, self._target = row_normalise(problem.X_source), row_normalise(X)
        within, self._scale = relative(squared_distances(self._target, self._target))
        self._distances, _ = relative(squared_distances(source, source))
        labels = np.ascontiguousarray(label_cost(problem).T)
        # Nothing but a start at the labels tells mirrored solutions apart.
        start = (1.0 - labels) / (1.0 - labels).sum(axis=1, keepdims=True) / len(X)
        self.plan_ = module.entropic_semirelaxed_fused_gromov_wasserstein(
            labels,
            within,
            self._distances,
            alpha=self.alpha,
            epsilon=self.epsilon,
            G0=start,
            max_iter=self.max_iter,
        )

    def _ties(self, X: Float) -> Float:
        mass = self.plan_.sum(axis=0)
        to_target = squared_distances(row_normalise(X), self._target) / self._scale
        crossed = 2.0 * to_target @ self.plan_ @ self._distances
        costs = self._distances**2 @ mass - crossed
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(mass) - 2.0 * self.alpha * costs / self.epsilon)
