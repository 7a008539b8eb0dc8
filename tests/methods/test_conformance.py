"""The contract of every method that the package lists, found by listing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import (
    StratifiedKFold,
    cross_validate,
)
from sklearn.utils.estimator_checks import check_estimator
from support.quick_methods import (
    every_form,
    every_method,
    method_of,
    options_for,
    quick,
)
from support.toy_problem import ToyProblem, some_rows, toy_problem

from cdspp.methods import (
    method_class,
)

pytestmark = pytest.mark.usefixtures("few_trees")

EXPECTED_FAILURES = {
    "check_classifiers_classes": "its labels -1 and 1 leave one class: -1 is no label"
}
NEW_ROWS = dict.fromkeys(
    ("check_classifiers_one_label", "check_fit_idempotent"),
    "it predicts rows that were not given to fit, which a transductive method refuses",
)
NAMES = np.array(["ant", "bee", "cat", "dog"])


@cache
def toy_fit(name: str) -> Any:
    """Return a method fitted to the toy problem, for tests that do not change it."""
    return toy_problem().fit(quick(name))


def expected_failures(estimator: Any) -> Mapping[str, str]:
    """Return the one declared failure; two more where new rows are not labelled."""
    return EXPECTED_FAILURES | (NEW_ROWS if estimator.transductive else {})


# Some checks draw rows around (100, ..., 100), which are parallel indeed.
@pytest.mark.filterwarnings("ignore::cdspp.core.errors.CollapseWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@every_method
def test_scikit_learn_accepts_the_estimator(name: str) -> None:
    # The checks look at one fit.
    model = quick(name, 256, **options_for(name, "one_fit"))
    results = check_estimator(model, on_skip=None, on_fail=None)
    failures = {
        result["check_name"]: result["exception"]
        for result in results
        if result["status"] == "failed"
    }
    assert failures.keys() == expected_failures(model).keys(), failures
    expected = ValueError, AssertionError
    assert all(isinstance(error, expected) for error in failures.values()), failures


@every_method
def test_strings_with_unlabelled_rows_are_learnt(name: str) -> None:
    problem = toy_problem(spread=0.2)
    y = NAMES[problem.truth].astype(object)
    y[problem.unlabelled] = -1
    source = replace(problem.source, y=NAMES[problem.source.y])
    model = quick(name).fit(problem.X, y, source=source)
    numbers = problem.fit(quick(name))
    assert model.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(model.transduction_, NAMES[numbers.transduction_])
    assert set(model.transduction_) <= set(NAMES)


@every_method
def test_history_and_transduction_tell_the_same(name: str) -> None:
    problem, model = toy_problem(), toy_fit(name)
    expected = problem.y.copy()
    expected[problem.unlabelled] = model.history_[-1].prediction
    np.testing.assert_array_equal(model.transduction_, expected)
    assert [e.iteration for e in model.history_] == [*range(1, len(model.history_) + 1)]
    for entry in model.history_:
        assert entry.prediction.shape == (problem.unlabelled.sum(),)
        assert np.isin(entry.prediction, model.classes_).all()
        if entry.confidence is not None:
            assert entry.confidence.shape == entry.prediction.shape
            assert ((entry.confidence >= 0) & (entry.confidence <= 1)).all()
    if model.supervised:
        assert len(model.history_) == 1


@every_method
def test_new_rows_are_predicted_or_refused_as_declared(name: str) -> None:
    problem, model = toy_problem(), toy_fit(name)
    new = problem.X + 0.01
    if model.transductive:
        np.testing.assert_array_equal(model.predict(problem.X), model.transduction_)
        message = f"{type(model).__name__} is transductive"
        with pytest.raises(ValueError, match=message):
            model.predict(new)
        return
    assert model.predict(new[:1]).shape == (1,)
    np.testing.assert_array_equal(
        model.predict(problem.X)[problem.unlabelled], model.history_[-1].prediction
    )


@every_method
def test_source_rows_are_transformed_unless_of_another_width(name: str) -> None:
    problem, model = toy_problem(), toy_fit(name)
    if not hasattr(model, "transform_source"):
        pytest.skip("has no common subspace")
    own, other = problem.source.X, problem.X
    width = model.transform(problem.X).shape[1]
    assert model.transform_source(own).shape == (len(own), width)
    (d_own, d_other), class_name = (own.shape[1], other.shape[1]), type(model).__name__
    message = f"X has {d_other} features, .*{class_name} .*source with"
    with pytest.raises(ValueError, match=f"{message} {d_own}"):
        model.transform_source(other)


@every_method
def test_probabilities_agree_with_predictions(name: str) -> None:
    problem, model = toy_problem(), toy_fit(name)
    if not hasattr(model, "predict_proba"):
        pytest.skip("has no confidences")
    probabilities = model.predict_proba(problem.X)
    assert probabilities.shape == (len(problem.X), 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        model.classes_[probabilities.argmax(axis=1)], model.predict(problem.X)
    )


@every_method
def test_a_clone_and_a_second_fit_give_the_same(name: str) -> None:
    problem, first = toy_problem(), toy_fit(name)
    model = clone(first)
    for _ in range(2):
        labels = problem.fit(model).transduction_
        np.testing.assert_array_equal(labels, first.transduction_)


@every_method
def test_inputs_are_left_as_they_were(name: str) -> None:
    problem = toy_problem()
    given = [problem.X, problem.y, problem.source.X, problem.source.y]
    before = [array.copy() for array in given]
    for array in given:
        array.setflags(write=False)
    problem.fit(quick(name)).predict(problem.X)
    np.testing.assert_equal(given, before)


@every_method
def test_memory_order_and_precision_of_the_input_do_not_matter(name: str) -> None:
    problem = toy_problem()
    X, X_source = (
        np.asfortranarray(rows.astype(np.float32))
        for rows in (problem.X, problem.source.X)
    )
    source = replace(problem.source, X=X_source, y=problem.source.y.tolist())
    found = quick(name).fit(X, problem.y.tolist(), source=source).transduction_
    assert np.mean(found == toy_fit(name).transduction_) > 0.9


@every_form
def test_supervised_methods_and_no_others_ignore_unlabelled_rows(form: str) -> None:
    found = method_class(method_of(form))
    if found.transductive:
        pytest.skip("looks rows up")
    problem = toy_problem(spread=1.0, unlabelled_per_class=40)
    model = some_rows(problem, problem.labelled).fit(quick(form))
    alone = model.predict(problem.X[problem.unlabelled])
    together = problem.fit(quick(form)).history_[-1].prediction
    assert (alone == together).all() == found.supervised
    if found.supervised:
        assert len(model.history_) == 1
        assert model.history_[0].prediction.shape == (0,)


def equal_rows() -> ToyProblem:
    """Return a problem with as many source as target rows, all labelled."""
    per_class = {"source_per_class": 6, "labelled_per_class": 6}
    return toy_problem(unlabelled_per_class=0, **per_class)


@pytest.fixture
def routing() -> Any:
    """Switch scikit-learn's metadata routing on."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield


FOLDS = StratifiedKFold(3)


@every_method
@pytest.mark.usefixtures("routing")
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_cross_validation_passes_the_source_whole(name: str, monkeypatch: Any) -> None:
    problem = equal_rows()
    seen: list[int] = []
    found = method_class(name)
    original = found.fit

    def fit(self: Any, X: Any, y: Any, *, source: Any = None) -> Any:
        seen.append(len(source.y))
        return original(self, X, y, source=source)

    monkeypatch.setattr(found, "fit", fit)
    model = quick(name).set_fit_request(source=True)
    scores = cross_validate(
        model, problem.X, problem.y, cv=FOLDS, params={"source": problem.source}
    )
    assert seen == [24, 24, 24]
    # Held-out rows are new ones: a transductive method has no score for them.
    finite = np.isfinite(scores["test_score"]).all()
    assert finite != method_class(name).transductive
