"""What methods share that bring both domains into one space."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cdspp.core.file_rows import rowwise
from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Float, HeterogeneousClassifier, Problem

__all__ = ["CommonSpaceMethod", "SubspaceMethod"]


class CommonSpaceMethod(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, HeterogeneousClassifier
):
    """A method with one space for the rows of both domains: the transforms into it.

    A subclass gives `_place_target` and `_place_source`; rows are scaled to unit length
    first, unless it prepares them otherwise. The columns of the space are called after
    the class (``cdspp0``, ``cdspp1``, ...), in frames of `set_output` too.

    Attributes
    ----------
    n_features_source_ : int
        Number of source features.
    """

    n_features_source_: int

    @abstractmethod
    def _place_target(self, X: Float) -> Float:
        """Return prepared target rows in the common space."""

    @abstractmethod
    def _place_source(self, X: Float) -> Float:
        """Return prepared source rows in the common space."""

    def transform(self, X: ArrayLike) -> Float:
        """Return target rows in the common space, as the classifier sees them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The rows in the common space.
        """
        check_is_fitted(self)
        rows = self._checked_rows(X, reset=False)
        return rowwise(
            lambda part: (self._place_target(self._prepare_target(part)),), rows
        )[0]

    def transform_source(self, X: ArrayLike) -> Float:
        """Return source rows in the common space, as `transform` does target rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_source_)
            Source rows.

        Raises
        ------
        ValueError
            They are malformed, or have another number of features than the source had.
        """
        check_is_fitted(self)
        rows = self._source_rows(X, "X")
        if rows.shape[1] != self.n_features_source_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} was fitted "
                f"on a source with {self.n_features_source_}."
            )
        return rowwise(
            lambda part: (self._place_source(self._prepare_source(part)),), rows
        )[0]

    @property
    def _n_features_out(self) -> int:
        """Width of the common space."""
        row = self._prepare_target(np.zeros((1, self.n_features_in_)))
        return int(self._place_target(row).shape[1])

    def _prepare(self, problem: Problem) -> Problem:
        """Return the problem with prepared rows; note the width of its source."""
        self.n_features_source_ = problem.X_source.shape[1]
        return problem.map_rows(
            self._prepare_source, self._prepare_target, self._prepare_unlabelled
        )

    def _prepare_source(self, X: Float) -> Float:
        return row_normalise(X)

    def _prepare_target(self, X: Float) -> Float:
        return row_normalise(X)

    def _prepare_unlabelled(self, X: Float) -> Float:
        """Prepare the unlabelled target rows of a fit as all target rows."""
        return self._prepare_target(X)


class SubspaceMethod(CommonSpaceMethod):
    """A method with a linear projection a domain.

    A subclass sets both projections.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features_in_, n_components)
        Projection of the target features.
    projection_source_ : ndarray of shape (n_features_source_, n_components)
        Projection of the source features.
    n_features_source_ : int
        Number of source features.
    """

    projection_: Float
    projection_source_: Float

    def _place_target(self, X: Float) -> Float:
        return self._embed(X @ self.projection_)

    def _place_source(self, X: Float) -> Float:
        return self._embed(X @ self.projection_source_)

    def _embed(self, Z: Float) -> Float:
        """Return projected rows as the classifier sees them."""
        return np.asarray(Z)
