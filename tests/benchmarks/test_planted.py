"""Planted problems: the geometry that is asked for is there, and methods feel it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.planted import GEOMETRIES, Planted, PlantedProblem
from cdspp.methods import make

# Many classes in a wide latent space, so that correlations are sure.
MANY = Planted(n_classes=300, n_latent=30, n_source=1, n_labelled=1, n_unlabelled=0)


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def accuracy(problem: PlantedProblem) -> float:
    model = make("cdspp").fit(problem.X, problem.y, source=problem.source)
    right = model.transduction_[problem.unlabelled] == problem.hidden
    return float(right.mean())


def test_a_problem_has_the_size_asked_for() -> None:
    problem = Planted(
        n_classes=4, n_source=6, n_labelled=2, n_unlabelled=5, d_source=9, d_target=7
    ).draw(0)
    assert problem.X.shape == (28, 7)
    assert problem.source.X.shape == (24, 9)
    assert np.bincount(problem.source.y).tolist() == [6] * 4
    assert np.bincount(problem.truth).tolist() == [7] * 4
    assert np.bincount(problem.y[~problem.unlabelled]).tolist() == [2] * 4
    np.testing.assert_array_equal(problem.hidden, np.repeat(range(4), 5))


def test_labels_that_are_given_are_true() -> None:
    for problem in (Planted().draw(0), Planted().draw(0).split(1)):
        known = ~problem.unlabelled
        np.testing.assert_array_equal(problem.y[known], problem.truth[known])


def test_problems_are_drawn_by_the_seed() -> None:
    first, again, other = (Planted().draw(seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.source.X, again.source.X)
    assert not np.any(first.X == other.X)
    assert not np.any(first.source.X == other.source.X)


@pytest.mark.parametrize(
    "change", [{"geometry": g} for g in GEOMETRIES] + [{"shared": 0.3}]
)
def test_the_target_is_the_same_whatever_the_source_has_of_it(
    change: dict[str, Any],
) -> None:
    base, changed = Planted().draw(3), replace(Planted(), **change).draw(3)
    np.testing.assert_array_equal(base.X, changed.X)
    np.testing.assert_array_equal(base.y, changed.y)


def test_a_split_labels_other_rows_of_the_same_problem() -> None:
    problem = Planted(n_classes=3, n_labelled=2, n_unlabelled=20).draw(0)
    first, again, other = (problem.split("a", trial) for trial in (1, 1, 2))
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)
    assert first.X is problem.X
    assert first.source is problem.source
    for split in (first, other, first.split(5)):
        assert np.bincount(split.y[~split.unlabelled]).tolist() == [2] * 3


def test_misleading_centres_lie_alike_but_belong_to_other_classes() -> None:
    for seed in range(20):
        problem = Planted("misleading", n_classes=2 + seed % 4).draw(seed)
        target, source = problem.centres_target, problem.centres_source
        same = (source[:, None] == target[None]).all(axis=2)
        np.testing.assert_array_equal(same.sum(axis=0), 1)
        np.testing.assert_array_equal(same.sum(axis=1), 1)
        assert not same.diagonal().any()


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("geometry", ["shared", "means"])
def test_shared_is_the_correlation_of_centres(geometry: str, shared: float) -> None:
    problem = replace(MANY, geometry=geometry, shared=shared).draw(1)
    source, target = problem.centres_source, problem.centres_target
    assert correlation(source, target) == pytest.approx(shared, abs=0.04)
    assert np.std(source) == pytest.approx(1, abs=0.05)


def test_rows_lie_around_their_centres_as_the_formula_says() -> None:
    planted = Planted(n_classes=3, n_labelled=1, n_unlabelled=1999, n_latent=3)
    problem = replace(planted, n_source=2000, noise=0.3, spread=0.7).draw(0)
    still = replace(planted, n_source=2000, noise=0.0, spread=0.0).draw(0)
    for rows, quiet, codes in (
        (problem.X, still.X, problem.truth),
        (*(p.source.X for p in (problem, still)), problem.source.y),
    ):
        # Without spread and noise a row is its centre, seen through the view.
        assert np.linalg.matrix_rank(quiet) == 3
        scatter = rows - quiet
        for code in range(3):
            assert np.ptp(quiet[codes == code], axis=0).max() < 1e-12
            mean = scatter[codes == code].mean(axis=0)
            error = scatter[codes == code].std(axis=0) / 2000**0.5
            assert np.abs(mean / error).max() < 5
        # Three directions of spread, and noise of 0.3 in all the others.
        sizes = np.linalg.eigvalsh(np.cov(scatter.T))
        np.testing.assert_allclose(sizes[:-3], 0.3**2, rtol=0.1)
        assert sizes[-1] > 5 * 0.3**2


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("geometry", "flat", "one of shared, means, none, misleading, got 'flat'"),
        ("shared", 1.1, r"in \[0, 1\], got 1.1"),
        ("n_classes", 1, "2 at least, got 1"),
        ("noise", float("nan"), "0 at least, got nan"),
    ],
)
def test_a_parameter_out_of_range_is_named(name: str, value: Any, told: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must .*{told}"):
        Planted(**{name: value})


def test_a_source_is_worth_what_it_has_of_the_target() -> None:
    found = {
        geometry: np.mean(
            [accuracy(Planted(geometry, n_labelled=1).draw(seed)) for seed in range(10)]
        )
        for geometry in GEOMETRIES
    }
    assert found["shared"] > found["misleading"] + 0.1
    assert found["means"] > found["none"] + 0.1
