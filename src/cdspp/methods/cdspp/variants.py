"""CDSPP on principal components, and CDSPP without a source."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from cdspp.core.components import PrincipalComponents, principal_components
from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.linalg import row_normalise
from cdspp.core.matrix import is_sparse
from cdspp.core.reuse import computed_once
from cdspp.methods.base import Float, Problem, Round
from cdspp.methods.cdspp.cdspp import CDSPP
from cdspp.methods.shared.constraints import COUNT

__all__ = ["CDSPPPCA", "TargetOnly"]


class CDSPPPCA(CDSPP):
    """CDSPP on principal components of both feature sets (CDSPP+PCA).

    Reduces each domain to its leading principal components, fitted without labels on
    all rows of the domain, before rows are scaled to unit length; all else as `CDSPP`,
    but that the projections are of principal components. Rows may be sparse (SciPy's
    CSR), bags of words for instance, and are never made dense.

    Parameters
    ----------
    pca_components : int, default=50
        Number of principal components; capped at the rank of a domain.
    alpha, n_components, max_iter, selection, final_fit, center, normalize_means
        As in `CDSPP`.
    eigenvector_scaling, classifier, keep_projections
        Likewise.

    See Also
    --------
    CDSPP : Without the reduction.
    """

    identifier = "cdspp-pca"
    display_name = "CDSPP+PCA"
    centres_rows = True
    accepts_sparse = True  # principal components leave sparse rows so
    reads_files = False  # principal components are of rows in memory

    _parameter_constraints = CDSPP._parameter_constraints | {"pca_components": [COUNT]}

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

    def _prepare_unlabelled(self, X: Float) -> Float:
        return self._prepare_target(X)

    def _fit_problem(self, problem: Problem) -> list[Round]:
        parts = [problem.X_labelled, problem.X_unlabelled]
        X_target = sparse.vstack(parts) if is_sparse(parts[0]) else np.vstack(parts)
        if min(X_target.shape[0], problem.X_source.shape[0]) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two rows in each domain for its "
                "principal components, got n_samples = 1."
            )
        self._pca_source = self._components("source", problem.X_source)
        self._pca_target = self._components("target", X_target)
        return super()._fit_problem(problem)

    def _components(self, domain: str, X: Float) -> PrincipalComponents:
        try:
            if is_sparse(X):
                return principal_components(X, self.pca_components)
            return computed_once(principal_components, X, self.pca_components)
        except DataError as error:
            raise MethodFailed(f"{domain}: {error}") from error


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
    display_name = "target-only"
    uses_source = False
    without_source_of = "cdspp"

    def _fit_problem(self, problem: Problem) -> list[Round]:
        alone = problem.replace_source(problem.X_labelled, problem.y_labelled)
        return super()._fit_problem(alone)
