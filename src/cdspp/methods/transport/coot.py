"""Co-optimal transport with class costs (COOT)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cdspp.core.linalg import row_normalise, softmax
from cdspp.methods.base import Float, Problem
from cdspp.methods.shared.constraints import COUNT, POSITIVE
from cdspp.methods.transport.plans import (
    PlanClassifier,
    label_cost,
    potentials,
    transport_library,
)


class COOT(PlanClassifier):
    r"""Co-optimal transport of rows and columns, with class costs (COOT).

    One plan matches source rows with target rows and another one source features with
    target features, each at the cost that the other one leaves:

    .. math::

        \min_{\pi, \gamma} \sum_{ijkl} (x_{ik} - z_{jl})^2 \pi_{ij} \gamma_{kl}
        + \beta \sum_{ij} \pi_{ij} [y_i \neq y_j]
        - \varepsilon (H(\pi) + H(\gamma))

    The second term goes over labelled target rows. All masses are uniform. A target row
    takes the class to which its source rows send most mass.

    Parameters
    ----------
    epsilon : float, default=0.1
        Weight of both entropies; the mean cost of two rows is about 2.
    label_cost : float, default=1.0
        Cost ``beta`` of tying a labelled target row to a source row of another class.
    max_iter : int, default=100
        Most alternations of both plans.

    Attributes
    ----------
    feature_plan_ : ndarray of shape (n_features_source, n_features_in_)
        The plan of the features.
    classes_, transduction_, history_, n_iter_, n_features_in_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`.

    Notes
    -----
    An alternation costs O(n_s n_t + d_s d_t) times Sinkhorn's iterations, and products
    of O(n_s d_s d_t + n_s n_t d_t); plans are held whole. Rows have unit length times
    the root of their number of features. New rows are tied to source rows by the
    feature plan and the source's potentials. Uniform masses move rows across classes
    whose shares differ between the domains. The published comparison draws equally many
    rows a class on both sides, from CaffeNet files that are not at hand, so that its
    numbers cannot be compared. Its code takes rows as they are, ``epsilon`` 1 for rows,
    an exact plan of the features and ``beta`` 100; the defaults here are this package's
    own, but for `max_iter`. With rows and options as here it gave the 50 unlabelled
    rows of a problem (CaffeNet of DSLR to GoogLeNet of Webcam) the classes that `COOT`
    gives.

    References
    ----------
    .. [1] Redko, I., Vayer, T., Flamary, R., Courty, N., "CO-Optimal Transport",
       NeurIPS 2020. :doi:`10.48550/arXiv.2002.03731`
    .. [2] Flamary, R., et al., "POT: Python Optimal Transport", JMLR 22(78), 2021. It
       computes both plans.

    Examples
    --------
    >>> from cdspp import COOT, SourceDomain
    >>> source = SourceDomain([[9.0, 1], [8, 0], [1, 9], [0, 8]], [0, 0, 1, 1])
    >>> X, y = [[5.0, 0.0], [0.0, 4.0], [4.0, 1.0], [1.0, 6.0]], [0, 1, -1, -1]
    >>> COOT().fit(X, y, source=source).transduction_
    array([0, 1, 0, 1])
    """

    identifier = "coot"
    display_name = "COOT"

    _parameter_constraints = {
        "epsilon": [POSITIVE],
        "label_cost": [POSITIVE],
        "max_iter": [COUNT],
    }

    feature_plan_: Float

    def __init__(
        self, epsilon: float = 0.1, label_cost: float = 1.0, max_iter: int = 100
    ) -> None:
        self.epsilon, self.label_cost, self.max_iter = epsilon, label_cost, max_iter

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        rows, features = size.n_source * size.n_target, size.d_source * size.d_target
        # Costs of features, and with them the iterations, spread with their number.
        return 0.1 + 1e-6 * rows + 2e-9 * features**1.5, 8e-6 * 8 * (rows + features)

    def _fit_plan(self, problem: Problem, X: Float) -> None:
        module = transport_library("ot.coot")
        self._source, target = _scaled(problem.X_source), _scaled(X)
        labels = label_cost(problem)
        with warnings.catch_warnings():  # of alternations that are not the last one
            warnings.filterwarnings("ignore", "Sinkhorn did not converge")
            _, self.feature_plan_ = module.co_optimal_transport(
                self._source,
                target,
                epsilon=self.epsilon,
                alpha=(self.label_cost, 0.0),
                M_samp=labels,
                nits_bcd=self.max_iter,
            )
        cost = self._costs(target) + self.label_cost * labels
        self._potentials, _ = potentials(cost, self.epsilon, 1000)

    def _costs(self, target: Float) -> Float:
        """Return the costs to tie scaled target rows to each source row."""
        to_source, to_target = (self.feature_plan_.sum(axis=k) for k in (1, 0))
        squares = (self._source**2 @ to_source)[:, None] + target**2 @ to_target
        return np.asarray(
            squares - 2.0 * self._source @ (self.feature_plan_ @ target.T)
        )

    def _probabilities(self, X: Float) -> Float:
        ties = (self._potentials[:, None] - self._costs(_scaled(X))).T / self.epsilon
        return np.asarray(softmax(ties) @ self._classes)


def _scaled(X: Float) -> Float:
    return np.asarray(row_normalise(X) * np.sqrt(X.shape[1]))
