"""Sparse coding against slow transcriptions of the search, the sweep and the dual.

The oracles solve a system for each active set, hold dense matrices over all samples and
walk one coefficient at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.literal_formulas import literal_laplacian

from cdspp.core.errors import MethodFailed
from cdspp.methods.pa import (
    CodingProblem,
    FeatureSignSearch,
    fit_dictionary,
    random_dictionary,
)
from cdspp.methods.shared.graphs import heat_kernel_graph

EPSILON = 2.2e-16


def literal_line_search(
    Q: np.ndarray, h: np.ndarray, gamma: float, old: np.ndarray, new: np.ndarray
) -> float:
    """Return how far to go from `old` to `new` on the active set; 0 where nothing."""
    d = new - old
    crossings = [-o / e for o, e in zip(old, d, strict=True) if e != 0]
    best, taken = gamma * sum(abs(old)), 0.0
    for t in sorted([t for t in crossings if 0 < t <= 1] + [1.0]):
        value = 0.5 * t * t * (d @ Q @ d) + t * (d @ (h + Q @ old))
        value += gamma * sum(abs(old + t * d))
        if value > best:
            break
        if value < best or all(old != 0):
            best, taken = value, t
    return taken


def literal_search(
    Q: np.ndarray, h: np.ndarray, gamma: float, cap: int, start: np.ndarray | None
) -> np.ndarray:
    """Return the codes of one sample: the search as it is written down."""
    is_warm, optimal = start is not None, False
    s = np.zeros(len(h)) if start is None else start.copy()
    active = np.flatnonzero(s)[:cap].tolist()
    s[np.flatnonzero(s)[cap:]] = 0.0
    for turn in range(1000):
        gradient = Q @ s + h
        theta = np.sign(s)
        idle = [k for k in range(len(h)) if k not in active]
        entering = max(idle, key=lambda k: abs(gradient[k]), default=None)
        first_of_warm = turn == 0 and is_warm
        is_steep = entering is not None and abs(gradient[entering]) >= gamma
        if is_steep and not first_of_warm:
            active.append(entering)
            theta[entering] = -np.sign(gradient[entering])
        elif optimal:
            return s
        if len(active) > cap or (not active and not first_of_warm):
            return s
        optimal = False
        while not optimal:
            A = sorted(active)
            block = Q[np.ix_(A, A)]
            new = np.linalg.solve(block, -h[A] - gamma * theta[A])
            if np.array_equal(np.sign(new), np.sign(s[A])):
                s[A], optimal = new, True
                continue
            step = literal_line_search(block, h[A], gamma, s[A], new)
            if step == 0:
                return s
            s[A] = s[A] + step * (new - s[A])
            theta[A] = np.sign(s[A])
            if step < 1:
                active = [k for k in A if abs(s[k]) >= EPSILON]
                s[[k for k in A if k not in active]] = 0.0
    return s


def drawn_search(seed: int, n_atoms: int = 14, n_features: int = 10) -> Any:
    """Draw a positive definite matrix of inner products and a linear term."""
    rng = np.random.default_rng(seed)
    B = random_dictionary(n_features, n_atoms, rng)
    return B.T @ B, rng.uniform(0.05, 1.0), rng.standard_normal(n_atoms)


@pytest.mark.parametrize("cap", [1, 4, 14])
@pytest.mark.parametrize("gamma", [0.01, 0.5])
def test_the_search_takes_the_path_of_its_description(gamma: float, cap: int) -> None:
    for seed in range(5):
        gram, shift, h = drawn_search(seed)
        Q = gram + shift * np.eye(len(h))
        # A start that is far off makes coefficients cross zero and leave.
        rng = np.random.default_rng(100 + seed)
        far_off = rng.standard_normal(len(h)) * (rng.random(len(h)) < 0.8)
        search = FeatureSignSearch(gram, gamma, cap)
        for start in (None, far_off):
            expected = literal_search(Q, h, gamma, cap, start)
            found = search.solve(shift, h, start)
            np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("most", [0, 16])
def test_signs_that_turn_on_the_way_from_zero_are_followed(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cdspp.methods.pa.MAX_CHANGES", most)
    for seed in range(12):
        # Many atoms in few directions and a small shift: coefficients turn.
        gram, _, h = drawn_search(seed, n_features=6)
        expected = literal_search(gram + 0.05 * np.eye(14), h, 0.1, 9, None)
        found = FeatureSignSearch(gram, 0.1, 9).solve(0.05, h)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_dependent_atoms_without_a_shift_are_named() -> None:
    search = FeatureSignSearch(np.ones((3, 3)), 0.1, 3)
    with pytest.raises(MethodFailed, match="atoms.*dependent"):
        search.solve(0.0, np.ones(3), np.ones(3))


def drawn_coding(gamma: float = 0.02, cap: int = 6) -> tuple[CodingProblem, np.ndarray]:
    """Draw samples of two domains and a dictionary."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((26, 9))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    contrast = np.repeat([1 / 10, -1 / 16], [10, 16])
    problem = CodingProblem(
        X, heat_kernel_graph(X), contrast, alpha=0.7, mu=300.0, gamma=gamma, cap=cap
    )
    return problem, random_dictionary(9, 12, rng)


