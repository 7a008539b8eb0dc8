"""SHFA: a literal transcription, guessed labels, priors, solvers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import support.literal_formulas as shared
from scipy.linalg import cholesky, pinv, solve_triangular, sqrtm
from scipy.optimize import nnls
from support.known_answers.known_problems import authors_problem
from support.toy_problem import ToyProblem, some_rows, toy_problem

from cdspp import SHFA
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import row_normalise
from cdspp.methods.hfa.shfa import (
    ExactSolver,
    LabellingKernels,
    LabellingMachine,
    ratio_labels,
)

QUICK: dict[str, Any] = {"max_iter": 4}


def simplex_minimum(Q: np.ndarray) -> np.ndarray:
    """Return the minimiser of a^T Q a over the simplex by nonnegative least squares."""
    L = cholesky(Q, lower=True)
    v, _ = nnls(L.T, solve_triangular(L, np.ones(len(Q)), lower=True))
    return v / v.sum()


def literal_labels(values: np.ndarray, expected: float) -> np.ndarray:
    """Return the ratio rule of the page: as many as expected, the largest first."""
    is_more = (values > 0).sum() > expected
    n_chosen = math.floor(expected) if is_more else math.ceil(expected)
    labels = np.full(len(values), -1.0)
    labels[np.argsort(-values, kind="stable")[:n_chosen]] = 1.0
    return labels


def literal_weights(
    B: list[np.ndarray], W: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights of base kernels, dual variables and margin."""
    d, trace = np.full(len(B), len(B) ** (-1.0 / 1.5)), [math.inf]
    while True:
        Q = sum(w * b for w, b in zip(d, B, strict=True)) + W
        a = simplex_minimum(Q)
        q = np.array([a @ b @ a for b in B])
        trace.append(-0.5 * (d @ q + a @ W @ a))
        if shared.settled(trace):
            return d, a, float(np.mean((Q @ a)[a > 0]))
        u = (d * np.sqrt(q)) ** (2 / 2.5)
        d = u / np.sum(u**1.5) ** (1 / 1.5)


def literal_labelling(
    A: np.ndarray, a: np.ndarray, known: np.ndarray, expected: float
) -> np.ndarray:
    """Return the labelling with the largest score among all candidates."""
    best = -1.0
    for z in [s * a * A[:, j] for s in (1.0, -1.0) for j in range(len(a))]:
        y = np.concatenate([known, literal_labels(z[len(known) :], expected)])
        if abs(y @ z) > best + 1e-12:
            best, chosen = abs(y @ z), y
    return chosen


def literal_values(
    problem: ToyProblem, new: np.ndarray, shares: list[float], n_columns: int
) -> np.ndarray:
    """Return decision values by matrix roots, directions and all candidates."""
    lam, p = 50.0, problem.prepared()
    Xs, T = p.X_source, np.vstack([p.X_labelled, p.X_unlabelled])
    codes = np.concatenate([p.y_source, p.y_labelled])
    n_s, n_known, K = len(Xs), len(codes), shared.scalar_blocks(Xs, T)
    n, R, K1 = len(K), np.real(sqrtm(K)), K + 1.0
    A = np.real(sqrtm(K1 + lam * K))
    W = np.diag(np.repeat([1.0, 0.5, 100.0], [n_s, n_known - n_s, n - n_known]))
    k_new, t = shared.scalar_kernel(row_normalise(new), T, T), slice(n_s, n_known)
    s_new = np.sqrt(lam) * k_new @ pinv(R[n_s:, n_s:])
    values = []
    for code, share in enumerate(shares):
        known = np.where(codes == code, 1.0, -1.0)
        a = simplex_minimum(K1[t, t] * np.outer(known[t], known[t]) + W[t, t])
        v = K1[n_known:, t] @ (known[t] * a)
        Y = [np.concatenate([known, literal_labels(v, share * (n - n_known))])]
        H, B = [np.ones(n) / np.sqrt(n)], []
        while True:
            s = np.sqrt(lam) * R @ H[-1]
            B.append((K1 + np.outer(s, s)) * np.outer(Y[-1], Y[-1]))
            d, a, rho = literal_weights(B, W)
            if len(Y) == n_columns:
                break
            Y.append(literal_labelling(A, a, known, share * (n - n_known)))
            H.append(R @ (Y[-1] * a) / np.linalg.norm(R @ (Y[-1] * a)))
        f = np.zeros(len(new))
        for w, y, h in zip(d, Y, H, strict=True):
            alignment = np.sqrt(lam) * (R @ h) @ (y * a)
            f += w * (s_new @ h[n_s:] * alignment + k_new @ (y * a)[n_s:] + y @ a)
        values.append(f / rho)
    return np.column_stack(values)


def test_decision_values_are_those_of_the_formulas_with_all_candidates() -> None:
    problem = toy_problem(
        n_classes=3, spread=0.8, source_per_class=4, unlabelled_per_class=6
    )
    shares = [0.2, 0.35, 0.45]
    costs = {"trace_bound": 50.0, "C_target": 2.0, "C_unlabelled": 0.01}
    model = SHFA(prior=shares, max_iter=6, tol=1e-3, solver="exact", **costs)
    problem.fit(model)
    assert model.n_columns_.tolist() == [6, 6, 6]
    new = np.vstack([problem.X[problem.unlabelled], problem.X + 0.05])
    expected = literal_values(problem, new, shares, 6)
    found = shared.decision_values(model, new)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(model.predict(new), expected.argmax(axis=1))


