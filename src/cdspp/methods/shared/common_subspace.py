"""Methods that map both domains into one space, and classifiers in a subspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from cdspp.core import linalg
from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.files import storable
from cdspp.core.memory import computed_once
from cdspp.core.scaling import PrincipalComponents, principal_components
from cdspp.methods import base
from cdspp.methods.base import Float, Int, Iteration, Problem

if TYPE_CHECKING:
    # Without types; see `base`.
    class ClassNamePrefixFeaturesOutMixin: ...  # noqa: D101

    class TransformerMixin: ...  # noqa: D101
else:
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin


class CommonSpaceMethod(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, base.HeterogeneousClassifier
):
    """A method that maps the rows of both domains into one space, with transforms.

    Rows are scaled to unit length and then mapped, unless a subclass does otherwise.
    The columns of the space are named after the class (``cdspp0``, ``cdspp1``, ...),
    also in the frames of `set_output`.
    """

    n_features_source_: int | list[int]  #: Number of features; a list for several.

    def _map_target(self, X: Float) -> Float:
        """Return prepared target rows in the common space."""
        return X

    def _map_source(self, X: Float, number: int) -> Float:
        """Return prepared rows of a source in the common space."""
        return X

    def transform(self, X: ArrayLike) -> Float:
        """Return target rows, given as to `predict`, in the common space.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The rows as the classifier sees them.
        """
        check_is_fitted(self)
        return self._map_target(self._prepare_target(self._read_rows(X)))

    def transform_source(self, X: ArrayLike, number: int = 0) -> Float:
        """Return source rows in the common space, as `transform` does target rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_source_)
            Source rows.
        number : int, default=0
            The source of these rows, as a position in the list given to `fit`.

        Raises
        ------
        ValueError
            The rows are malformed, or have another number of features than the source.
        """
        check_is_fitted(self)
        rows = self._read_rows(X, of_source=True)
        widths = self.n_features_source_
        width = widths[number] if isinstance(widths, list) else widths
        if rows.shape[1] != width:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} was fitted "
                f"on a source with {width}."
            )
        return self._map_source(self._prepare_source(rows), number)

    @property
    def _n_features_out(self) -> int:
        row = self._prepare_target(np.zeros((1, self.n_features_in_)))
        return int(self._map_target(row).shape[1])

    def _prepare(self, problem: Problem) -> Problem:
        """Return the problem with prepared rows; store the width of its source."""
        self.n_features_source_ = one_or_list([X.shape[1] for X, _ in problem.sources])
        return problem.map_rows(
            self._prepare_source, self._prepare_target, self._prepare_unlabelled
        )

    _prepare_target: Callable[[Float], Float] = staticmethod(linalg.row_normalise)
    _prepare_source: Callable[[Float], Float] = staticmethod(linalg.row_normalise)

    def _prepare_unlabelled(self, X: Float) -> Float:
        return self._prepare_target(X)


def one_or_list(values: list[Any]) -> Any:
    """Return the only value, or the list if there are several sources."""
    return values if len(values) > 1 else values[0]


def components_of(
    model: Any, domain: str, X: Any, n_components: int, *, center: bool = True
) -> PrincipalComponents:
    """Return the principal components of a domain for a model."""
    if center and X.shape[0] < 2:
        raise ValueError(
            f"{type(model).__name__} needs at least two rows in each domain for its "
            "principal components, got n_samples = 1."
        )
    try:
        return computed_once(_components, X, n_components, center)
    except DataError as error:
        raise MethodFailed(f"{domain}: {error}") from error


def _components(X: Any, n_components: int, center: bool) -> PrincipalComponents:
    return principal_components(X, n_components, center=center)


class SubspaceMethod(CommonSpaceMethod):
    """A method with a linear projection per domain, which a subclass sets."""

    projection_: Float  #: Of target features, ``(n_features_in_, n_components)``.
    #: Of source features, ``(n_features_source_, n_components)``; a list for several.
    projection_source_: Float | list[Float]

    def _map_target(self, X: Float) -> Float:
        return self._embed(X @ self.projection_)

    def _map_source(self, X: Float, number: int) -> Float:
        P = self.projection_source_
        return self._embed(X @ (P[number] if isinstance(P, list) else P))

    def _embed(self, Z: Float) -> Float:
        """Return projected rows as the classifier sees them."""
        return np.asarray(Z)


@storable
@dataclass(frozen=True, eq=False)
class NearestMean:
    """Nearest class mean of the classes `present`, with softmax of the distances."""

    means: Float
    present: Int
    n_classes: int

    def __post_init__(self) -> None:
        """Refuse means that do not match the classes, as in a damaged model file."""
        if len(self.means) != len(self.present):
            raise ValueError(f"{len(self.means)} means for {len(self.present)} classes")

    def probabilities(self, Z: Float) -> Float:
        """Return class probabilities, zero for a class without a mean."""
        distances = linalg.squared_distances(Z, self.means)
        np.negative(np.sqrt(distances, out=distances), out=distances)
        scores = linalg.softmax(distances)
        return expand_classes(scores, self.present, self.n_classes)


@dataclass(frozen=True, eq=False)
class WrappedClassifier:
    """A classifier with the interface of `NearestMean`, which no model file takes."""

    classifier: Any
    n_classes: int

    def probabilities(self, Z: Float) -> Float:
        """Return probabilities, or the softmax of decision values, of all classes."""
        if hasattr(self.classifier, "predict_proba"):
            scores = self.classifier.predict_proba(Z)
        else:
            values = self.classifier.decision_function(Z)
            both = np.column_stack([-values, values]) if values.ndim == 1 else values
            scores = linalg.softmax(both)
        return expand_classes(scores, self.classifier.classes_, self.n_classes)


def expand_classes(probabilities: Float, present: Int, n_classes: int) -> Float:
    """Return the columns of some classes among those of all, with zeros for others."""
    if len(present) == n_classes:
        return probabilities
    expanded = np.zeros((len(probabilities), n_classes))
    expanded[:, present] = probabilities
    return expanded


@storable
@dataclass(frozen=True, eq=False)
class SubspaceClassifier:
    """A classifier of projected rows, centred by `mean` and scaled to unit length."""

    mean: Float
    inner: NearestMean | WrappedClassifier

    @classmethod
    def fit(
        cls,
        Z: Float,
        codes: Int,
        mean: Float,
        n_classes: int,
        *,
        normalize_means: bool = True,
        classifier: Any = None,
    ) -> SubspaceClassifier:
        """Fit on projected labelled rows and their class codes."""
        unit = linalg.row_normalise(Z - mean)
        if classifier is not None:
            fitted = clone(classifier).fit(unit, codes)
            return cls(mean, WrappedClassifier(fitted, n_classes))
        sums = linalg.class_sums(unit, codes, n_classes)
        sizes = linalg.counts(codes, n_classes)
        present = np.flatnonzero(sizes)
        means = sums[present] / sizes[present, None]
        means = linalg.row_normalise(means) if normalize_means else means
        return cls(mean, NearestMean(means, present, n_classes))

    def probabilities(self, Z: Float) -> Float:
        """Return class probabilities of projected rows."""
        return self.inner.probabilities(linalg.row_normalise(Z - self.mean))


class SubspaceRecogniser(SubspaceMethod, base.ConfidentClassifier):
    """A subspace method that fits a `SubspaceClassifier` to the projected rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [base.POSITIVE],
        "n_components": [None, base.COUNT],
        "eigenvector_scaling": [StrOptions({"metric", "unit"})],
    }

    _recogniser: SubspaceClassifier

    def _embed(self, Z: Float) -> Float:
        return linalg.row_normalise(Z - self._recogniser.mean)

    def _probabilities(self, X: Float) -> Float:
        Z = self._prepare_target(X) @ self.projection_
        return self._recogniser.probabilities(Z)


