"""Candidates, hold-outs and the vote, until the library has them.

The rest of the benchmark uses `candidates`, `fit_candidate`, `label_without_labels`,
`vote` and `source_gain` of this file only.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from cdspp.analysis.hold_outs import Fold, HoldOuts, Problem, make_folds
from cdspp.core.names import STANDARDISE
from cdspp.methods import register_method
from cdspp.methods.base import (
    UNLABELLED,
    Float,
    HeterogeneousClassifier,
    Int,
    Iteration,
    SourceDomain,
)
from cdspp.methods.base import Problem as FitProblem
from cdspp.methods.bridge import PAIRS, SHARED
from cdspp.methods.joint_machine import ridge_map
from cdspp.methods.problem import scale_domains

__all__ = [
    "Answer",
    "candidates",
    "fit_candidate",
    "hold_outs",
    "label_without_labels",
    "source_gain",
    "vote",
]

REFERENCE, LDA = "target-only", "shrunken-lda"
REPEATS, TEST_SHARE, MAX_ROWS = 10, 1 / 5, 2000
TEMPERATURE, PRIOR_SD = 0.07, 0.10
PSEUDO_ROWS, PSEUDO_VARIANCE, TRAINING_SCATTER = 10, 0.2, 2.0
LEVEL = 0.8
SOURCE_SCALE = 3.0  # of class probabilities beside columns


class _Supervised(HeterogeneousClassifier):
    supervised = True
    model_: Any

    def _rows(self, X: Float) -> Float:
        raise NotImplementedError

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self.model_.predict(self._rows(X)), None


class Pooled(_Supervised):
    """A classifier on the shared columns of both domains, which weigh the same."""

    identifier = "pooled"
    display_name = "Pooled"
    bridges = frozenset({SHARED})
    needs_bridge = True

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _rows(self, X: Float) -> Float:
        return X[:, self.columns_]

    def _fit_problem(self, problem: FitProblem) -> list[Iteration]:
        assert problem.bridge is not None
        self.columns_ = problem.bridge.target
        n_source, n = len(problem.y_source), len(problem.y_labelled)
        ours = self._rows(problem.X_labelled)
        X = np.concatenate([problem.X_source[:, problem.bridge.source], ours])
        y = np.concatenate([problem.y_source, problem.y_labelled])
        weights = np.repeat([1.0, n_source / n], [n_source, n])
        self.model_ = clone(self.estimator).fit(X, y, sample_weight=weights)
        return []


class Stacked(_Supervised):
    """A classifier on the target's columns and on what a source model says."""

    identifier = "stacked"
    display_name = "Stacked"
    bridges = frozenset({SHARED})
    needs_bridge = True

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _rows(self, X: Float) -> Float:
        chances = self.source_model_.predict_proba(X[:, self.columns_])
        return np.hstack([SOURCE_SCALE * chances, X])

    def _fit_problem(self, problem: FitProblem) -> list[Iteration]:
        assert problem.bridge is not None
        self.columns_ = problem.bridge.target
        shared = problem.X_source[:, problem.bridge.source]
        self.source_model_ = clone(self.estimator).fit(shared, problem.y_source)
        rows = self._rows(problem.X_labelled)
        self.model_ = clone(self.estimator).fit(rows, problem.y_labelled)
        return []


def _logistic() -> Any:
    return LogisticRegression(max_iter=1000)


def _forest() -> Any:
    return RandomForestClassifier(100, random_state=0)


@cache
def _registered() -> Mapping[str, str]:
    """Return the names by which `cdspp.methods` knows the candidates."""
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)
    objects = {
        "logistic-regression": _logistic(),
        LDA: lda,
        "random-forest": _forest(),
        "extra-trees": ExtraTreesClassifier(100, random_state=0),
        "pooled-logistic-regression": Pooled(_logistic()),
        "pooled-random-forest": Pooled(_forest()),
        "stacked-logistic-regression": Stacked(_logistic()),
    }
    return {name: register_method(each) for name, each in objects.items()}


