"""DDACL: against dense formulas and known traces; invariances of its searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from support.known_answers.digits_case import digits_case
from support.toy_problem import (
    SHAPES,
    WIDE,
    ToyProblem,
    doubled,
    renamed,
    shuffled,
    stretched,
    toy_problem,
    variant,
)

from cdspp import DDACL, SourceDomain
from cdspp.core.linalg import row_normalise
from cdspp.methods.ddacl import ddacl
from cdspp.methods.ddacl.distribution_alignment import Reduced
from cdspp.methods.ddacl.lbfgs import Minimum, Objective, minimise

# The authors' code from the values that seed 7 gives on the digits: after each stage,
# and after each line search of the first stage and of the first round.
DIGITS_STAGES = [0.15211165, 0.22135834, 0.21307928, 0.21151266, 0.2108234, 0.21093623]
DIGITS_ACCURACY = [0.77, 0.776667, 0.77, 0.763333, 0.763333]
DIGITS_FIRST_STAGE = [
    *(2.30305003, 2.26403571, 1.95416493, 1.91359575, 1.14291956, 0.83429313),
    *(0.55795263, 0.41523784, 0.27788787, 0.23421551, 0.19895903, 0.18578138),
    *(0.17859582, 0.17341417, 0.16653518, 0.16189764, 0.16030994, 0.15786219),
    *(0.15418327, 0.15304557, 0.15211165),
]
DIGITS_FIRST_ROUND = [
    *(2.53285269, 1.82354089, 1.00776632, 0.6979756, 0.46065754, 0.37996742),
    *(0.35947274, 0.32558544, 0.28941704, 0.26801303, 0.2570527, 0.2499954),
    *(0.24575678, 0.23879089, 0.23427187, 0.23080816, 0.22930051, 0.22671744),
    *(0.2250764, 0.22312328, 0.22135834),
]

# Bounded below: the class means of these problems scatter widely.
BOUNDED: dict[str, Any] = {"tau": 0.0005, "random_state": 0}
Searches = list[Minimum]
every_shape = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture
def minima(monkeypatch: pytest.MonkeyPatch) -> Searches:
    """Return the list to which every minimisation of a fit is added."""
    found: Searches = []

    def record(objective: Objective, x: np.ndarray, n_line_searches: int) -> Minimum:
        found.append(minimise(objective, x, n_line_searches))
        return found[-1]

    monkeypatch.setattr(ddacl, "minimise", record)
    return found


def test_the_digits_case_follows_the_authors_objective(minima: Searches) -> None:
    case = digits_case()
    source = SourceDomain(case.X_source, case.y_source)
    model = DDACL(random_state=7).fit(*case.target(), source=source)
    np.testing.assert_allclose(model.objective_, DIGITS_STAGES, atol=1e-7)
    np.testing.assert_allclose(minima[0].trace, DIGITS_FIRST_STAGE, atol=1e-8)
    np.testing.assert_allclose(minima[1].trace, DIGITS_FIRST_ROUND, atol=1e-8)
    assert [entry.n_selected for entry in model.history_] == [300] * 5
    found = [np.mean(e.prediction == case.y_unlabelled) for e in model.history_]
    np.testing.assert_allclose(found, DIGITS_ACCURACY, atol=1e-6)


class Dense:
    """The objective by its matrices over all samples; nothing is saved."""

    def __init__(self, model: DDACL, problem: ToyProblem, labels: np.ndarray) -> None:
        self.model = model
        self.Xs = row_normalise(problem.source.X)
        self.Xt = row_normalise(problem.X)
        self.ys, self.labels = problem.source.y, labels
        self.known = ~problem.unlabelled
        self.n_classes = len(np.unique(self.ys))
        self.discrepancy = self._discrepancy()
        self.laplacian = self._laplacian()

    def _discrepancy(self) -> np.ndarray:
        n_source, n_target = len(self.Xs), len(self.Xt)
        vectors = [
            np.r_[np.full(n_source, 1 / n_source), np.full(n_target, -1 / n_target)]
        ]
        for code in range(self.n_classes):
            of_source, of_target = self.ys == code, self.labels == code
            vectors.append(
                np.r_[of_source / of_source.sum(), -1.0 * of_target / of_target.sum()]
            )
        total = sum(np.outer(vector, vector) for vector in vectors)
        return np.asarray(total / np.linalg.norm(total))

    def _laplacian(self) -> np.ndarray:
        C = self.n_classes
        graph = np.full((C, C), 1 / C**2)
        np.fill_diagonal(graph, 0.0)
        degrees = graph.sum(axis=1)
        return np.eye(C) - graph / np.sqrt(np.outer(degrees, degrees))

    def means(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        rows = [X[labels == code].mean(axis=0) for code in range(self.n_classes)]
        return np.array(rows)

    def entropy(self, X: np.ndarray, y: np.ndarray, P: Any, W: Any, b: Any) -> float:
        total = 0.0
        for row, code in zip(X, y, strict=True):
            exponentials = np.exp(row @ P @ W.T + b)
            total -= np.log(exponentials[code] / exponentials.sum())
        return total / len(X)

    def value(self, W: Any, b: Any, Ps: Any, Pt: Any) -> float:
        model = self.model
        known, labels = self.known, self.labels[self.known]
        value = self.entropy(self.Xt[known], labels, Pt, W, b)
        value += self.entropy(self.Xs, self.ys, Ps, W, b)
        Z = np.vstack([self.Xs @ Ps, self.Xt @ Pt])
        value += model.beta / 2 * np.trace(Z.T @ self.discrepancy @ Z)
        for X, y, P in ((self.Xs, self.ys, Ps), (self.Xt, self.labels, Pt)):
            M = self.means(X, y) @ P
            value -= model.tau / 2 * np.trace(M.T @ self.laplacian @ M)
        squares = (W**2).sum() + (Ps**2).sum() + (Pt**2).sum()
        return float(value + model.ridge / 2 * squares)


@every_shape
def test_each_stage_ends_at_the_value_of_the_dense_formulas(shape: str) -> None:
    problem = toy_problem(**SHAPES[shape])
    for max_iter in (1, 2):
        model = problem.fit(DDACL(max_iter=max_iter, n_components=6, random_state=1))
        before = problem.fit(DDACL(max_iter=1, n_components=6, random_state=1))
        labels = before.transduction_ if max_iter == 2 else first_labels(problem)
        found = Dense(model, problem, labels).value(
            model.coef_,
            model.intercept_,
            model.projection_source_,
            model.projection_,
        )
        assert found == pytest.approx(model.objective_[-1], rel=1e-10)


def first_labels(problem: ToyProblem) -> np.ndarray:
    """Return the labels after the first stage, which sees no source."""
    model = DDACL(max_iter=1, n_components=6, random_state=1)
    seen: list[np.ndarray] = []

    class Spy(DDACL):
        def _fit_domains(self, prepared: Any, codes: np.ndarray) -> None:
            seen.append(codes)
            super()._fit_domains(prepared, codes)

    problem.fit(Spy(**model.get_params()))
    labels = problem.y.copy()
    labels[problem.unlabelled] = seen[0]
    return labels


@every_shape
@pytest.mark.parametrize("tau", [0.0, 0.002, 0.3])
def test_the_gradient_is_the_slope_of_the_dense_value(shape: str, tau: float) -> None:
    problem = toy_problem(n_classes=3, source_per_class=3, **SHAPES[shape])
    seen: list[tuple[Objective, np.ndarray]] = []
    model = DDACL(beta=0.5, tau=tau, n_components=2, max_iter=1, random_state=0)

    def record(objective: Objective, x: np.ndarray, n_line_searches: int) -> Minimum:
        seen.append((objective, x))
        return minimise(objective, x, n_line_searches)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ddacl, "minimise", record)
        problem.fit(model)
    rng = np.random.default_rng(0)
    for objective, x in seen:
        x = x + 0.3 * rng.standard_normal(len(x))
        expected = approx_fprime(x, lambda v, f=objective: f(v)[0], 1e-7)
        np.testing.assert_allclose(objective(x)[1], expected, atol=2e-6)


def test_without_the_reduction_the_trace_is_the_same(
    minima: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem(**WIDE)
    reduced = problem.fit(DDACL(**BOUNDED))
    traces = [found.trace for found in minima]
    sizes = [len(found.x) for found in minima]
    minima.clear()

    class Full(Reduced):
        def __init__(self, rows: np.ndarray, projection: np.ndarray) -> None:
            self.rows, self.projection, self._basis = rows, projection, None

    monkeypatch.setattr(ddacl, "Reduced", Full)
    full = problem.fit(DDACL(**BOUNDED))
    assert all(a < len(b.x) for a, b in zip(sizes, minima, strict=True))
    for short, found in zip(traces, minima, strict=True):
        np.testing.assert_allclose(short, found.trace, rtol=1e-9)
    np.testing.assert_array_equal(full.transduction_, reduced.transduction_)
    np.testing.assert_allclose(full.projection_, reduced.projection_, atol=1e-6)
    np.testing.assert_allclose(
        full.projection_source_, reduced.projection_source_, atol=1e-6
    )


def fitted(problem: ToyProblem, model: DDACL, minima: Searches) -> tuple[Any, Searches]:
    """Return a fitted model with the searches of its fit."""
    minima.clear()
    return problem.fit(model), list(minima)


def assert_same_course(found: Searches, expected: Searches) -> None:
    """Compare the searches of two fits that differ by rounding alone.

    A search ends after 20 steps wherever it is, and the next one goes on from there:
    by the third round both walk along a valley where rounding decides more than a step
    gains. The course is compared down to there, and then the ends, within what their
    round gained.
    """
    for ours, theirs in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(ours.trace, theirs.trace, rtol=1e-6)
    for ours, theirs in zip(found[3:], expected[3:], strict=True):
        gain = theirs.trace[0] - theirs.trace[-1]
        end = theirs.trace[-1]
        assert ours.trace[-1] == pytest.approx(end, rel=1e-9, abs=gain)


def start_from(change: Callable[[DDACL, np.ndarray], np.ndarray]) -> type[DDACL]:
    """Return DDACL with other initial values."""

    class Changed(DDACL):
        def _draw(self, problem: Any) -> np.ndarray:
            return change(self, super()._draw(problem))

    return Changed


@every_shape
def test_rotating_the_features_rotates_the_projections(
    shape: str, minima: Searches
) -> None:
    problem = toy_problem(**SHAPES[shape])
    rng = np.random.default_rng(0)
    widths = problem.source.X.shape[1], problem.X.shape[1]
    Rs, Rt = (np.linalg.qr(rng.standard_normal((d, d)))[0] for d in widths)

    def rotate(model: DDACL, projection: np.ndarray) -> np.ndarray:
        model.projection_ = Rt.T @ model.projection_
        return Rs.T @ projection

    turned = variant(problem, X=problem.X @ Rt, X_source=problem.source.X @ Rs)
    found, course = fitted(turned, start_from(rotate)(**BOUNDED), minima)
    expected, usual = fitted(problem, DDACL(**BOUNDED), minima)
    assert_same_course(course, usual)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_renaming_the_classes_renames_the_labels(minima: Searches) -> None:
    problem = toy_problem()
    names = np.array([2, 0, 3, 1])

    def reorder(model: DDACL, projection: np.ndarray) -> np.ndarray:
        order = np.argsort(names)
        model.coef_, model.intercept_ = model.coef_[order], model.intercept_[order]
        return projection

    model = start_from(reorder)(**BOUNDED)
    found, course = fitted(renamed(problem, names), model, minima)
    expected, usual = fitted(problem, DDACL(**BOUNDED), minima)
    assert_same_course(course, usual)
    np.testing.assert_array_equal(found.transduction_, names[expected.transduction_])


@every_shape
def test_the_order_of_samples_does_not_matter(shape: str, minima: Searches) -> None:
    problem = toy_problem(**SHAPES[shape])
    other, order = shuffled(problem)
    expected, usual = fitted(problem, DDACL(**BOUNDED), minima)
    model, course = fitted(other, DDACL(**BOUNDED), minima)
    assert_same_course(course, usual)
    np.testing.assert_array_equal(model.transduction_, expected.transduction_[order])


def test_every_sample_twice_changes_nothing_but_the_weight_of_the_gap(
    minima: Searches,
) -> None:
    problem = toy_problem()
    # The norm of the discrepancy's weights halves.
    course = fitted(doubled(problem), DDACL(beta=0.001, **BOUNDED), minima)[1]
    usual = fitted(problem, DDACL(beta=0.002, **BOUNDED), minima)[1]
    assert_same_course(course, usual)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_rows_are_scaled_to_unit_length(scale: float, minima: Searches) -> None:
    problem = toy_problem()
    found, course = fitted(stretched(problem, scale), DDACL(**BOUNDED), minima)
    expected, usual = fitted(problem, DDACL(**BOUNDED), minima)
    assert_same_course(course, usual)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_a_wide_scatter_of_class_means_makes_the_objective_unbounded() -> None:
    problem = toy_problem(spread=0.2)
    model = problem.fit(DDACL(tau=0.5, random_state=0))
    assert (model.objective_[1:] < 0.0).all()
    assert np.isfinite(model.projection_).all()
    assert (problem.fit(DDACL(tau=0.0, random_state=0)).objective_ > 0.0).all()