def select_by_class(prediction: Int, confidence: Float, share: float) -> Int:
    """Return the indices of the most confident samples of each class, ascending.

    As in the released code, ``m * share`` of the m samples of a predicted class are
    taken, rounded up and at least one, and more for ties or if ``m * (1 - share)`` is
    rounded to just below a whole number.

    >>> import numpy as np
    >>> select_by_class(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.5]), 0.5)
    array([0, 2])
    """
    chosen = np.zeros(len(prediction), dtype=bool)
    for code in np.unique(prediction):
        members = np.flatnonzero(prediction == code)
        ascending, m = np.sort(confidence[members]), len(members)
        # Floating point on purpose: for some sizes, the integer quotient selects other
        # samples than the authors' code.
        threshold = ascending[min(m - 1, int(np.floor(m * (1.0 - share))))]
        chosen[members[confidence[members] >= threshold]] = True
    return np.flatnonzero(chosen)


def select_over_all(confidence: Float, iteration: int, max_iter: int) -> Int:
    """Return the indices of the most confident of all samples, ascending.

    As in the paper's text, ``n * iteration / max_iter`` of n samples are taken, exactly
    and rounded up, and more for ties only.

    >>> import numpy as np
    >>> select_over_all(np.array([0.9, 0.6, 0.5]), 1, 2)
    array([0, 1])
    """
    n_left_out = len(confidence) * (max_iter - iteration) // max_iter
    threshold = np.sort(confidence)[n_left_out]
    return np.flatnonzero(confidence >= threshold)


def selective_pseudo_labelling(
    fit_predict: Callable[[Int, Int], Iteration],
    max_iter: int,
    *,
    per_class: bool = True,
    final_fit: bool = False,
) -> list[Iteration]:
    """Run `max_iter` iterations; the last one is the result.

    Iteration k + 1 uses the share ``k / max_iter`` of confident predictions, of each
    class or over all, selected anew each time: ``fit_predict(selected, codes)`` fits
    with `codes` as the labels of the unlabelled rows `selected`, and predicts all
    unlabelled rows. Without unlabelled rows there is one iteration. With `final_fit`,
    another fit on all pseudo-labels follows (Wang and Breckon, AAAI 2020, see
    `SharedColumnsPlus`).
    """
    iterations: list[Iteration] = []
    selected = codes = np.empty(0, dtype=np.intp)
    for iteration in range(1, max_iter + 1 + final_fit):
        entry = fit_predict(selected, codes)
        iterations.append(replace(entry, iteration=iteration, n_selected=len(selected)))
        if not len(entry.prediction):
            break
        if entry.confidence is None:
            raise TypeError(
                "Selective pseudo-labelling needs confidences, but the classifier has "
                "none. Use one with predict_proba or decision_function."
            )
        if per_class:
            share = iteration / max_iter
            selected = select_by_class(entry.prediction, entry.confidence, share)
        else:
            selected = select_over_all(entry.confidence, iteration, max_iter)
        codes = entry.prediction[selected]
    return iterations
