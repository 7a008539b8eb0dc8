"""DDACL: dense formulas, known traces, invariances of its searches, its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_softmax
from support.known_answers.known_problems import digits_problem
from support.toy_problem import (
    SHAPES,
    WIDE,
    ToyProblem,
    renamed,
    shuffled,
    stretched,
    toy_problem,
    variant,
)

from cdspp import DDACL, SourceDomain
from cdspp.core.errors import CollapseWarning
from cdspp.core.linalg import row_normalise
from cdspp.methods.ddacl import ddacl
from cdspp.methods.ddacl.ddacl import (
    AlignmentObjective,
    ReducedDomain,
)
from cdspp.methods.ddacl.lbfgs import Objective, minimise

# The authors' code from the values that seed 7 gives on the digits: after each stage,
# and after each line search of the first stage and of the first iteration.
DIGITS_STAGES = [0.15211165, 0.22135834, 0.21307928, 0.21151266, 0.2108234, 0.21093623]
DIGITS_ACCURACY = [0.77, 0.776667, 0.77, 0.763333, 0.763333]
DIGITS_FIRST_STAGE = [
    *(2.30305003, 2.26403571, 1.95416493, 1.91359575, 1.14291956, 0.83429313),
    *(0.55795263, 0.41523784, 0.27788787, 0.23421551, 0.19895903, 0.18578138),
    *(0.17859582, 0.17341417, 0.16653518, 0.16189764, 0.16030994, 0.15786219),
    *(0.15418327, 0.15304557, 0.15211165),
]
DIGITS_FIRST_ITERATION = [
    *(2.53285269, 1.82354089, 1.00776632, 0.6979756, 0.46065754, 0.37996742),
    *(0.35947274, 0.32558544, 0.28941704, 0.26801303, 0.2570527, 0.2499954),
    *(0.24575678, 0.23879089, 0.23427187, 0.23080816, 0.22930051, 0.22671744),
    *(0.2250764, 0.22312328, 0.22135834),
]

# Bounded below: the class means of these problems scatter widely.
BOUNDED: dict[str, Any] = {"tau": 0.0005, "random_state": 0}
every_shape = pytest.mark.parametrize("shape", SHAPES)


class Search(NamedTuple):
    """A minimisation: of what, from where, and its value after each line search."""

    objective: Objective
    start: np.ndarray
    trace: list[float]


Fit = Callable[[ToyProblem, DDACL], Any]


@pytest.fixture
def fit(monkeypatch: pytest.MonkeyPatch) -> Fit:
    """Return what fits a model and notes its searches in it."""
    searches: list[Search] = []

    def record(objective: Objective, x: np.ndarray, n_line_searches: int) -> Any:
        end, trace = minimise(objective, x, n_line_searches)
        searches.append(Search(objective, x, trace))
        return end, trace

    def fit_watched(problem: ToyProblem, model: Any) -> Any:
        searches.clear()
        problem.fit(model)
        model.searches = list(searches)
        return model

    monkeypatch.setattr(ddacl, "minimise", record)
    return fit_watched


def test_the_digits_case_follows_the_authors_objective(fit: Fit) -> None:
    problem = digits_problem()
    model = fit(problem, DDACL(random_state=7))
    np.testing.assert_allclose(model.objective_, DIGITS_STAGES, atol=1e-7)
    first_stage, first_iteration, *_ = (search.trace for search in model.searches)
    np.testing.assert_allclose(first_stage, DIGITS_FIRST_STAGE, atol=1e-8)
    np.testing.assert_allclose(first_iteration, DIGITS_FIRST_ITERATION, atol=1e-8)
    assert [entry.n_selected for entry in model.history_] == [300] * 5
    truth = problem.truth[problem.unlabelled]
    found = [np.mean(entry.prediction == truth) for entry in model.history_]
    np.testing.assert_allclose(found, DIGITS_ACCURACY, atol=1e-6)


def dense_discrepancy(y_source: np.ndarray, y_target: np.ndarray) -> np.ndarray:
    """Return the weights of all products of samples, of norm one."""
    source, target = (
        np.vstack([np.ones(len(y)), np.eye(4)[y].T]) for y in (y_source, y_target)
    )
    shares = [part / part.sum(axis=1, keepdims=True) for part in (source, target)]
    E = np.hstack([shares[0], -shares[1]])
    return E.T @ E / np.linalg.norm(E.T @ E)


def dense_laplacian() -> np.ndarray:
    """Return the normalised Laplacian of four classes that are all joined."""
    graph = np.full((4, 4), 1 / 4**2) * (1 - np.eye(4))
    degrees = graph.sum(axis=1)
    return np.eye(4) - graph / np.sqrt(np.outer(degrees, degrees))


def dense_value(model: DDACL, problem: ToyProblem, labels: np.ndarray) -> float:
    """Return the objective by its matrices over all samples; nothing is saved."""
    y_source, known = problem.source.y, problem.labelled
    Z_source = row_normalise(problem.source.X) @ model.projection_source_
    Z_target = row_normalise(problem.X) @ model.projection_
    W, Z = model.coef_, np.vstack([Z_source, Z_target])
    discrepancy = dense_discrepancy(y_source, labels)
    value = model.beta / 2 * np.trace(Z.T @ discrepancy @ Z)
    for rows, codes in ((Z_target[known], labels[known]), (Z_source, y_source)):
        logarithms = log_softmax(rows @ W.T + model.intercept_, axis=1)
        value -= logarithms[np.arange(len(codes)), codes].mean()
    for rows, codes in ((Z_source, y_source), (Z_target, labels)):
        M = np.array([rows[codes == code].mean(axis=0) for code in range(4)])
        value -= model.tau / 2 * np.trace(M.T @ dense_laplacian() @ M)
    parameters = (W, model.projection_source_, model.projection_)
    return float(value + model.ridge / 2 * sum((P**2).sum() for P in parameters))


class Spy(DDACL):
    """DDACL that notes the unlabelled rows' labels that each iteration rests on."""

    def _fit_domains(self, prepared: Any, codes: np.ndarray) -> None:
        self.seen = [*getattr(self, "seen", []), codes]
        super()._fit_domains(prepared, codes)


