"""CDLS: known minima of its programs, its weights, options and axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat
from support.known_answers.digits_case import digits_case
from support.toy_problem import WIDE, ToyProblem, some_source, toy_problem

from cdspp import CDLS, CDLSSup, SourceDomain
from cdspp.core.linalg import counts
from cdspp.methods.cdls.interior_point import solve_landmarks
from cdspp.methods.cdls.landmarks import LandmarkProgram
from cdspp.methods.cdls.source_map import ProjectedTarget

METHODS = [CDLSSup, CDLS]
both = pytest.mark.parametrize("method", METHODS)


def next_program(model: CDLS, problem: ToyProblem) -> LandmarkProgram:
    """Return the program that would follow the last round of a fitted model."""

    def codes_of(labels: Any) -> np.ndarray:
        return np.searchsorted(model.classes_, labels)

    Z, labelled = model.transform(problem.X), ~problem.unlabelled
    target = ProjectedTarget(
        Z[labelled], codes_of(problem.y[labelled]), Z[~labelled], len(model.classes_)
    )
    return LandmarkProgram.build(
        model.transform_source(problem.source.X),
        codes_of(problem.source.y),
        target,
        codes_of(model.history_[-1].prediction),
        model.delta,
    )


def dropped_constant(problem: ToyProblem, model: CDLS) -> float:
    """Return the part of the released code's objective that no weight enters."""
    labels, delta = problem.y[~problem.unlabelled], model.delta
    s, t, u = (
        counts(np.searchsorted(model.classes_, y), len(model.classes_))
        for y in (problem.source.y, labels, model.history_[-1].prediction)
    )
    s, u = delta * s, delta * u
    e = 1 / (s * u + u * t + t * s)
    norms = (model.transform(problem.X[~problem.unlabelled]) ** 2).sum(axis=1)
    own = e[np.searchsorted(model.classes_, labels)]
    return float(0.5 * (s.sum() + u.sum()) * (own @ norms))


def test_programs_of_the_digits_case_have_the_known_minimum() -> None:
    case = digits_case()
    X, y = case.target()
    problem = ToyProblem(X, y, y, SourceDomain(case.X_source, case.y_source))
    for rounds, value in ((1, 83.4032855), (2, 84.65589425), (5, 85.41424206)):
        model = problem.fit(CDLS(max_iter=rounds))
        program = next_program(model, problem)
        found = program.objective(solve_landmarks(program))
        found += dropped_constant(problem, model)
        assert found == pytest.approx(value, rel=1e-8)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "minimum"),
    [
        ("oc_surf-caltech10_GoogleNet1024-webcam", 33.790203236),
        ("oc_surf-amazon_GoogleNet1024-dslr", 31.232201257),
        ("mrc_EN_SP", 11.291868827),
        ("tit_decaf-webcam_surf-dslr", 31.139788080),
    ],
)
def test_the_first_program_of_the_authors_cases_has_the_known_minimum(
    name: str, minimum: float, reference_folder: Path
) -> None:
    case = loadmat(reference_folder / "cases" / f"{name}_trial1.mat")
    source = SourceDomain(case["Xs"], case["ys"].ravel().astype(int))
    y = np.concatenate([case["yt"].ravel().astype(int), np.full(case["yu"].size, -1)])
    problem = ToyProblem(np.vstack([case["Xt"], case["Xu"]]), y, y, source)
    program = next_program(problem.fit(CDLS(max_iter=1)), problem)
    x = solve_landmarks(program)
    assert program.objective(x) == pytest.approx(minimum, rel=1e-8)


def test_weights_keep_their_share_of_each_class() -> None:
    problem = toy_problem(spread=0.8)
    model = problem.fit(CDLS(delta=0.25))
    weights = model.weights_source_
    assert ((weights >= 0) & (weights <= 1)).all()
    sums = np.bincount(problem.source.y, weights=weights)
    np.testing.assert_allclose(sums, 0.25 * 8, atol=1e-8)
    before = model.history_[-2].prediction
    sums = np.bincount(before, weights=model.weights_unlabelled_)
    np.testing.assert_allclose(sums, 0.25 * np.bincount(before), atol=1e-8)
    selected = [entry.n_selected for entry in model.history_]
    assert selected[0] == 0
    assert selected[-1] == np.sum(model.weights_unlabelled_ >= 1e-9) < 40


def test_delta_of_one_selects_nothing() -> None:
    problem = toy_problem(spread=0.8)
    model = problem.fit(CDLS(delta=1))
    np.testing.assert_array_equal(model.weights_source_, 1.0)
    np.testing.assert_array_equal(model.weights_unlabelled_, 1.0)
    assert [e.n_selected for e in model.history_] == [0, 40, 40, 40, 40]


def test_fewer_rounds_are_the_first_ones() -> None:
    problem = toy_problem(spread=1.0)
    longer = problem.fit(CDLS()).history_
    for rounds in (1, 3):
        shorter = problem.fit(CDLS(max_iter=rounds)).history_
        assert len(shorter) == rounds
        for entry, other in zip(shorter, longer, strict=False):
            np.testing.assert_array_equal(entry.prediction, other.prediction)


@pytest.mark.parametrize("option", ["mixed_normaliser", "norms_of_all_classes"])
def test_each_departure_from_the_objective_can_be_undone(option: str) -> None:
    problem = toy_problem()
    default, faithful = (
        problem.fit(model).weights_source_
        for model in (CDLS(), CDLS(**{option: False}))
    )
    assert np.abs(default - faithful).max() > 0.1


@both
def test_axes_are_never_more_than_asked_for_or_possible(method: Any) -> None:
    problem = toy_problem(**WIDE)
    labelled = method is CDLSSup
    possible = 12 - 1 if labelled else 12 + 40 - 1
    assert problem.fit(method()).projection_.shape == (90, possible)
    model = problem.fit(method(n_components=3))
    assert model.projection_.shape == (90, 3)
    assert model.projection_source_.shape == (60, 3)
    assert model.transform(problem.X).shape == (52, 3)


@both
def test_classes_of_very_different_size_lower_nu_with_a_warning(method: Any) -> None:
    problem = toy_problem(spread=0.1)
    options = {"delta": 1} if method is CDLS else {}
    rows = np.repeat(np.arange(32), np.where(problem.source.y == 0, 20, 1))
    with pytest.warns(UserWarning, match="nu=0.5 is too large for classes that weigh"):
        model = some_source(problem, rows).fit(method(**options))
    assert 0 < model.nu_ < 0.5
    assert problem.accuracy(model) > 0.9


@both
def test_zero_rows_and_duplicates_do_no_harm(method: Any) -> None:
    problem = toy_problem(spread=0.3)
    X = np.vstack([problem.X, problem.X, np.zeros((1, 7))])
    y = np.concatenate([problem.y, problem.y, [-1]])
    model = method().fit(X, y, source=problem.source)
    first, second = model.transduction_[:52], model.transduction_[52:104]
    np.testing.assert_array_equal(first, second)
    zeros = method().fit(0 * problem.X, problem.y, source=problem.source)
    assert zeros.projection_.shape == (7, 0)
    assert (zeros.transduction_[problem.unlabelled] == 0).all()
