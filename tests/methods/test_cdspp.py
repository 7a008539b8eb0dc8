"""CDSPP and its variants: iterations, switches, directions, other classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from support.toy_problem import (
    WIDE,
    ToyProblem,
    some_rows,
    toy_problem,
    variant,
)

from cdspp import CDSPP, CDSPPPCA, CDSPPSup, TargetOnly


def placed(model: Any, problem: ToyProblem) -> np.ndarray:
    """Return the rows of both domains in the common subspace."""
    return np.vstack(
        [model.transform_source(problem.source.X), model.transform(problem.X)]
    )


def test_pseudo_labels_help_where_labels_are_few() -> None:
    gains = []
    for seed in range(4):
        problem = toy_problem(
            labelled_per_class=1, unlabelled_per_class=30, spread=2.0, seed=seed, **WIDE
        )
        semi = problem.accuracy(problem.fit(CDSPP()))
        gains.append(semi - problem.accuracy(problem.fit(CDSPPSup())))
    assert np.mean(gains) > 0.1


def test_a_class_that_nothing_is_predicted_as_gets_no_pseudo_label() -> None:
    problem = toy_problem(spread=0.2)
    partial = some_rows(problem, (problem.truth != 2) | problem.labelled)
    model = partial.fit(CDSPP())
    assert all(2 not in entry.prediction for entry in model.history_)
    assert (model.transduction_ == partial.truth).all()
    assert 2 in model.predict(problem.X[problem.truth == 2])


@pytest.mark.parametrize("normalize", [True, False])
def test_predictions_are_the_nearest_class_means(normalize: bool) -> None:
    problem = toy_problem(spread=1.0)
    model = problem.fit(CDSPPSup(normalize_means=normalize))
    Z = placed(model, some_rows(problem, problem.labelled))
    labels = np.concatenate([problem.source.y, problem.y[problem.labelled]])
    means = np.array([Z[labels == c].mean(axis=0) for c in range(4)])
    if normalize:
        means /= np.linalg.norm(means, axis=1)[:, None]
    queries = model.transform(problem.X)
    distances = np.linalg.norm(queries[:, None] - means, axis=2)
    weights = np.exp(-distances)
    expected = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(problem.X), expected, atol=1e-7)
    np.testing.assert_array_equal(model.predict(problem.X), distances.argmin(axis=1))


def test_selection_over_all_classes_takes_the_overall_share() -> None:
    problem = toy_problem(unlabelled_per_class=25, spread=1.0)
    per_class = problem.fit(CDSPP(selection="class"))
    overall = problem.fit(CDSPP(selection="all", max_iter=np.int8(5)))
    assert [entry.n_selected for entry in overall.history_] == [0, 20, 40, 60, 80]
    second_iterations = (model.history_[1].confidence for model in (per_class, overall))
    assert not np.allclose(*second_iterations)


def test_the_final_fit_adds_a_round_on_all_pseudo_labels() -> None:
    problem = toy_problem()
    without = problem.fit(CDSPP())
    model = problem.fit(CDSPP(final_fit=True))
    assert len(model.history_) == model.n_iter_ == 6
    assert model.history_[-1].n_selected == problem.unlabelled.sum()
    np.testing.assert_array_equal(
        model.history_[4].prediction, without.history_[-1].prediction
    )


CLASSIFIERS = {
    "svc": SVC(kernel="linear"),
    "mlp": MLPClassifier((8,), max_iter=300, solver="lbfgs", random_state=0),
    "centroid": NearestCentroid(),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_another_classifier_serves_the_subspace(name: str) -> None:
    problem = toy_problem()
    model = problem.fit(CDSPP(classifier=CLASSIFIERS[name]))
    assert problem.accuracy(model) > 0.7
    probabilities = model.predict_proba(problem.X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert not hasattr(CLASSIFIERS[name], "classes_")


def test_a_classifier_with_two_classes_keeps_its_columns_in_order() -> None:
    problem = toy_problem(n_classes=2)
    model = problem.fit(CDSPP(classifier=SVC(kernel="linear")))
    assert problem.accuracy(model) > 0.7
    np.testing.assert_array_equal(
        model.predict(problem.X), model.predict_proba(problem.X).argmax(axis=1)
    )


def test_projections_of_each_round_are_kept_on_demand() -> None:
    problem = toy_problem()
    assert problem.fit(CDSPP()).history_[0].projections is None
    history = problem.fit(CDSPP(keep_projections=True)).history_
    shapes = {tuple(P.shape for P in entry.projections) for entry in history}
    assert shapes == {((9, 4), (7, 4))}
    assert not np.allclose(history[0].projections[1], history[-1].projections[1])


def test_target_only_never_looks_at_the_source() -> None:
    problem = toy_problem()
    noise = np.random.default_rng(5).standard_normal(problem.source.X.shape)
    other = variant(problem, X_source=noise)
    expected, found = problem.fit(TargetOnly()), other.fit(TargetOnly())
    np.testing.assert_array_equal(found.projection_, expected.projection_)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    alone = CDSPP().fit(problem.X, problem.y)
    np.testing.assert_array_equal(alone.transduction_, expected.transduction_)


def test_principal_components_are_fitted_without_labels_on_each_domain() -> None:
    problem = toy_problem(**WIDE)
    model = problem.fit(CDSPPPCA(pca_components=5))
    assert model.projection_.shape == (5, 4)
    assert model.projection_source_.shape == (5, 4)

    def reduce(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        centred = X - rows.mean(axis=0)
        axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:5]
        return centred @ axes.T

    X_source = reduce(problem.source.X, problem.source.X)
    by_hand = variant(problem, X=reduce(problem.X, problem.X), X_source=X_source)
    expected = by_hand.fit(CDSPP())
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-8)