@every_shape
def test_each_stage_ends_at_the_value_of_the_dense_formulas(shape: str) -> None:
    problem = toy_problem(**SHAPES[shape])
    model = problem.fit(Spy(max_iter=2, n_components=6, random_state=1))
    predictions = [entry.prediction for entry in model.history_]
    assert len(model.seen) == 2
    np.testing.assert_array_equal(model.seen[1:], predictions[:-1])
    labels = problem.y.copy()
    labels[problem.unlabelled] = model.seen[-1]
    found = dense_value(model, problem, labels)
    assert found == pytest.approx(model.objective_[-1], rel=1e-10)


@pytest.mark.parametrize("tau", [0.002, 0.3])
def test_the_gradient_is_the_slope_of_the_value(tau: float, fit: Fit) -> None:
    problem = toy_problem(n_classes=3, source_per_class=3, d_source=80)
    options = {"n_components": 2, "max_iter": 1, "random_state": 0}
    model = fit(problem, DDACL(beta=0.5, tau=tau, **options))
    rng = np.random.default_rng(0)
    for objective, start, _ in model.searches:
        x = start + 0.3 * rng.standard_normal(len(start))
        expected = approx_fprime(x, lambda v, f=objective: f(v)[0], 1e-7)
        np.testing.assert_allclose(objective(x)[1], expected, atol=2e-6)


