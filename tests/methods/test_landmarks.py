"""The map and the landmark weights of CDLS against scalars; the solver."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support.literal_formulas import landmark_objective

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import class_sums, counts
from cdspp.methods.cdls import landmarks
from cdspp.methods.cdls.landmarks import (
    LandmarkProgram,
    ProjectedTarget,
    solve_landmarks,
)


class Tiny:
    """A problem in the common subspace, small enough for loops over pairs."""

    def __init__(
        self, seed: int = 0, *, m: int = 3, n: tuple[int, int, int] = (9, 5, 11)
    ) -> None:
        rng = np.random.default_rng(seed)
        self.source, self.labelled, self.unlabelled = (
            rng.standard_normal((k, m)) / 2 for k in n
        )
        self.source_codes, self.labelled_codes = (np.arange(k) % 3 for k in n[:2])
        self.prediction = rng.integers(0, 3, n[2])

    def target(self) -> ProjectedTarget:
        return ProjectedTarget(self.labelled, self.labelled_codes, self.unlabelled, 3)

    def program(self, delta: float = 0.5, **options: bool) -> LandmarkProgram:
        rows = (self.source, self.source_codes, self.target(), self.prediction)
        return LandmarkProgram.build(*rows, delta, **options)


def samples(
    p: Tiny, mapped: np.ndarray, alpha: np.ndarray, beta: np.ndarray
) -> list[list[tuple[np.ndarray, int, float]]]:
    """Return row, class and weight of source, unlabelled and labelled samples."""
    sets = (
        (mapped, p.source_codes, alpha),
        (p.unlabelled, p.prediction, beta),
        (p.labelled, p.labelled_codes, np.ones(len(p.labelled))),
    )
    return [list(zip(*columns, strict=True)) for columns in sets]


def scalar_terms(
    p: Tiny,
    mapped: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    s: np.ndarray,
    u: np.ndarray,
) -> float:
    """Return the terms of means and of pairs, where the classes weigh s and u."""
    t = counts(p.labelled_codes, 3)
    target = np.vstack([p.labelled, beta[:, None] * p.unlabelled])
    of_source = class_sums(alpha[:, None] * mapped, p.source_codes, 3)
    of_target = class_sums(target, np.hstack([p.labelled_codes, p.prediction]), 3)
    gap = of_source.sum(axis=0) / s.sum() - of_target.sum(axis=0) / (t + u).sum()
    gaps = of_source / s[:, None] - of_target / (t + u)[:, None]
    e = 1 / (s * u + u * t + t * s)
    sets = samples(p, mapped, alpha, beta)
    pairs = sum(
        e[c] * weight * other_weight * float((z - other) @ (z - other))
        for one_set, other_set in itertools.combinations(sets, 2)
        for z, c, weight in one_set
        for other, other_c, other_weight in other_set
        if c == other_c
    )
    return float(gap @ gap) + float((gaps**2).sum()) + pairs


def scalar_program(p: Tiny, x: np.ndarray, delta: float) -> float:
    """Return half the objective of the weights as the paper has it."""
    alpha, beta = x[:9], x[9:]
    s, u = (delta * counts(c, 3) for c in (p.source_codes, p.prediction))
    return scalar_terms(p, p.source, alpha, beta, s, u) / 2


def sums_of(program: LandmarkProgram, x: np.ndarray) -> np.ndarray:
    """Return the sum of `x` over each group."""
    return np.bincount(program.groups, x, 2 * program.n_classes)


def test_the_program_differs_from_the_scalar_one_by_a_constant() -> None:
    """That of the released code, the default, has minima that test_cdls.py knows."""
    p, delta = Tiny(), 0.3
    program = p.program(delta, mixed_normaliser=False, norms_of_all_classes=False)
    sizes = np.maximum(counts(program.groups, 6), 1)
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(4):
        x = rng.uniform(size=20)
        # Any point that meets the equalities will do.
        x += ((program.group_sums - sums_of(program, x)) / sizes)[program.groups]
        scalar = scalar_program(p, x, delta)
        differences.append(scalar - landmark_objective(program, x))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-10)


def hessian(program: LandmarkProgram) -> np.ndarray:
    """Return H, column after column."""
    return np.column_stack([program.product(e) for e in np.eye(len(program.rows))])


def assert_stationary(program: LandmarkProgram, x: np.ndarray) -> None:
    """Check the first-order conditions: equal slopes of the free weights of a group."""
    assert ((x >= 0) & (x <= 1)).all()
    np.testing.assert_allclose(sums_of(program, x), program.group_sums, atol=1e-8)
    slopes = program.product(x) + program.linear
    tolerance = 1e-6 * np.abs(slopes).max()
    for group in np.unique(program.groups):
        own = program.groups == group
        rising, falling = own & (x < 1 - 1e-4), own & (x > 1e-4)
        if rising.any() and falling.any():
            assert slopes[falling].max() <= slopes[rising].min() + tolerance


def test_the_solver_reaches_a_minimum_where_the_program_is_not_convex() -> None:
    program = Tiny(m=2, n=(30, 5, 40)).program(0.5)
    concave = replace(
        program,
        within_classes=program.within_classes - 0.05,
        linear=0.05 * program.linear,
    )
    assert np.linalg.eigvalsh(hessian(concave))[0] < -0.1
    x = solve_landmarks(concave)
    assert_stationary(concave, x)
    assert landmark_objective(concave, x) < landmark_objective(
        concave, np.full(len(x), 0.5)
    )


def test_a_class_without_prediction_and_no_unlabelled_row_at_all_are_solved() -> None:
    p = Tiny()
    p.prediction[p.prediction == 1] = 0
    assert_stationary(p.program(), solve_landmarks(p.program()))
    p.prediction, p.unlabelled = p.prediction[:0], p.unlabelled[:0]
    assert_stationary(p.program(), solve_landmarks(p.program()))


def test_rows_of_zeros_leave_the_weights_at_delta() -> None:
    p = Tiny()
    for rows in (p.source, p.labelled, p.unlabelled):
        rows[:] = 0.0
    np.testing.assert_array_equal(solve_landmarks(p.program(0.25)), 0.25)


def test_weights_that_wander_along_a_flat_direction_have_converged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Tiny().program()
    results: list[float] = []

    def wander(width: float, program: LandmarkProgram) -> np.ndarray | None:
        results.append(width * (len(results) % 2))
        return np.full(20, results[-1]) if program.curvature else None

    monkeypatch.setattr(landmarks, "_minimise", partial(wander, 1e-4))
    assert solve_landmarks(program).max() <= 1e-4
    assert len(results) == 102
    monkeypatch.setattr(landmarks, "_minimise", partial(wander, 1e-2))
    with pytest.raises(MethodFailed, match="did not converge"):
        solve_landmarks(program)
