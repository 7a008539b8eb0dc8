"""CDSPP on principal components, and CDSPP without a source."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from cdspp.base import Float, Problem, Round
from cdspp.features.components import principal_components
from cdspp.linalg import row_normalise
from cdspp.methods.cdspp import CDSPP

__all__ = ["CDSPPPCA", "TargetOnly"]


class CDSPPPCA(CDSPP):
    """CDSPP on principal components of both feature sets (CDSPP+PCA).

    Reduces each domain to its leading principal components, fitted without labels on
    all rows of the domain, before rows are scaled to unit length; all else as `CDSPP`.

    Parameters
    ----------
    pca_components : int, default=50
        Number of principal components; capped at the rank of a domain.
    alpha : float, default=10.0
        Weight of the regulariser.
    n_components : int, default=None
        Dimension of the subspace; the number of classes by default.
    max_iter : int, default=5
        Number of rounds.
    selection : {"class", "all"}, default="class"
        How the most confident rows are chosen, see `CDSPP`.
    final_fit : bool, default=False
        One more fit on all pseudo-labels, see `CDSPP`.
    center : bool, default=True
        Subtract the mean of the projected labelled rows before classification.
    normalize_means : bool, default=True
        Scale class means to unit length.
    eigenvector_scaling : {"metric", "unit"}, default="metric"
        Scale ``p^T (B + alpha I) p = 1`` or unit length.
    classifier : estimator, default=None
        scikit-learn classifier for the subspace.
    keep_projections : bool, default=False
        Keep the projections of each round in `history_`.

    See Also
    --------
    CDSPP : Without the reduction.

    References
    ----------
    .. [1] Wang, Q., Breckon, T. P., "Cross-Domain Structure Preserving Projection for
       Heterogeneous Domain Adaptation", Pattern Recognition 123, 2022.
       :doi:`10.1016/j.patcog.2021.108362`
    """

    identifier = "cdspp-pca"
    printed = "CDSPP+PCA"

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        **CDSPP._parameter_constraints,
        "pca_components": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        pca_components: int = 50,
        alpha: float = 10.0,
        n_components: int | None = None,
        max_iter: int = 5,
        selection: str = "class",
        final_fit: bool = False,
        center: bool = True,
        normalize_means: bool = True,
        eigenvector_scaling: str = "metric",
        classifier: Any = None,
        keep_projections: bool = False,
    ) -> None:
        super().__init__(
            alpha,
            n_components,
            max_iter,
            selection,
            final_fit,
            center,
            normalize_means,
            eigenvector_scaling,
            classifier,
            keep_projections,
        )
        self.pca_components = pca_components

    def _prepare_source(self, X: Float) -> Float:
        return row_normalise(self._pca_source.transform(X))

    def _prepare_target(self, X: Float) -> Float:
        return row_normalise(self._pca_target.transform(X))

    def _fit_problem(self, problem: Problem) -> list[Round]:
        X_target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        if min(len(X_target), len(problem.X_source)) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two rows in each domain for its "
                "principal components, got n_samples = 1."
            )
        self._pca_source = principal_components(problem.X_source, self.pca_components)
        self._pca_target = principal_components(X_target, self.pca_components)
        return super()._fit_problem(problem)


class TargetOnly(CDSPP):
    """CDSPP that is never shown the source: the control of every transfer result.

    The labelled target rows serve as the source; what it gains over a supervised method
    comes from the unlabelled target rows. Parameters and attributes are those of
    `CDSPP`.

    See Also
    --------
    CDSPP : With a source.
    """

    identifier = "target-only"
    printed = "target-only"

    def _fit_problem(self, problem: Problem) -> list[Round]:
        return super()._fit_problem(
            problem.replace_source(problem.X_labelled, problem.y_labelled)
        )
