"""Cross-validation with unlabelled rows: they are fitted on, and never scored."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from support.toy_problem import toy_problem

from benchmarks.planted import Planted
from cdspp import CDSPP
from cdspp.methods.selection import LabelledKFold, labelled_accuracy

PROBLEM = toy_problem()
FOLDS = LabelledKFold(2)


def test_unlabelled_rows_are_in_every_training_set_and_in_no_test() -> None:
    tested = []
    for train, test in FOLDS.split(PROBLEM.X, PROBLEM.y):
        assert set(np.flatnonzero(PROBLEM.unlabelled)) <= set(train)
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(PROBLEM.X)
        counts = np.unique(PROBLEM.y[test], return_counts=True)[1]
        assert np.ptp(counts) <= 1
        tested += test.tolist()
    assert sorted(tested) == np.flatnonzero(~PROBLEM.unlabelled).tolist()
    assert FOLDS.get_n_splits() == 2


def test_scores_count_the_labelled_rows_alone() -> None:
    given = {"source": PROBLEM.source}
    scores = cross_val_score(CDSPP(), PROBLEM.X, PROBLEM.y, cv=FOLDS, params=given)
    train, test = next(iter(FOLDS.split(PROBLEM.X, PROBLEM.y)))
    model = CDSPP().fit(PROBLEM.X[train], PROBLEM.y[train], source=PROBLEM.source)
    assert scores[0] == np.mean(model.predict(PROBLEM.X[test]) == PROBLEM.y[test])
    plain = KFold(3, shuffle=True, random_state=0)
    common = {"cv": plain, "params": given}
    unfair = cross_val_score(CDSPP(), PROBLEM.X, PROBLEM.y, **common)
    fair = cross_val_score(
        CDSPP(), PROBLEM.X, PROBLEM.y, scoring=labelled_accuracy, **common
    )
    assert np.nanmean(fair) > unfair.mean() + 0.3


def test_a_search_over_options_tells_them_apart() -> None:
    grid = {"n_components": [1, 3]}
    search = GridSearchCV(CDSPP(), grid, cv=FOLDS)
    search.fit(PROBLEM.X, PROBLEM.y, source=PROBLEM.source)
    assert search.best_params_ == {"n_components": 3}
    found = search.cv_results_["mean_test_score"]
    assert found[1] > found[0] + 0.2
    right = search.predict(PROBLEM.X) == PROBLEM.truth
    assert right[PROBLEM.unlabelled].mean() > 0.8


def test_too_few_labels_for_the_folds_are_named() -> None:
    y = np.where(np.cumsum(PROBLEM.y == 1) > 1, -1, PROBLEM.y)
    with pytest.raises(ValueError, match="3 folds need as many labelled rows of each"):
        next(LabelledKFold(3).split(PROBLEM.X, y))
    with pytest.raises(ValueError, match="no row has a label"):
        next(FOLDS.split(PROBLEM.X, np.full(len(PROBLEM.X), -1)))
    with pytest.raises(ValueError, match="needs y"):
        next(FOLDS.split(PROBLEM.X))


def test_without_a_labelled_row_there_is_no_accuracy() -> None:
    model = PROBLEM.fit(CDSPP())
    assert np.isnan(labelled_accuracy(model, PROBLEM.X[:3], [None, "", -1]))


def test_a_search_finds_alpha_where_unlabelled_rows_as_errors_leave_it_flat() -> None:
    """Of 220 rows 20 are labelled: a plain search sees differences of a few points."""
    problem = Planted(
        "shared",
        n_classes=5,
        n_labelled=4,
        n_unlabelled=40,
        n_source=20,
        n_latent=6,
        spread=0.8,
        noise=1.0,
        d_source=100,
        d_target=100,
    ).draw(2)
    source, alphas = problem.source, [0.01, 0.1, 1, 10, 100, 1000]
    truth = {}
    for alpha in alphas:
        found = CDSPP(alpha=alpha).fit(problem.X, problem.y, source=source)
        right = found.transduction_[problem.unlabelled] == problem.hidden
        truth[alpha] = np.mean(right)
    ours, plain = (
        GridSearchCV(CDSPP(), {"alpha": alphas}, cv=folds).fit(
            problem.X, problem.y, source=source
        )
        for folds in (LabelledKFold(4), 4)
    )
    assert truth[ours.best_params_["alpha"]] > max(truth.values()) - 0.03
    assert np.ptp(list(truth.values())) > 0.3
    assert np.ptp(ours.cv_results_["mean_test_score"]) > 0.3
    assert plain.cv_results_["mean_test_score"].max() < 0.15
    assert np.ptp(plain.cv_results_["mean_test_score"]) < 0.1