@pytest.mark.parametrize(
    ("values", "expected", "labels"),
    [
        ([3.0, 1.0, 2.0, -1.0], 2.9, [1, -1, 1, -1]),
        ([3.0, 1.0, 2.0, -1.0], 3.1, [1, 1, 1, 1]),
        ([-3.0, -1.0, -2.0], 0.4, [-1, 1, -1]),
        ([1.0, 1.0, 1.0, 0.0, 0.0], 2.0, [1, 1, -1, -1, -1]),
        ([], 0.0, []),
    ],
)
def test_about_the_expected_number_of_rows_becomes_positive(
    values: list[float], expected: float, labels: list[int]
) -> None:
    found = ratio_labels(np.array(values), expected)
    assert found.tolist() == labels
    assert literal_labels(np.array(values), expected).tolist() == labels


def test_shares_are_equal_or_those_of_labelled_rows_or_given() -> None:
    problem = toy_problem(n_classes=3, spread=0.9, labelled_per_class=4)
    problem = some_rows(problem, slice(3, None))
    new = problem.X + 0.01

    def values(prior: Any) -> np.ndarray:
        return shared.decision_values(problem.fit(SHFA(**QUICK, prior=prior)), new)

    assert SHFA().prior == "uniform"
    np.testing.assert_array_equal(values("uniform"), values([1 / 3, 1 / 3, 1 / 3]))
    np.testing.assert_array_equal(values("labelled"), values([1 / 9, 4 / 9, 4 / 9]))
    assert not np.allclose(values("uniform"), values("labelled"))


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.5] * 3, [1.5, -0.5, 0.0]])
def test_a_prior_that_is_none_is_named(prior: Any) -> None:
    problem = toy_problem(n_classes=3)
    with pytest.raises(ValueError, match=r"nonnegative share .* 3 classes"):
        problem.fit(SHFA(prior=prior))


@pytest.mark.parametrize("prior", ["labelled", [1.0, 0.0, 0.0]])
def test_a_class_expected_nowhere_is_no_fault(prior: Any) -> None:
    problem = toy_problem(n_classes=3, spread=0.2)
    model = some_rows(problem, problem.y != 1).fit(SHFA(**QUICK, prior=prior))
    assert set(model.transduction_) <= {0, 1, 2}


def quadratic(n: int, rank: int, seed: int) -> np.ndarray:
    """Return a positive definite matrix whose minimiser has some zeros."""
    F = np.random.default_rng(seed).standard_normal((n, rank)) + 0.5
    return F @ F.T + 0.1 * np.eye(n)


def test_the_exact_solver_finds_the_minimum_from_any_start() -> None:
    solver = ExactSolver(30)
    for seed in range(4):
        Q = quadratic(30, 5 + 4 * seed, seed)
        found = solver(Q)
        np.testing.assert_allclose(found, simplex_minimum(Q), atol=1e-10)
        assert (found >= 0).all()


def test_a_singular_matrix_is_no_crash() -> None:
    with pytest.raises(MethodFailed, match="singular"):
        ExactSolver(3)(-np.eye(3))


@pytest.mark.reference
def test_objectives_are_those_of_the_authors_case(
    reference_folder: Path, monkeypatch: Any
) -> None:
    problem = authors_problem(reference_folder, "oc_surf-amazon_GoogleNet1024-dslr")
    first = []
    original = SHFA._generate_columns

    def watch(model: Any, machine: Any) -> Any:
        solution = original(model, machine)
        first.append(solution)
        return solution

    monkeypatch.setattr(SHFA, "_generate_columns", watch)
    truth = problem.truth[problem.unlabelled]
    shares = np.bincount(truth) / len(truth)
    problem.fit(SHFA(prior=shares, solver="exact", max_iter=1))
    objectives = [solution.objective for solution in first[:3]]
    assert objectives == pytest.approx([-0.011765, -0.022285, -0.013082], rel=1e-4)


@pytest.mark.parametrize(
    ("expected", "n_zero"), [(0.0, 0), (0.3, 4), (2.6, 0), (7.0, 10), (9.5, 4)]
)
def test_candidates_are_scored_without_labelling_them(
    expected: float, n_zero: int
) -> None:
    rng = np.random.default_rng(0)
    n_known, n = 5, 15
    known, root = rng.choice([-1.0, 1.0], n_known), rng.standard_normal((n, n))
    root[:4, n_known:] = np.abs(root[:4, n_known:])
    root[4:8, n_known:] = -np.abs(root[4:8, n_known:])
    dual = rng.uniform(0.0, 1.0, n)
    dual[n_known + rng.permutation(n - n_known)[:n_zero]] = 0.0
    kernels = LabellingKernels(root, root, (dual, dual[1:]), dual, n_known, 1.0)
    labels = np.concatenate([known, np.ones(n - n_known)])
    machine = LabellingMachine(kernels, labels, expected, ExactSolver(n))
    scores = []
    for z in [*(root * dual), *(-root * dual)]:
        guess = literal_labels(z[n_known:], expected)
        scores.append(abs(np.concatenate([known, guess]) @ z))
    np.testing.assert_allclose(machine._scores(dual), scores, rtol=0, atol=1e-12)
