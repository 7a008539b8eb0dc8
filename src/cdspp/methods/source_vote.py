"""A vote over several sources, for methods that take one."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from cdspp.methods.base import Float, HeterogeneousClassifier, Iteration, Sources
from cdspp.methods.labels import Labels, read_labels
from cdspp.methods.vote import sums_of_votes


class SourceVote(ClassifierMixin, BaseEstimator):
    """Several sources for a method that takes one: one fit per source, and their vote.

    Each fit votes for the class that it predicts, with its confidence as the weight, or
    a weight of 1 if the method has no confidences. The class with the largest sum wins;
    ties go to the first class in sorted order.

    Parameters
    ----------
    estimator : HeterogeneousClassifier
        The method, which is cloned for each source.

    Attributes
    ----------
    estimators_ : list of HeterogeneousClassifier
        The fits, in the order of the sources.
    classes_, transduction_, history_, collapsed_
        As in `HeterogeneousClassifier`: the classes of all fits, labels and an entry by
        the vote, and the kind of the first degenerate fit.

    Notes
    -----
    Cost: one fit per source. `CDSPP` takes several sources in one problem. Two halves
    of a source are two fits to half of its rows, a different problem from the whole.

    Examples
    --------
    >>> from cdspp import SourceDomain, SourceVote, make
    >>> first = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], [0, 1])
    >>> second = SourceDomain([[2.0], [-2.0]], [0, 1])
    >>> X = [[0.9, 0.1], [0.2, 1.0], [0.8, 0.3], [0.1, 0.7]]
    >>> vote = SourceVote(make("cdls-sup"))
    >>> vote.fit(X, [0, 1, -1, -1], source=[first, second]).transduction_
    array([0, 1, 0, 1])
    """

    def __init__(self, estimator: HeterogeneousClassifier) -> None:
        self.estimator = estimator

    def fit(self, X: ArrayLike, y: Labels, *, source: Sources | None = None) -> Self:
        """Fit the method once per source.

        Parameters and errors are those of `HeterogeneousClassifier.fit`.
        """
        sources = source if isinstance(source, list) else [source]
        fits = [clone(self.estimator).fit(X, y, source=domain) for domain in sources]
        self.estimators_ = fits
        self.classes_ = np.unique(np.concatenate([fit.classes_ for fit in fits]))
        self.n_features_in_ = fits[0].n_features_in_
        self.collapsed_ = next((f.collapsed_ for f in fits if f.collapsed_), "")
        entries = [fit.history_[-1] for fit in fits]
        votes = self._vote([(entry.prediction, entry.confidence) for entry in entries])
        self.history_ = [Iteration(1, *votes)]
        self.n_iter_ = 1
        self.transduction_ = fits[0].transduction_.copy()
        self.transduction_[~read_labels(y)[1]] = votes[0]
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the labels of target rows of shape (n_samples, n_features)."""
        check_is_fitted(self)
        votes = []
        for fit in self.estimators_:
            predict_proba = getattr(fit, "predict_proba", None)
            confidence = None if predict_proba is None else predict_proba(X).max(axis=1)
            votes.append((fit.predict(X), confidence))
        return self._vote(votes)[0]

    def _vote(
        self, votes: list[tuple[NDArray[Any], Float | None]]
    ) -> tuple[NDArray[Any], Float]:
        """Return the class with the largest sum for each row, and its mean per fit."""
        codes = [np.searchsorted(self.classes_, labels) for labels, _ in votes]
        weights = [np.ones(len(y)) if w is None else w for y, w in votes]
        n_classes = len(self.classes_)
        sums = sums_of_votes(np.array(codes), np.transpose(weights), n_classes)
        return self.classes_[sums.argmax(axis=1)], sums.max(axis=1) / len(votes)
