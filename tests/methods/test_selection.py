"""Cross-validation with unlabelled rows: they are fitted on, and never scored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
)
from support.toy_problem import toy_problem

from cdspp import CDSPP, PA, SourceDomain, read_table
from cdspp.methods.folds import LabelledKFold
from cdspp.methods.labels import labelled_accuracy

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
    unfair, fair, own = (
        cross_val_score(CDSPP(), PROBLEM.X, PROBLEM.y, scoring=scoring, **common)
        for scoring in ("accuracy", labelled_accuracy, None)
    )
    assert np.nanmean(fair) > unfair.mean() + 0.3
    np.testing.assert_array_equal(own, fair)


def test_too_few_labels_for_the_folds_are_named() -> None:
    y = np.where(np.cumsum(PROBLEM.y == 1) > 1, -1, PROBLEM.y)
    with pytest.raises(ValueError, match="3 folds.*labelled"):
        next(LabelledKFold(3).split(PROBLEM.X, y))
    with pytest.raises(ValueError, match="row.*label"):
        next(FOLDS.split(PROBLEM.X, np.full(len(PROBLEM.X), -1)))


def test_a_score_leaves_unlabelled_rows_out() -> None:
    """The split of scikit-learn puts them into the test part."""
    problem = toy_problem(spread=0.1)
    X, y = problem.X, problem.y
    for model in (problem.fit(CDSPP()), problem.fit(PA(max_iter=2))):
        assert model.score(X, y) == model.score(X.tolist(), [*y]) == 1.0
    wrong = np.where(problem.unlabelled, -1, (y + 1) % 4)
    wrong[0], n_labelled = y[0], int((~problem.unlabelled).sum())
    assert model.score(X, wrong) == pytest.approx(1 / n_labelled)
    weights = np.where(wrong == y, n_labelled - 1, 1)
    assert model.score(X, wrong, weights) == pytest.approx(0.5)
    assert np.isnan(model.score(X[:3], [None, "", -1]))
    asked = {"params": {"source": problem.source}, "cv": 2}
    found = cross_validate(CDSPP(), X, y, **asked)
    assert found["test_score"].tolist() == [1.0, 1.0]


def test_scikit_learn_takes_the_labels_of_a_file(tmp_path: Path) -> None:
    problem, names = toy_problem(spread=0.1), np.array([*"abcd"])
    labels = np.where(problem.unlabelled, "", names[problem.truth])
    path = tmp_path / "rows.csv"
    pd.DataFrame(problem.X).add_prefix("f").assign(label=labels).to_csv(path)
    table = read_table(path)
    source = SourceDomain(problem.source.X, names[problem.source.y])
    model = CDSPP().fit(table.X, table.y, source=source)
    assert model.score(table.X, table.y) == 1.0
    asked = {"params": {"source": source}, "cv": 2, "error_score": "raise"}
    for scoring in (None, labelled_accuracy):
        found = cross_val_score(CDSPP(), table.X, table.y, scoring=scoring, **asked)
        assert found.tolist() == [1.0, 1.0]


def test_a_search_over_options_tells_them_apart() -> None:
    grid = {"n_components": [1, 3]}
    search = GridSearchCV(CDSPP(), grid, cv=FOLDS)
    search.fit(PROBLEM.X, PROBLEM.y, source=PROBLEM.source)
    assert search.best_params_ == {"n_components": 3}
    found = search.cv_results_["mean_test_score"]
    assert found[1] > found[0] + 0.2
    right = search.predict(PROBLEM.X) == PROBLEM.truth
    assert right[PROBLEM.unlabelled].mean() > 0.8
