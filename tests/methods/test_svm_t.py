"""SVM_t: invariances, strategies, degenerate cases; Platt scaling against scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC
from support.toy_problem import toy_problem

from cdspp import SVMT, SourceDomain
from cdspp.methods.svm_t.platt import fit_sigmoid

STRATEGIES = ["platt", "decision", "ovo"]
strategies = pytest.mark.parametrize("strategy", STRATEGIES)


@strategies
@pytest.mark.parametrize("l2", [False, True])
@pytest.mark.parametrize("d_target", [3, 60])
def test_separated_classes_are_recognised(
    strategy: str, l2: bool, d_target: int
) -> None:
    problem = toy_problem(n_classes=3, d_target=d_target, spread=0.1, seed=2)
    model = problem.fit(SVMT(strategy=strategy, l2=l2, C=100.0, random_state=0))
    assert problem.accuracy(model) > 0.9


@strategies
def test_neither_source_nor_unlabelled_rows_are_looked_at(strategy: str) -> None:
    problem = toy_problem(spread=1.0)
    rng = np.random.default_rng(0)
    other = SourceDomain(rng.standard_normal((40, 3)), np.arange(40) % 4)
    X = problem.X.copy()
    X[problem.unlabelled] = rng.standard_normal(X[problem.unlabelled].shape)
    model = SVMT(strategy=strategy, random_state=0)
    expected = problem.fit(model).predict(problem.X)
    found = model.fit(X, problem.y, source=other).predict(problem.X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("strategy", ["decision", "ovo"])
def test_the_order_of_samples_does_not_matter(strategy: str) -> None:
    problem = toy_problem(spread=1.0)
    order = np.random.default_rng(1).permutation(len(problem.X))
    model = SVMT(strategy=strategy)
    expected = problem.fit(model).transduction_[order]
    found = model.fit(problem.X[order], problem.y[order]).transduction_
    assert np.mean(found == expected) >= 1 - 2 / len(found)


@pytest.mark.parametrize("strategy", ["decision", "ovo"])
@pytest.mark.parametrize("width", [7, 50])
def test_rotating_or_lifting_the_features_changes_nothing(
    strategy: str, width: int
) -> None:
    problem = toy_problem(spread=1.0)
    basis = np.linalg.qr(np.random.default_rng(3).standard_normal((width, width)))[0][
        :7
    ]
    model = SVMT(strategy=strategy)
    expected = model.fit(problem.X, problem.y).transduction_
    found = model.fit(problem.X @ basis, problem.y).transduction_
    np.testing.assert_array_equal(found, expected)


def test_decision_is_one_machine_a_class_against_the_rest() -> None:
    problem = toy_problem(spread=1.0)
    labelled = ~problem.unlabelled
    X, y = problem.X[labelled], problem.y[labelled]
    scores = [
        SVC(kernel="linear").fit(X, y == c).decision_function(problem.X)
        for c in range(4)
    ]
    found = problem.fit(SVMT(strategy="decision")).predict(problem.X)
    np.testing.assert_array_equal(found, np.argmax(scores, axis=0))


def test_ovo_is_the_machine_of_libsvm() -> None:
    problem = toy_problem(spread=1.0)
    labelled = ~problem.unlabelled
    machine = SVC(kernel="linear").fit(problem.X[labelled], problem.y[labelled])
    found = problem.fit(SVMT(strategy="ovo")).predict(problem.X)
    np.testing.assert_array_equal(found, machine.predict(problem.X))


def test_l2_scales_rows_to_unit_length_at_fit_and_at_predict() -> None:
    problem = toy_problem(spread=1.0)
    factors = np.random.default_rng(0).uniform(0.1, 10.0, (len(problem.X), 1))
    model = SVMT(strategy="ovo", l2=True)
    expected = model.fit(problem.X, problem.y).transduction_
    found = model.fit(problem.X * factors, problem.y).transduction_
    np.testing.assert_array_equal(found, expected)
    raw = SVMT(strategy="ovo").fit(problem.X * factors, problem.y).transduction_
    assert (raw != expected).any()


def test_the_seed_fixes_the_folds_and_only_platt_uses_it() -> None:
    problem = toy_problem(spread=1.0, unlabelled_per_class=40)

    def predictions(strategy: str) -> list[str]:
        models = [SVMT(strategy=strategy, random_state=seed) for seed in range(6)]
        return [str(problem.fit(model).transduction_.tolist()) for model in models]

    assert predictions("platt") == predictions("platt")
    assert len(set(predictions("platt"))) > 1
    assert len(set(predictions("decision"))) == 1


@strategies
def test_a_class_without_labelled_target_row_is_never_predicted(strategy: str) -> None:
    problem = toy_problem(spread=0.2)
    kept = (problem.y != 1) | problem.unlabelled
    model = SVMT(strategy=strategy, random_state=0)
    model.fit(problem.X[kept], problem.y[kept], source=problem.source)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert 1 not in model.transduction_


@strategies
def test_a_single_class_is_predicted_everywhere(strategy: str) -> None:
    model = SVMT(strategy=strategy).fit([[0.0], [1.0], [2.0]], [5, 5, -1])
    assert model.transduction_.tolist() == [5, 5, 5]


@strategies
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_one_label_a_class_is_enough(strategy: str, n_classes: int) -> None:
    problem = toy_problem(n_classes=n_classes, labelled_per_class=1, spread=0.1)
    model = problem.fit(SVMT(strategy=strategy, C=100.0, random_state=0))
    assert model.transduction_.shape == problem.y.shape
    assert set(model.transduction_) <= set(range(n_classes))


@strategies
def test_zero_rows_do_no_harm(strategy: str) -> None:
    problem = toy_problem()
    X = problem.X.copy()
    X[[0, -1]] = 0.0
    model = SVMT(strategy=strategy, l2=True, random_state=0).fit(X, problem.y)
    assert model.transduction_.shape == problem.y.shape


@pytest.mark.parametrize(
    ("option", "value"), [("strategy", "votes"), ("C", 0.0), ("l2", 1.5)]
)
def test_an_option_out_of_range_is_named(option: str, value: Any) -> None:
    problem = toy_problem()
    with pytest.raises(ValueError, match=f"'{option}' parameter of SVMT must be"):
        problem.fit(SVMT(**{option: value}))


def scalar_loss(theta: Any, values: list[float], positive: list[bool]) -> float:
    """Return the regularised negative log-likelihood, one sample after another."""
    n_positive = sum(positive)
    n_negative = len(positive) - n_positive
    total = 0.0
    for value, is_positive in zip(values, positive, strict=True):
        target = (
            (n_positive + 1) / (n_positive + 2) if is_positive else 1 / (n_negative + 2)
        )
        p = 1.0 / (1.0 + math.exp(theta[0] * value + theta[1]))
        total -= target * math.log(p) + (1 - target) * math.log(1 - p)
    return total


@pytest.mark.parametrize("seed", range(10))
def test_platt_scaling_finds_the_minimum_of_the_scalar_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positive = np.arange(30) < 4 + seed
    values = rng.standard_normal(30) + rng.choice([1.5, 0.0, -1.0]) * positive
    found = fit_sigmoid(values, positive)
    best = minimize(scalar_loss, [0.0, 0.0], (values.tolist(), positive.tolist()))
    np.testing.assert_allclose(found, best.x, atol=1e-3)
    loss = scalar_loss(found, values.tolist(), positive.tolist())
    assert loss <= best.fun + 1e-8


def test_platt_scaling_keeps_an_inverted_slope() -> None:
    positive = np.array([True, True, True, False, False, False])
    slope, _ = fit_sigmoid(np.array([-1.0, -2.0, -1.5, 1.0, 0.5, 2.0]), positive)
    assert slope > 0
    slope, _ = fit_sigmoid(np.array([1.0, 2.0, 1.5, -1.0, -0.5, -2.0]), positive)
    assert slope < 0


def test_platt_scaling_of_constant_values_gives_the_share_of_the_class() -> None:
    positive = np.arange(10) < 3
    slope, offset = fit_sigmoid(np.ones(10), positive)
    p = 1.0 / (1.0 + math.exp(slope + offset))
    assert p == pytest.approx((3 * 4 / 5 + 7 / 9) / 10, abs=1e-4)


def test_platt_scaling_survives_huge_values() -> None:
    positive = np.arange(8) < 4
    values = np.where(positive, 1e8, -1e8)
    assert np.isfinite(fit_sigmoid(values, positive)).all()
