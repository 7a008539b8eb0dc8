"""What methods share that project both domains into one space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from cdspp.base import Float, HeterogeneousClassifier
from cdspp.linalg import row_normalise

__all__ = ["SubspaceMethod", "source_rows"]


class SubspaceMethod(TransformerMixin, HeterogeneousClassifier):
    """A method with a linear projection a domain, and the transforms that follow.

    A subclass sets `projection_`, `projection_source_` and `n_features_source_`; rows
    are scaled to unit length first, unless it prepares them otherwise.
    """

    projection_: Float
    projection_source_: Float
    n_features_source_: int

    def transform(self, X: ArrayLike) -> Float:
        """Return target rows in the common subspace, as the classifier sees them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Projected rows.
        """
        check_is_fitted(self)
        return self._embed(self._prepare_target(self._new_rows(X)) @ self.projection_)

    def transform_source(self, X: ArrayLike) -> Float:
        """Return source rows in the common subspace, as the classifier sees them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_source)
            Source rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Projected rows.

        Raises
        ------
        ValueError
            The rows have another number of features than the source had.
        """
        rows = self._prepare_source(source_rows(self, X))
        return self._embed(rows @ self.projection_source_)

    def _prepare_source(self, X: Float) -> Float:
        return row_normalise(X)

    def _prepare_target(self, X: Float) -> Float:
        return row_normalise(X)

    def _embed(self, Z: Float) -> Float:
        """Return projected rows as the classifier sees them."""
        return np.asarray(Z)


def source_rows(model: Any, X: ArrayLike) -> Float:
    """Return source rows given to a fitted model, validated.

    Parameters
    ----------
    model : estimator
        It has `n_features_source_`.
    X : array-like of shape (n_samples, n_features_source)
        The rows.

    Raises
    ------
    ValueError
        They are malformed, or have another number of features than the source had.
    """
    check_is_fitted(model)
    rows: Float = check_array(X, dtype=np.float64, input_name="X")
    if rows.shape[1] != model.n_features_source_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {type(model).__name__} was fitted on "
            f"a source with {model.n_features_source_}."
        )
    return rows