def test_without_the_reduction_the_trace_is_the_same(
    fit: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem(**WIDE)
    reduced = fit(problem, DDACL(**BOUNDED))

    class Full(ReducedDomain):
        def __init__(self, rows: np.ndarray, projection: np.ndarray) -> None:
            self.rows, self.projection, self._basis = rows, projection, None

    monkeypatch.setattr(ddacl, "ReducedDomain", Full)
    full = fit(problem, DDACL(**BOUNDED))
    for short, long in zip(reduced.searches, full.searches, strict=True):
        assert len(short.start) < len(long.start)
        np.testing.assert_allclose(short.trace, long.trace, rtol=1e-9)
    np.testing.assert_array_equal(full.transduction_, reduced.transduction_)
    for name in ("projection_", "projection_source_"):
        found, expected = getattr(full, name), getattr(reduced, name)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def assert_same_course(found: Any, expected: Any) -> None:
    """Compare the searches of two fits that differ by rounding alone.

    A search ends after 20 steps wherever it is, and the next one goes on from there:
    by the third iteration both walk along a valley where rounding decides more than a
    step gains. The course is compared down to there, and then the ends, within what
    their iteration gained.
    """
    pairs = list(zip(found.searches, expected.searches, strict=True))
    for ours, theirs in pairs[:3]:
        np.testing.assert_allclose(ours.trace, theirs.trace, rtol=1e-6)
    for ours, theirs in pairs[3:]:
        start, end = theirs.trace[0], theirs.trace[-1]
        assert ours.trace[-1] == pytest.approx(end, rel=1e-9, abs=start - end)


def start_from(change: Callable[[DDACL, np.ndarray], np.ndarray]) -> DDACL:
    """Return DDACL with other initial values."""

    class Changed(DDACL):
        def _draw(self, problem: Any) -> np.ndarray:
            return change(self, super()._draw(problem))

    return Changed(**BOUNDED)


def test_rotating_the_features_rotates_the_projections(fit: Fit) -> None:
    problem = toy_problem(d_target=80)
    rng = np.random.default_rng(0)
    widths = problem.source.X.shape[1], problem.X.shape[1]
    Rs, Rt = (np.linalg.qr(rng.standard_normal((d, d)))[0] for d in widths)

    def rotate(model: DDACL, projection: np.ndarray) -> np.ndarray:
        model.projection_ = Rt.T @ model.projection_
        return Rs.T @ projection

    turned = variant(problem, X=problem.X @ Rt, X_source=problem.source.X @ Rs)
    found, expected = fit(turned, start_from(rotate)), fit(problem, DDACL(**BOUNDED))
    assert_same_course(found, expected)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_renaming_the_classes_renames_the_labels(fit: Fit) -> None:
    problem = toy_problem()
    names = np.array([2, 0, 3, 1])

    def reorder(model: DDACL, projection: np.ndarray) -> np.ndarray:
        order = np.argsort(names)
        model.coef_, model.intercept_ = model.coef_[order], model.intercept_[order]
        return projection

    found = fit(renamed(problem, names), start_from(reorder))
    expected = fit(problem, DDACL(**BOUNDED))
    assert_same_course(found, expected)
    np.testing.assert_array_equal(found.transduction_, names[expected.transduction_])


def test_the_order_of_samples_does_not_matter(fit: Fit) -> None:
    problem = toy_problem(**WIDE)
    other, order = shuffled(problem)
    found, expected = fit(other, DDACL(**BOUNDED)), fit(problem, DDACL(**BOUNDED))
    assert_same_course(found, expected)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_[order])


def test_rows_are_scaled_to_unit_length(fit: Fit) -> None:
    problem = toy_problem()
    found = fit(stretched(problem, 1e100), DDACL(**BOUNDED))
    expected = fit(problem, DDACL(**BOUNDED))
    assert_same_course(found, expected)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_a_fit_whose_objective_is_below_zero_has_diverged() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    X = 5 * np.eye(3, 8)[labels] + rng.standard_normal((60, 8))
    y = np.where(np.arange(60) % 20 < 3, labels, -1)
    source = SourceDomain(5 * np.eye(3, 9)[labels] + rng.random((60, 9)), labels)
    with pytest.warns(CollapseWarning, match=r"has diverged.*lower tau from 0\.1"):
        wide = DDACL(tau=0.1, random_state=0).fit(X, y, source=source)
    assert wide.objective_[-1] < 0
    assert wide.collapsed_ == "diverged"
    bounded = DDACL(tau=0.0001, random_state=0).fit(X, y, source=source)
    assert bounded.objective_[-1] > 0
    assert bounded.collapsed_ == ""


def test_an_overflowing_softmax_has_no_value() -> None:
    at = [np.array([[800.0], [0.0]]), np.zeros(2), np.ones((1, 1))]
    objective = AlignmentObjective([(np.ones((3, 1)), np.array([0, 1, 0]))], at, 0.1)
    assert np.isnan(objective(np.concatenate([part.ravel() for part in at]))[0])
