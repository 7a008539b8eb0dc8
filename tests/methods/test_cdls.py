"""CDLS: known minima of its programs, its weights, options and axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import NuSVC
from support.known_answers.known_problems import authors_problem, digits_problem
from support.literal_formulas import landmark_objective
from support.toy_problem import WIDE, ToyProblem, some_source, toy_problem

from cdspp import CDLS, CDLSSup
from cdspp.core.linalg import counts
from cdspp.methods.cdls.landmarks import (
    LandmarkProgram,
    ProjectedTarget,
    solve_landmarks,
)


def next_program(model: CDLS, problem: ToyProblem) -> LandmarkProgram:
    """Return the program that would follow the last iteration of a fitted model."""
    Z, labelled = model.transform(problem.X), problem.labelled
    return LandmarkProgram.build(
        model.transform_source(problem.source.X),
        problem.source.y,
        ProjectedTarget(
            Z[labelled], problem.y[labelled], Z[~labelled], len(model.classes_)
        ),
        model.history_[-1].prediction,
        model.delta,
    )


def dropped_constant(problem: ToyProblem, model: CDLS) -> float:
    """Return the part of the released code's objective that no weight enters."""
    labels, prediction = problem.y[problem.labelled], model.history_[-1].prediction
    s, t, u = (
        share * counts(codes, len(model.classes_))
        for share, codes in (
            (model.delta, problem.source.y),
            (1.0, labels),
            (model.delta, prediction),
        )
    )
    e = 1 / (s * u + u * t + t * s)
    norms = (model.transform(problem.X[problem.labelled]) ** 2).sum(axis=1)
    return float(0.5 * (s.sum() + u.sum()) * (e[labels] @ norms))


@pytest.mark.parametrize(
    ("iterations", "minimum"), [(1, 83.4032855), (2, 84.65589425), (5, 85.41424206)]
)
def test_programs_of_the_digits_case_have_the_known_minimum(
    iterations: int, minimum: float
) -> None:
    problem = digits_problem()
    model = problem.fit(CDLS(max_iter=iterations))
    program = next_program(model, problem)
    found = landmark_objective(program, solve_landmarks(program))
    found += dropped_constant(problem, model)
    assert found == pytest.approx(minimum, rel=1e-8)


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
    problem = authors_problem(reference_folder, name)
    program = next_program(problem.fit(CDLS(max_iter=1)), problem)
    found = landmark_objective(program, solve_landmarks(program))
    assert found == pytest.approx(minimum, rel=1e-8)


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


@pytest.mark.parametrize("option", ["mixed_normaliser", "norms_of_all_classes"])
def test_each_departure_from_the_objective_can_be_undone(option: str) -> None:
    problem = toy_problem()
    default = problem.fit(CDLS()).weights_source_
    faithful = problem.fit(CDLS(**{option: False})).weights_source_
    assert np.abs(default - faithful).max() > 0.1


@pytest.mark.parametrize(
    ("method", "possible"), [(CDLSSup, 12 - 1), (CDLS, 12 + 40 - 1)]
)
def test_axes_are_never_more_than_asked_for_or_possible(
    method: Any, possible: int
) -> None:
    problem = toy_problem(**WIDE)
    assert problem.fit(method()).projection_.shape == (90, possible)
    model = problem.fit(method(n_components=3))
    assert model.projection_.shape == (90, 3)
    assert model.projection_source_.shape == (60, 3)
    assert model.transform(problem.X).shape == (52, 3)


@pytest.mark.parametrize(
    "model",
    [CDLSSup(source_weight="rows"), CDLS(delta=1, source_weight="rows")],
    ids=["sup", "cdls"],
)
def test_classes_of_very_different_size_lower_nu_with_a_warning(model: Any) -> None:
    problem = toy_problem(spread=0.1)
    rows = np.repeat(np.arange(32), np.where(problem.source.y == 0, 20, 1))
    with pytest.warns(UserWarning, match="nu=0.5 .*large.*weigh"):
        some_source(problem, rows).fit(model)
    assert 0 < model.nu_ < 0.5
    assert problem.accuracy(model) > 0.9


@pytest.mark.parametrize("method", [CDLSSup, CDLS])
def test_a_source_row_weighs_by_the_sizes_per_class_or_by_those_of_the_domains(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights: list[float] = []

    class Machine(NuSVC):
        def fit(self, X: Any, y: Any, sample_weight: Any) -> Machine:
            weights.append(sample_weight[0] / sample_weight[-1])
            return super().fit(X, y, sample_weight=sample_weight)

    monkeypatch.setattr("cdspp.methods.cdls.cdls.NuSVC", Machine)
    # Of the fourth class the source has 2 rows in place of 8.
    problem = some_source(toy_problem(spread=0.5), np.arange(26))
    problem.fit(method())
    problem.fit(method(source_weight="rows"))
    assert weights[0] == pytest.approx(3 / 8)
    assert weights[-1] in (pytest.approx(12 / 26), pytest.approx(0.5 * 12 / 26))
