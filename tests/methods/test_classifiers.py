"""Classifiers of scikit-learn as methods: on the target, pooled, stacked, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from cdspp import Pooled, SourceDomain, Stacked, make
from cdspp.core.errors import MethodFailed
from cdspp.methods import register_method
from cdspp.methods.external import ExternalMethod, wrap_class
from cdspp.methods.shared.rules import fit_rule, predicted_codes

PAIRS = [(0, 2), (1, 0), (2, 1)]


def wine() -> tuple[np.ndarray, np.ndarray, SourceDomain, np.ndarray]:
    """Return a target with three labels a class, a source, and the truth."""
    X, truth = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    in_source = np.arange(len(X)) % 2 == 0
    source = SourceDomain(X[in_source][:, :8], truth[in_source], shared_columns=PAIRS)
    X, truth = X[~in_source][:, [1, 2, 0, 9, 10]], truth[~in_source]
    y = np.full(len(X), -1)
    for code in range(3):
        y[np.flatnonzero(truth == code)[:3]] = code
    return X, y, source, truth


X, Y, SOURCE, TRUTH = wine()
LEFT, RIGHT = (list(side) for side in zip(*PAIRS, strict=True))
KNOWN = Y != -1
OURS: dict[str, Any] = {
    "logistic-regression": LogisticRegression(max_iter=1000),
    "shrunken-lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
    "random-forest": RandomForestClassifier(random_state=3),
    "extra-trees": ExtraTreesClassifier(random_state=3),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", OURS)
def test_arrays_predict_what_scikit_learn_predicts(name: str, classes: int) -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(90) % classes * 2
    rows = rng.standard_normal((90, 6)) + 0.4 * codes[:, None]
    new = rng.standard_normal((5000, 6)) + 0.4
    theirs = clone(OURS[name]).fit(rows, codes)
    ours = fit_rule(clone(OURS[name]), rows, codes, 2 * classes)
    np.testing.assert_array_equal(predicted_codes(ours, new), theirs.predict(new))
    np.testing.assert_allclose(
        ours.probabilities(new)[:, ::2], theirs.predict_proba(new), atol=1e-12
    )


@pytest.mark.parametrize("name", OURS)
def test_a_name_is_a_classifier_on_the_labelled_target_rows(name: str) -> None:
    seed = {"random_state": 3} if name in ("random-forest", "extra-trees") else {}
    found = make(name, **seed).fit(X, Y, source=SOURCE)
    expected = clone(OURS[name]).fit(X[KNOWN], Y[KNOWN]).predict(X)
    np.testing.assert_array_equal(found.predict(X), expected)
    assert np.mean(found.transduction_ == TRUTH) > 0.7


@pytest.mark.parametrize(
    ("model", "inner"),
    [
        (Pooled(), OURS["logistic-regression"]),
        (make("pooled-random-forest", random_state=3), OURS["random-forest"]),
        (Pooled("extra-trees", random_state=3), OURS["extra-trees"]),
        (Pooled(GaussianNB()), GaussianNB()),
        (Pooled(KNeighborsClassifier(3)), KNeighborsClassifier(3)),
    ],
)
def test_pooled_rows_weigh_alike_in_both_domains(model: Any, inner: Any) -> None:
    n = len(SOURCE.X)
    rows = np.vstack([SOURCE.X[:, LEFT], X[KNOWN][:, RIGHT]])
    labels = np.r_[SOURCE.y, Y[KNOWN]]
    weights = np.r_[np.ones(n), np.full(KNOWN.sum(), n / KNOWN.sum())]
    takes = not isinstance(inner, KNeighborsClassifier)
    inner = clone(inner).fit(rows, labels, *([weights] if takes else []))
    found = model.fit(X, Y, source=SOURCE)
    np.testing.assert_array_equal(found.predict(X), inner.predict(X[:, RIGHT]))


@pytest.mark.parametrize("source_estimator", [None, GaussianNB()])
def test_stacked_sees_what_the_source_model_says(source_estimator: Any) -> None:
    first = source_estimator or OURS["logistic-regression"]
    told = clone(first).fit(SOURCE.X[:, LEFT], SOURCE.y).predict_proba(X[:, RIGHT])
    rows = np.hstack([3 * told, X])
    expected = clone(OURS["logistic-regression"]).fit(rows[KNOWN], Y[KNOWN])
    found = Stacked(source_estimator=source_estimator).fit(X, Y, source=SOURCE)
    np.testing.assert_array_equal(found.predict(X), expected.predict(rows))


def test_the_source_helps_through_shared_columns() -> None:
    few = np.full(len(X), -1)
    few[[np.flatnonzero(c == TRUTH)[0] for c in range(3)]] = range(3)
    alone = np.mean(make("logistic-regression").fit(X, few).predict(X) == TRUTH)
    for model in (Pooled(), Pooled("random-forest", random_state=0), Stacked()):
        both = np.mean(model.fit(X, few, source=SOURCE).transduction_ == TRUTH)
        assert both > alone + 0.01, model


def test_what_is_missing_is_named() -> None:
    bare = SourceDomain(SOURCE.X, SOURCE.y)
    for model in (Pooled(), Stacked()):
        with pytest.raises(ValueError, match="needs shared columns: pass SourceDomain"):
            model.fit(X, Y, source=bare)
    with pytest.raises(MethodFailed, match=r"above 1e\+30, up to .*Scale the columns"):
        make("shrunken-lda").fit(1e200 * X, Y)
    with pytest.raises(ValueError, match="'estimator' parameter of Pooled must be"):
        Pooled("forest").fit(X, Y, source=SOURCE)


def test_a_study_names_the_classifier_by_its_class() -> None:
    method = wrap_class("naive", ExternalMethod("cdspp:Pooled"))
    model = method(estimator={"class": "sklearn.naive_bayes:GaussianNB"})
    expected = Pooled(GaussianNB()).fit(X, Y, source=SOURCE).transduction_
    found = model.fit(X, Y, source=SOURCE).transduction_
    np.testing.assert_array_equal(found, expected)
    name = register_method(Pooled(GaussianNB()))
    assert make(name).display_name == "pooled (estimator=GaussianNB())"