def candidates(bridge: Collection[str], n_labelled: int, n_classes: int) -> list[str]:
    """Return the candidates for the available kinds of bridge."""
    names = [REFERENCE, "logistic-regression", "random-forest", "extra-trees", "cdspp"]
    if n_labelled > n_classes:
        names.append(LDA)
    if SHARED in bridge:
        names += ["shared-columns-plus", "easy-adapt", "pooled-logistic-regression"]
        names += ["pooled-random-forest", "stacked-logistic-regression"]
    if PAIRS in bridge:
        names.append("paired-map-plus")
    return [*names, "cdspp-bridge"] if bridge else names


def hold_outs(X: Float, y: Int, source: SourceDomain, seed: int) -> HoldOuts:
    """Return the hold-outs of a draw; the row of a class with one stays in training."""
    problem = Problem.of(X, y, source, STANDARDISE)
    sizes = np.bincount(y[y != UNLABELLED])
    repeats = REPEATS if sizes.max() > 1 else 0
    folds: list[Fold] = []
    for train, test in make_folds(problem, repeats, TEST_SHARE, MAX_ROWS, seed):
        single = sizes[problem.codes[test]] == 1
        folds.append(([*train, test[single]], test[~single]))
    return HoldOuts(problem, folds, STANDARDISE, MAX_ROWS, seed)


def fit_candidate(runs: HoldOuts, name: str) -> tuple[Int, Int]:
    """Return codes by hold-out and labelled row, and those of unlabelled rows.

    A code is -1 where a row is not held out, or the candidate fails.
    """
    method = _registered().get(name, name)
    labelled, problem = runs.problem.labelled, runs.problem
    predicted = np.full((len(runs.folds), len(labelled)), UNLABELLED)
    for number, (train, test) in enumerate(runs.folds):
        rows = np.concatenate(train)
        if name == LDA and len(rows) <= len(np.unique(problem.codes[rows])):
            continue
        model, scaling = runs._fit_model(problem, method, rows, number)
        if model is not None:
            codes = model.predict(scaling.apply(problem.X[test]))
            predicted[number, np.searchsorted(labelled, test)] = codes
    codes = runs.label_all(problem, method)
    failed = np.full(len(problem.unlabelled), UNLABELLED)
    return predicted, failed if codes is None else codes


def label_without_labels(X: Float, source: SourceDomain) -> dict[str, Int]:
    """Return codes of all target rows by models of the source, by candidate."""
    scaling, scaled = scale_domains(STANDARDISE, X, source)
    rows, X_source = scaling.apply(X), np.asarray(scaled.X)
    answers = {}
    if scaled.shared_columns is not None:
        ours, theirs = np.transpose(scaled.shared_columns)
        for name, model in (
            ("pooled-logistic-regression", _logistic()),
            ("pooled-random-forest", _forest()),
        ):
            model.fit(X_source[:, ours], scaled.y)
            answers[name] = model.predict(rows[:, theirs])
    if scaled.paired_rows is not None:
        weights, _ = ridge_map(*map(np.asarray, scaled.paired_rows))
        model = _logistic().fit(X_source @ weights, scaled.y)
        answers["paired-map-plus"] = model.predict(rows)
    return answers


class Answer(NamedTuple):
    """Codes of unlabelled rows, and an estimate of their accuracy with its interval."""

    codes: Int
    estimate: float
    low: float
    high: float


