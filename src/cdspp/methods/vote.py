"""A weighted vote of methods, with and without a source, as one estimator."""

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from cdspp.core import errors
from cdspp.core.names import PCA, SCALES, STANDARDISE_EACH
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.methods.base import (
    UNLABELLED,
    Float,
    HeterogeneousClassifier,
    Int,
    Iteration,
    Problem,
    SourceDomain,
)
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.methods.external import wrap_object
from cdspp.methods.problem import scale_domains

# A fitted member, and the scaling of target rows for it.
Fit: TypeAlias = tuple[HeterogeneousClassifier, Scaling]
DECIMALS = 12  # of sums of weights, so that equal ones are ties


def sums_of_votes(predictions: Int, weights: Float, n_classes: int) -> Float:
    """Return the sum of the weights for each class, by rows.

    `predictions` (members, n) are class codes, of which -1 gives no vote; `weights` are
    (members,) or (n, members).
    """
    n = predictions.shape[1]
    sums = np.zeros((n, n_classes))
    by_row = np.broadcast_to(np.transpose(weights).T, predictions.T.shape)
    for codes, weight in zip(predictions, by_row.T, strict=True):
        voted = np.flatnonzero(codes != UNLABELLED)
        sums[voted, codes[voted]] += weight[voted]
    return sums


def with_fits(vote: "Vote", fits: Mapping[str, Fit]) -> "Vote":
    """Let the next fit of a vote take members that have been fitted to its rows."""
    vote._known = fits
    return vote


