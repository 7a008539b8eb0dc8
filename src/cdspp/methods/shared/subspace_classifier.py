"""Recognition in a common subspace: centre, normalise, nearest class mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from cdspp.core.linalg import (
    class_sums,
    counts,
    row_normalise,
    softmax,
    squared_distances,
)
from cdspp.core.storage import storable
from cdspp.methods.base import ConfidentClassifier, Float, Int
from cdspp.methods.shared.common_subspace import SubspaceMethod
from cdspp.methods.shared.constraints import COUNT, POSITIVE

__all__ = ["NearestMean", "SubspaceClassifier", "SubspaceRecogniser"]


@storable
@dataclass(frozen=True, eq=False)
class NearestMean:
    """Nearest class mean; the confidence is the softmax of the negative distances.

    `means`, of unit length or as they are, are those of the classes with codes
    `present`.
    """

    means: Float
    present: Int
    n_classes: int

    @classmethod
    def of_sums(cls, sums: Float, sizes: Float, *, normalize: bool) -> NearestMean:
        """Divide the sum of each class by its size, (n_classes, n_components)."""
        present = np.flatnonzero(sizes)
        means = sums[present] / sizes[present, None]
        return cls(row_normalise(means) if normalize else means, present, len(sizes))

    def probabilities(self, Z: Float) -> Float:
        """Return class probabilities, zero for a class without a mean."""
        distances = np.sqrt(squared_distances(Z, self.means))
        return _of_all_classes(softmax(-distances), self.present, self.n_classes)


@dataclass(frozen=True, eq=False)
class _Wrapped:
    """A scikit-learn classifier with the interface of `NearestMean`."""

    classifier: Any
    n_classes: int

    def probabilities(self, Z: Float) -> Float:
        if hasattr(self.classifier, "predict_proba"):
            scores = self.classifier.predict_proba(Z)
        else:
            values = self.classifier.decision_function(Z)
            both = np.column_stack([-values, values]) if values.ndim == 1 else values
            scores = softmax(both)
        return _of_all_classes(scores, self.classifier.classes_, self.n_classes)


def _of_all_classes(probabilities: Float, present: Int, n_classes: int) -> Float:
    """Return the columns of some classes among those of all, the others zero."""
    found = np.zeros((len(probabilities), n_classes))
    found[:, present] = probabilities
    return found


@storable
@dataclass(frozen=True, eq=False)
class SubspaceClassifier:
    """A classifier fitted on the projected labelled rows of both domains.

    They are centred by `mean`, zero without centring, and scaled to unit length.
    """

    mean: Float
    inner: NearestMean | _Wrapped

    @classmethod
    def fit(
        cls,
        Z: Float,
        codes: Int,
        n_classes: int,
        *,
        center: bool = True,
        normalize_means: bool = True,
        classifier: Any = None,
    ) -> SubspaceClassifier:
        """Fit on projected labelled rows `Z` of shape (n, n_components)."""
        mean = Z.mean(axis=0) if center else np.zeros(Z.shape[1])
        Z = row_normalise(Z - mean)
        if classifier is not None:
            return cls(mean, _Wrapped(clone(classifier).fit(Z, codes), n_classes))
        sums, sizes = class_sums(Z, codes, n_classes), counts(codes, n_classes)
        return cls(mean, NearestMean.of_sums(sums, sizes, normalize=normalize_means))

    @classmethod
    def fit_chunks(
        cls,
        chunks: Iterable[tuple[Float, Int]],
        mean: Float,
        n_classes: int,
        *,
        center: bool,
        normalize_means: bool,
    ) -> SubspaceClassifier:
        """Fit nearest means on chunks of projected labelled rows, given their mean."""
        mean = mean if center else np.zeros_like(mean)
        sums, sizes = np.zeros((n_classes, len(mean))), np.zeros(n_classes)
        for Z, codes in chunks:
            sums += class_sums(row_normalise(Z - mean), codes, n_classes)
            sizes += counts(codes, n_classes)
        return cls(mean, NearestMean.of_sums(sums, sizes, normalize=normalize_means))

    def embed(self, Z: Float) -> Float:
        """Return projected rows centred and scaled to unit length."""
        return row_normalise(Z - self.mean)

    def probabilities(self, Z: Float) -> Float:
        """Return class probabilities of projected rows."""
        return self.inner.probabilities(self.embed(Z))


class SubspaceRecogniser(SubspaceMethod, ConfidentClassifier):
    """A subspace method that recognises rows by a `SubspaceClassifier`.

    A subclass sets `_recogniser` beside the projections.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the directions, descending.
    projection_, projection_source_, n_features_source_
        As in `SubspaceMethod`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [POSITIVE],
        "n_components": [None, COUNT],
        "eigenvector_scaling": [StrOptions({"metric", "unit"})],
    }

    eigenvalues_: Float
    _recogniser: SubspaceClassifier

    def _embed(self, Z: Float) -> Float:
        return self._recogniser.embed(Z)

    def _probabilities(self, X: Float) -> Float:
        Z = self._prepare_target(X) @ self.projection_
        return self._recogniser.probabilities(Z)
