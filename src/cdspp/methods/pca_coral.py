"""PCA to equal width, then correlation alignment (PCA+CORAL)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cdspp.core.linalg import row_normalise
from cdspp.methods import base
from cdspp.methods.base import Float, Iteration, Problem
from cdspp.methods.shared.common_subspace import components_of
from cdspp.methods.shared.machines import LinearMachine


@dataclass(eq=False, repr=False)
class PCACoral(base.ConfidentClassifier):
    r"""Principal components of equal number, then correlation alignment (PCA+CORAL).

    Libraries of homogeneous domain adaptation recommend this if the numbers of features
    differ: reduce both domains to k principal components, and align the covariance of
    the source with that of the target. In these coordinates both covariances are
    diagonal, and CORAL becomes

    .. math:: x_k \mapsto x_k \, \sqrt{v^t_k / v^s_k}

    with the variances v of component k in the target and in the source. A linear
    machine then learns from the source rows and the labelled target rows.

    Parameters
    ----------
    n_components : int, default=50
        Number of components k; capped at the rank of either domain.
    C : float, default=1.0
        Cost of a margin violation.

    Attributes
    ----------
    scale_ : ndarray of shape (k,)
        Factor of each component of the source.

    Notes
    -----
    Only the order of the variances ties component k of one domain to that of the other,
    and its sign is arbitrary; this method tests the recommendation. The papers on CORAL
    have equal features, so no reported results can be compared, and the defaults are
    this package's own. Cost O(n d min(n, d)) per domain. A class in only one domain
    trains a machine and may be predicted. Rows count equally: large classes weigh more.

    References
    ----------
    .. [1] Sun, B., Feng, J., Saenko, K., "Return of frustratingly easy domain
       adaptation", AAAI 2016. :doi:`10.1609/aaai.v30i1.10306`

    Examples
    --------
    >>> from cdspp import PCACoral, SourceDomain
    >>> source = SourceDomain([[9.0, 1], [8, 0], [1, 9], [0, 8]], [0, 0, 1, 1])
    >>> X = [[5.0, 0.0, 1.0], [0.0, 4.0, 1.0], [4.0, 1.0, 1.0], [1.0, 6.0, 1.0]]
    >>> PCACoral().fit(X, [0, 1, -1, -1], source=source).scale_.shape
    (2,)
    """

    n_components: int = 50
    C: float = 1.0

    _parameter_constraints = {"n_components": [base.COUNT], "C": [base.POSITIVE]}

    @classmethod
    def cost(cls, size: Any) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        seconds, megabytes = 0.01, 0.0
        for n, d in ((size.n_source, size.d_source), (size.n_target, size.d_target)):
            least = min(n, d)
            seconds += 1e-10 * n * d * least + 4e-10 * least**3
            megabytes += 8e-6 * (n * d + 3 * least**2)
        return seconds, megabytes

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        source_axes = components_of(self, "source", problem.X_source, self.n_components)
        self._axes = components_of(self, "target", target, self.n_components)
        self._width = min(len(source_axes.variances), len(self._axes.variances))
        variances = self._axes.variances[: self._width]
        self.scale_ = np.sqrt(variances / source_axes.variances[: self._width])
        source = source_axes.transform(problem.X_source)[:, : self._width] * self.scale_
        X = np.vstack([row_normalise(source), self._reduced(problem.X_labelled)])
        codes = np.concatenate([problem.y_source, problem.y_labelled])
        self._machine = LinearMachine.fit(X, codes, problem.n_classes, self.C)
        return []

    def _reduced(self, X: Float) -> Float:
        return row_normalise(self._axes.transform(X)[:, : self._width])

    def _probabilities(self, X: Float) -> Float:
        return self._machine.probabilities(self._reduced(X))
