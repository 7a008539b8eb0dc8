"""Label codes, iterations and problems that all methods inherit."""

from __future__ import annotations

import numpy as np

from cdspp.methods.base import (
    ConfidentClassifier,
    Float,
    Int,
    Iteration,
    Problem,
    SourceDomain,
)


class Majority(ConfidentClassifier):
    """Predicts the most frequent source class; records the problem it is given."""

    identifier = "majority"
    display_name = "majority"

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        self.problem_ = problem
        self._code = np.bincount(problem.y_source).argmax()
        return []

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return np.full(len(X), self._code), None

    def _probabilities(self, X: Float) -> Float:
        return np.eye(len(self.classes_))[self._predict_codes(X)[0]]


class Counting(Majority):
    """Two iterations: the first predicts class 0, the second class 1."""

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        n = len(problem.X_unlabelled)
        return [Iteration(k + 1, np.full(n, k), n_selected=k) for k in range(2)]


X = np.arange(12.0).reshape(6, 2)
SOURCE = SourceDomain(np.ones((3, 5)), [7, 9, 9])


def test_a_method_sees_codes_and_the_rows_split_by_label() -> None:
    y = [9, -1, 3, -1, 9, -1]
    model = Majority().fit(X, y, source=SOURCE)
    problem = model.problem_
    assert model.classes_.tolist() == [3, 7, 9]
    assert problem.n_classes == 3
    assert problem.y_source.tolist() == [1, 2, 2]
    assert problem.y_labelled.tolist() == [2, 0, 2]
    np.testing.assert_array_equal(problem.X_labelled, X[[0, 2, 4]])
    np.testing.assert_array_equal(problem.X_unlabelled, X[[1, 3, 5]])
    assert problem.X_source.shape == (3, 5)


def test_the_last_round_is_the_result() -> None:
    model = Counting().fit(X, [7, 9, -1, -1, -1, -1], source=SOURCE)
    assert [entry.prediction[0] for entry in model.history_] == [7, 9]
    assert model.n_iter_ == 2
    assert model.transduction_.tolist() == [7, 9, 9, 9, 9, 9]


def test_without_a_source_the_labelled_target_rows_serve() -> None:
    model = Majority().fit(X, [1, 0, 1, -1, -1, -1])
    np.testing.assert_array_equal(model.problem_.X_source, X[:3])
    assert model.problem_.y_source.tolist() == [1, 0, 1]