class Vote(HeterogeneousClassifier):
    """Several methods on the same rows, and their weighted vote.

    Each member is fitted to the target, scaled for it, and to the source if it uses
    one. A row gets the class with the largest sum of weights of the members that
    predict it; ties go to the first class in sorted order.

    Parameters
    ----------
    members : list of (str, estimator) pairs
        Names and methods, which are cloned. A classifier of scikit-learn is fitted to
        the labelled target rows.
    weights : array-like of shape (n_members,), default=None
        Weights, not negative; members of weight zero are not fitted. By default, all
        weights are equal.
    scale : {"none", "unit", "standardise", "standardise-each", "pca"}, \
default="standardise"
        Scaling of each domain, as the option ``--scale`` of the commands.

    Attributes
    ----------
    members_ : dict
        The fitted members by name. They know classes by their positions in `classes_`.
    weights_ : dict
        Their weights, with a sum of one.
    scalings_ : dict
        The scaling of target rows for each of them.
    votes_ : ndarray of shape (n_target, n_classes)
        Shares of the votes for each row of the fit; 1 for a label that was given.
    classes_, transduction_, history_, collapsed_
        As in `HeterogeneousClassifier`.

    Notes
    -----
    Shares of votes are no probabilities: of rows with a share of 0.88, fewer may be
    right.

    Examples
    --------
    >>> from cdspp import SourceDomain, Vote, make
    >>> source = SourceDomain([[9.0, 1, 0], [8, 0, 1], [1, 9, 0]], [0, 0, 1])
    >>> X = [[5.0, 0.0], [0.0, 4.0], [4.0, 1.0], [1.0, 6.0]]
    >>> names = ["cdspp", "target-only", "logistic-regression"]
    >>> vote = Vote([(name, make(name)) for name in names])
    >>> vote.fit(X, [0, 1, -1, -1], source=source).transduction_
    array([0, 1, 0, 1])
    """

    identifier = "vote"
    display_name = "vote"
    bridges = frozenset({SHARED, PAIRS})
    centres_rows = True  # by its scaling
    _known: Mapping[str, Fit]

    _parameter_constraints = {
        "members": [list],
        "weights": [None, "array-like"],
        "scale": [StrOptions({*SCALES, STANDARDISE_EACH})],
    }

    def __init__(
        self,
        members: list[tuple[str, Any]],
        weights: ArrayLike | None = None,
        scale: str = "standardise",
    ) -> None:
        self.members = members
        self.weights = weights
        self.scale = scale

    def _validate_params(self) -> None:
        super()._validate_params()
        names = [name for name, _ in self.members]
        if not names or len({*names}) < len(names):
            raise ValueError(f"members: expected different names, got {names}.")
        weights = self._given_weights()
        is_valid = weights.shape == (len(names),) and np.isfinite(weights).all()
        if not (is_valid and (weights >= 0).all() and weights.any()):
            expected = f"{len(names)} numbers, not negative, one of them positive"
            raise ValueError(f"weights: expected {expected}, got {weights.tolist()}.")

    def _given_weights(self) -> Float:
        if self.weights is None:
            return np.ones(len(self.members))
        return np.asarray(self.weights, dtype=np.float64)

    def votes(self, X: ArrayLike) -> Float:
        """Return the shares of the votes for target rows, given as to `predict`.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of `classes_`; rows sum to one.
        """
        check_is_fitted(self)
        return self._shares(self._read_rows(X))

    def _shares(self, X: Float) -> Float:
        members = self.members_.items()
        return self._counted(
            {
                name: each.predict(self.scalings_[name].apply(X))
                for name, each in members
            }
        )

    def _counted(self, predictions: Mapping[str, Any]) -> Float:
        """Return the sum of the weights for each class, by rows."""
        weights = np.array([self.weights_[name] for name in predictions])
        codes = np.array([*predictions.values()])
        return sums_of_votes(codes, weights, len(self.classes_)).round(DECIMALS)

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._shares(X).argmax(axis=1), None

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        X = np.concatenate([problem.X_labelled, problem.X_unlabelled])
        y = np.full(len(X), UNLABELLED)
        y[: len(problem.y_labelled)] = problem.y_labelled
        source = _source_of(problem)
        known = self.__dict__.pop("_known", {})
        self.members_: dict[str, HeterogeneousClassifier] = {}
        self.scalings_: dict[str, Scaling] = {}
        self.weights_: dict[str, float] = {}
        for (name, estimator), weight in zip(
            self.members, self._given_weights().tolist(), strict=True
        ):
            if weight:
                fit = known.get(name) or self._fit_member(estimator, X, y, source)
                self.members_[name], self.scalings_[name] = fit
                self.weights_[name] = weight
        total = sum(self.weights_.values())
        self.weights_ = {name: weight / total for name, weight in self.weights_.items()}
        members = self.members_.items()
        self._counts = self._counted({name: m.transduction_ for name, m in members})
        return [Iteration(1, self._counts[len(problem.y_labelled) :].argmax(axis=1))]

    def _fit_and_label(self, problem: Problem, labelled: NDArray[np.bool_]) -> None:
        super()._fit_and_label(problem, labelled)
        self.votes_ = np.empty_like(self._counts)
        order = np.concatenate([np.flatnonzero(labelled), np.flatnonzero(~labelled)])
        self.votes_[order] = self._counts
        del self._counts

    def _fit_member(
        self, estimator: Any, X: Float, y: Int, source: SourceDomain | None
    ) -> Fit:
        """Return a fitted member, and the scaling of target rows for it."""
        if isinstance(estimator, HeterogeneousClassifier):
            method = clone(estimator)
        else:
            method = wrap_object(estimator)[1]()
        with warnings.catch_warnings():
            for category in errors.OF_ONE_FIT:
                warnings.simplefilter("ignore", category)
            domain, scaling = source if method.uses_source else None, None
            if domain is not None:
                kinds = method.bridges - ({SHARED} if self.scale == PCA else set())
                scaling, domain = scale_domains(
                    self.scale, X, domain.with_bridges(kinds)
                )
            scaling = scaling or fit_scaling(self.scale, X)
            return method.fit(scaling.apply(X), y, source=domain), scaling


def _source_of(problem: Problem) -> SourceDomain | None:
    """Return the source of a problem; None if the target serves as its own."""
    bridge = problem.bridge
    assert bridge is not None
    if bridge.one_domain:
        return None
    shared = list(zip(bridge.source.tolist(), bridge.target.tolist(), strict=True))
    pairs = (bridge.pairs_source, bridge.pairs_target) if bridge.n_pairs else None
    return SourceDomain(
        problem.X_source,
        problem.y_source,
        shared_columns=shared or None,
        paired_rows=pairs,
    )