def ties(p: CodingProblem) -> np.ndarray:
    """Return the matrix of graph and means that ties the samples to each other."""
    graph = literal_laplacian(p.graph.toarray())
    return p.alpha * graph + p.mu * np.outer(p.contrast, p.contrast)


def literal_coding(p: CodingProblem, B: np.ndarray, start: Any) -> np.ndarray:
    """Return the codes after one sweep, with all matrices dense."""
    T = ties(p)
    S = np.zeros((len(p.X), B.shape[1])) if start is None else start.copy()
    for i, x in enumerate(p.X):
        h = T[i] @ S - T[i, i] * S[i] - B.T @ x
        Q = B.T @ B + T[i, i] * np.eye(len(h))
        old = None if start is None else S[i].copy()
        S[i] = literal_search(Q, h, p.gamma, p.cap, old)
    return S


def test_a_sweep_equals_the_sweep_with_dense_matrices() -> None:
    problem, B = drawn_coding()
    cold = problem.code(B)
    np.testing.assert_allclose(cold, literal_coding(problem, B, None), atol=1e-11)
    B = fit_dictionary(problem.X, cold)
    before = cold.copy()
    warm = problem.code(B, cold)
    np.testing.assert_array_equal(cold, before)
    np.testing.assert_allclose(warm, literal_coding(problem, B, cold), atol=1e-11)
    assert np.abs(warm - cold).max() > 0.01


@pytest.mark.parametrize("n", [4, 60])
@pytest.mark.parametrize("scale", [1e-3, 300.0])
def test_the_dictionary_meets_the_conditions_of_the_minimum(
    n: int, scale: float
) -> None:
    rng = np.random.default_rng(n)
    X, S = rng.standard_normal((n, 5)), scale * rng.standard_normal((n, 7))
    S[rng.random(S.shape) < 0.4] = 0.0
    S[:, 2] = 0.0
    B = fit_dictionary(X, S)
    lengths = np.linalg.norm(B, axis=0)
    assert (lengths <= 1 + 1e-7).all()
    assert lengths[2] == 0.0
    pull = X.T @ S - B @ S.T @ S
    tolerance = 1e-6 * np.abs(X.T @ S).max()
    np.testing.assert_allclose(pull[:, lengths < 1 - 1e-7], 0.0, atol=tolerance)
    multipliers = (pull * B).sum(axis=0)
    assert (multipliers >= -tolerance).all()
    bound = lengths >= 1 - 1e-7
    np.testing.assert_allclose(
        pull[:, bound], (B * multipliers)[:, bound], atol=tolerance
    )
