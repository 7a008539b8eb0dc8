"""The map and the landmark weights of CDLS against scalars; the solver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from cdspp.core.linalg import class_sums, counts
from cdspp.methods.cdls.interior_point import solve_landmarks
from cdspp.methods.cdls.landmarks import LandmarkProgram
from cdspp.methods.cdls.source_map import ProjectedTarget, SourceMap


class Tiny:
    """A problem in the common subspace, small enough for loops over pairs."""

    def __init__(
        self, seed: int = 0, *, m: int = 3, n: tuple[int, int, int] = (9, 5, 11)
    ) -> None:
        rng = np.random.default_rng(seed)
        self.n_classes = 3
        self.source, self.labelled, self.unlabelled = (
            rng.standard_normal((k, m)) / 2 for k in n
        )
        self.source_codes, self.labelled_codes = (np.arange(k) % 3 for k in n[:2])
        self.prediction = rng.integers(0, 3, n[2])

    def target(self) -> ProjectedTarget:
        return ProjectedTarget(
            self.labelled, self.labelled_codes, self.unlabelled, self.n_classes
        )

    def program(self, delta: float = 0.5, **options: bool) -> LandmarkProgram:
        return LandmarkProgram.build(
            self.source,
            self.source_codes,
            self.target(),
            self.prediction,
            delta,
            **options,
        )


def scalar_pairs(
    p: Tiny, mapped: np.ndarray, alpha: np.ndarray, beta: np.ndarray, e: np.ndarray
) -> float:
    """Return the pair term, one pair after another."""

    def square(v: np.ndarray) -> float:
        return float(sum(value * value for value in v))

    total = 0.0
    for i, c in enumerate(p.source_codes):
        for k in np.flatnonzero(p.labelled_codes == c):
            total += e[c] * alpha[i] * square(mapped[i] - p.labelled[k])
        for j in np.flatnonzero(p.prediction == c):
            pair = square(mapped[i] - p.unlabelled[j])
            total += e[c] * alpha[i] * beta[j] * pair
    for j, c in enumerate(p.prediction):
        for k in np.flatnonzero(p.labelled_codes == c):
            total += e[c] * beta[j] * square(p.unlabelled[j] - p.labelled[k])
    return total


def scalar_means(
    p: Tiny,
    mapped: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    scales: Any,
) -> Iterator[np.ndarray]:
    """Yield the differences of the domains' means, of all rows and of each class."""
    for c in (None, *range(p.n_classes)):
        of_source, of_target = scales(c)
        difference = np.zeros(mapped.shape[1])
        for i, code in enumerate(p.source_codes):
            if c in (None, code):
                difference = difference + of_source * alpha[i] * mapped[i]
        for k, code in enumerate(p.labelled_codes):
            if c in (None, code):
                difference = difference - of_target * p.labelled[k]
        for j, code in enumerate(p.prediction):
            if c in (None, code):
                difference = difference - of_target * beta[j] * p.unlabelled[j]
        yield difference


def scalar_objective(
    p: Tiny, X: np.ndarray, A: np.ndarray, alpha: np.ndarray, beta: np.ndarray
) -> float:
    """Return the objective of the map, without the ridge."""
    a, t, u = class_weights(p, alpha, beta)

    def scales(c: int | None) -> tuple[float, float]:
        if c is None:
            return 1 / a.sum(), 1 / (t + u).sum()
        return 1 / a[c], 1 / (t[c] + u[c])

    means = scalar_means(p, X @ A, alpha, beta, scales)
    pairs = scalar_pairs(p, X @ A, alpha, beta, 1 / (a * u + u * t + t * a))
    return sum(float(v @ v) for v in means) + pairs