def _differences(correct: Float, reference: Float) -> Float:
    """Return mean differences to the reference, by candidate and row; NaN if none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        means: Float = np.nanmean(correct - reference, axis=1)
    return means


def _weights(differences: Float, temperature: float) -> Float:
    """Return the weights of candidates (M,), or for each row (M, n) without it."""
    known = np.isfinite(differences)
    d = np.where(known, differences, 0.0)
    n = known.sum(axis=1, keepdims=True)
    total, squares = d.sum(axis=1, keepdims=True), (d**2).sum(axis=1, keepdims=True)
    out = np.hstack([np.zeros((len(d), 1)), d])  # the first column leaves no row out
    n = n - np.hstack([np.zeros((len(d), 1)), known])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (total - out) / n
        spread = (squares - out**2) - n * mean**2
        variance = (spread + PSEUDO_ROWS * PSEUDO_VARIANCE) / (n + PSEUDO_ROWS)
        error = TRAINING_SCATTER * variance / n
        gains = mean * PRIOR_SD**2 / (PRIOR_SD**2 + error)
    gains = np.where(n > 0, gains, -np.inf)
    gains[:, ~np.isfinite(gains).any(axis=0)] = 0.0  # equal without any estimate
    weights: Float = np.exp((gains - gains.max(axis=0)) / temperature)
    return weights


def _vote_codes(predictions: Int, weights: Float, n_classes: int) -> Int:
    """Return the codes with the largest sum of weights; -1 where nobody votes."""
    shares = np.zeros((n_classes, predictions.shape[1]))
    for codes, weight in zip(predictions, weights, strict=True):
        rows = np.flatnonzero(codes != UNLABELLED)
        shares[codes[rows], rows] += np.broadcast_to(weight, codes.shape)[rows]
    return np.where(shares.any(axis=0), shares.argmax(axis=0), UNLABELLED)


def _by_rows(
    record: Any, members: Sequence[int], temperature: float
) -> tuple[Int, Float]:
    """Return the codes of unlabelled rows, and how right the vote is, by labelled row.

    Weights for a row come from the other rows.
    """
    truth = record.truth[record.y != UNLABELLED]
    n_classes = int(record.truth.max()) + 1
    predicted = record.predicted[members]
    tested = predicted != UNLABELLED
    correct = np.where(tested, predicted == truth, np.nan)
    reference = list(record.names).index(REFERENCE)
    base = record.predicted[reference]
    right = np.where(base != UNLABELLED, base == truth, np.nan)
    weights = _weights(_differences(correct, right), temperature)
    codes = _vote_codes(record.transduction[members], weights[:, :1], n_classes)
    votes = [
        _vote_codes(predicted[:, k], weights[:, 1:], n_classes)
        for k in range(predicted.shape[1])
    ]
    hits = np.array([np.where(v >= 0, v == truth, np.nan) for v in votes])
    hits = hits.reshape(len(votes), len(truth))
    return codes, _differences(hits[None], np.zeros(1))[0]


def _members(record: Any, with_source: bool) -> list[int]:
    all_of_them = range(len(record.names))
    return [k for k in all_of_them if with_source or not record.uses_source[k]]


def _interval(values: Float) -> tuple[float, float]:
    """Return the mean of rows and half the width of its interval."""
    values = values[np.isfinite(values)]
    if not (n := len(values)):
        return np.nan, np.nan
    variance = (n * values.var() + PSEUDO_ROWS * PSEUDO_VARIANCE) / (n + PSEUDO_ROWS)
    half = float(ndtri((1 + LEVEL) / 2)) * np.sqrt(variance / n)
    return float(values.mean()), float(half)


def vote(
    record: Any, *, with_source: bool = True, temperature: float = TEMPERATURE
) -> Answer:
    """Return the weighted vote of a draw's candidates."""
    members = _members(record, with_source)
    if REFERENCE not in record.names:  # no label at all
        n_classes = int(record.truth.max()) + 1
        equal = np.ones((len(members), 1))
        codes = _vote_codes(record.transduction[members], equal, n_classes)
        return Answer(codes, np.nan, np.nan, np.nan)
    codes, right = _by_rows(record, members, temperature)
    mean, half = _interval(right)
    return Answer(codes, mean, max(mean - half, 0.0), min(mean + half, 1.0))


def source_gain(record: Any) -> tuple[float, float, float]:
    """Return what the source adds to the vote: estimate, and interval."""
    votes = [_by_rows(record, _members(record, w), TEMPERATURE) for w in (True, False)]
    (codes, right), (other_codes, other_right) = votes
    bound = float(np.mean(codes != other_codes))
    mean, half = _interval(right - other_right)
    clipped = [float(np.clip(v, -bound, bound)) for v in (mean, mean - half)]
    return clipped[0], clipped[1], float(np.clip(mean + half, -bound, bound))