def class_weights(
    p: Tiny, alpha: np.ndarray, beta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights of source, labelled and unlabelled rows of each class."""
    return (
        np.bincount(p.source_codes, weights=alpha, minlength=3),
        counts(p.labelled_codes, 3),
        np.bincount(p.prediction, weights=beta, minlength=3),
    )


@pytest.mark.parametrize("d_source", [4, 40])
@pytest.mark.parametrize("unit_weights", [True, False])
def test_the_map_is_the_minimum_of_the_scalar_objective(
    d_source: int, unit_weights: bool
) -> None:
    p, ridge = Tiny(), 0.5
    rng = np.random.default_rng(1)
    X = rng.standard_normal((9, d_source))
    alpha, beta = np.ones(9), np.ones(11)
    if not unit_weights:
        alpha, beta = rng.uniform(0.1, 1, 9), rng.uniform(0.1, 1, 11)
        alpha[:2] = 0.0
    goals = p.target().goals(p.prediction, beta)
    mapped, A = SourceMap(X, p.source_codes, 3, ridge).fit(alpha, goals)
    np.testing.assert_allclose(mapped, X @ A, atol=1e-12)

    def loss(A: np.ndarray) -> float:
        return scalar_objective(p, X, A, alpha, beta) + ridge * float((A**2).sum())

    for _ in range(5):
        step = rng.standard_normal(A.shape)
        # The loss is quadratic: at its minimum both directions rise alike.
        assert loss(A + step) > loss(A)
        assert loss(A + step) == pytest.approx(loss(A - step), rel=1e-10)


def test_the_first_map_sees_unlabelled_rows_in_the_mean_alone() -> None:
    p = Tiny()
    goals = p.target().first_goals()
    everything = np.vstack([p.labelled, p.unlabelled])
    np.testing.assert_allclose(goals.mean, everything.mean(axis=0))
    assert not goals.pseudo.any()
    np.testing.assert_allclose(goals.sums, class_sums(p.labelled, p.labelled_codes, 3))
    X = np.random.default_rng(0).standard_normal((9, 6))
    _, A = SourceMap(X, p.source_codes, 3, 0.5).fit(np.ones(9), goals)
    # By hand: (M + ridge I) A = R with one mean, three class means and all rows.
    M, R = np.zeros((6, 6)), np.outer(X.mean(axis=0), goals.mean)
    M += np.outer(X.mean(axis=0), X.mean(axis=0)) + 0.5 * np.eye(6)
    for c in range(3):
        own, other = X[p.source_codes == c], p.labelled[p.labelled_codes == c]
        mean = own.mean(axis=0)
        M += np.outer(mean, mean) + own.T @ own / len(own)
        R += 2 * np.outer(mean, other.mean(axis=0))
    np.testing.assert_allclose(M @ A, R, atol=1e-12)


def scalar_program(
    p: Tiny, x: np.ndarray, delta: float, *, mixed: bool, all_classes: bool
) -> float:
    """Return half the objective of the weights as the released code has it."""
    alpha, beta = x[:9], x[9:]
    s, u = (delta * counts(c, 3) for c in (p.source_codes, p.prediction))
    t = counts(p.labelled_codes, 3)
    e = 1 / (s * u + u * t + t * s)
    a_all, b_all = 1 / s.sum(), 1 / (t + u).sum()

    def scales(c: int | None) -> tuple[float, float]:
        return (a_all, b_all) if c is None else (1 / s[c], 1 / (t[c] + u[c]))

    means = scalar_means(p, p.source, alpha, beta, scales)
    total = sum(float(v @ v) for v in means) + scalar_pairs(p, p.source, alpha, beta, e)
    if mixed:
        weighted = beta @ p.unlabelled
        total += (a_all * b_all - b_all**2) * float(weighted @ weighted)
    if all_classes:
        total += other_norms(p, alpha, beta, e)
    return total / 2


def other_norms(p: Tiny, alpha: np.ndarray, beta: np.ndarray, e: np.ndarray) -> float:
    """Return the squared norms of pairs of different classes, of weighted rows."""
    rows = [
        *zip(p.source, p.source_codes, alpha, ["source"] * 9, strict=True),
        *zip(p.unlabelled, p.prediction, beta, ["unlabelled"] * 11, strict=True),
        *zip(p.labelled, p.labelled_codes, np.ones(5), ["labelled"] * 5, strict=True),
    ]
    return sum(
        e[c] * weight * other_weight * float(z @ z)
        for z, c, weight, kind in rows
        for _, other, other_weight, other_kind in rows
        if kind not in (other_kind, "labelled") and c != other
    )


@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize("all_classes", [True, False])
def test_the_program_differs_from_the_scalar_one_by_a_constant(
    mixed: bool, all_classes: bool
) -> None:
    p, delta = Tiny(), 0.3
    options = {"mixed": mixed, "all_classes": all_classes}
    program = p.program(delta, mixed_normaliser=mixed, norms_of_all_classes=all_classes)
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(4):
        x = rng.uniform(size=20)
        # Any point that meets the equalities will do.
        x += ((program.group_sums - program.sums_of(x)) / sizes(program))[
            program.groups
        ]
        differences.append(
            scalar_program(p, x, delta, **options) - program.objective(x)
        )
    np.testing.assert_allclose(differences, differences[0], rtol=1e-10)


def sizes(program: LandmarkProgram) -> np.ndarray:
    """Return the number of samples of each group, one at least."""
    return np.maximum(counts(program.groups, 2 * program.n_classes), 1)


def hessian(program: LandmarkProgram) -> np.ndarray:
    """Return H, column after column."""
    return np.column_stack([program.product(e) for e in np.eye(len(program.rows))])


def assert_stationary(program: LandmarkProgram, x: np.ndarray) -> None:
    """Check the first-order conditions: equal slopes of the free weights of a group."""
    assert ((x >= 0) & (x <= 1)).all()
    np.testing.assert_allclose(program.sums_of(x), program.group_sums, atol=1e-8)
    slopes = program.product(x) + program.linear
    tolerance = 1e-6 * np.abs(slopes).max()
    for group in np.unique(program.groups):
        own = program.groups == group
        rising, falling = own & (x < 1 - 1e-4), own & (x > 1e-4)
        if rising.any() and falling.any():
            assert slopes[falling].max() <= slopes[rising].min() + tolerance


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("delta", [0.2, 0.5])
def test_the_solver_finds_the_minimum(seed: int, delta: float) -> None:
    program = Tiny(seed).program(delta)
    x = solve_landmarks(program)
    assert_stationary(program, x)
    H, scale = hessian(program), 1 / np.abs(program.linear).max()
    rng = np.random.default_rng(seed)
    indicator = np.eye(6)[:, program.groups]
    best = min(
        minimize(
            lambda v: scale * (0.5 * v @ H @ v + program.linear @ v),
            rng.uniform(size=20),
            jac=lambda v: scale * (H @ v + program.linear),
            bounds=[(0, 1)] * 20,
            constraints={
                "type": "eq",
                "fun": lambda v: indicator @ v - program.group_sums,
                "jac": lambda v: indicator,
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        ).fun
        for _ in range(3)
    )
    assert scale * program.objective(x) <= best + 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_the_solver_reaches_a_minimum_where_the_program_is_not_convex(
    seed: int,
) -> None:
    tiny = Tiny(seed, m=2, n=(30, 5, 40))
    program = tiny.program(0.5)
    concave = LandmarkProgram(
        rows=program.rows,
        groups=program.groups,
        between_domains=program.between_domains,
        within_classes=program.within_classes - 0.05,
        linear=0.05 * program.linear,
        delta=0.5,
    )
    assert np.linalg.eigvalsh(hessian(concave))[0] < -0.1
    x = solve_landmarks(concave)
    assert_stationary(concave, x)
    start = np.full(len(x), 0.5)
    assert concave.objective(x) < concave.objective(start)


def test_equal_samples_get_equal_weights() -> None:
    p = Tiny()
    p.unlabelled[1], p.prediction[1] = p.unlabelled[0], p.prediction[0]
    x = solve_landmarks(p.program())
    assert x[9] == pytest.approx(x[10], abs=1e-6)


def test_a_class_without_prediction_and_no_unlabelled_row_at_all_are_solved() -> None:
    p = Tiny()
    p.prediction[p.prediction == 1] = 0
    assert_stationary(p.program(), solve_landmarks(p.program()))
    p.prediction, p.unlabelled = p.prediction[:0], p.unlabelled[:0]
    assert_stationary(p.program(), solve_landmarks(p.program()))


def test_rows_of_zeros_leave_the_weights_at_delta() -> None:
    p = Tiny()
    p.source, p.labelled, p.unlabelled = (
        np.zeros_like(rows) for rows in (p.source, p.labelled, p.unlabelled)
    )
    np.testing.assert_array_equal(solve_landmarks(p.program(0.25)), 0.25)


def test_both_forms_of_the_map_give_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    p = Tiny()
    X, weights = rng.standard_normal((9, 8)), rng.uniform(0.1, 1.0, 9)
    goals = p.target().first_goals()
    lifted = X @ np.linalg.qr(rng.standard_normal((50, 8)))[0].T
    narrow = SourceMap(X, p.source_codes, 3, 0.5).fit(weights, goals)[0]
    wide = SourceMap(lifted, p.source_codes, 3, 0.5).fit(weights, goals)[0]
    np.testing.assert_allclose(wide, narrow, atol=1e-12)
