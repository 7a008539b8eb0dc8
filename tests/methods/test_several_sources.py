"""Several sources: in one problem, or by a vote of fits."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from cdspp import CDSPP, DAMA, CDSPPSup, DAMASup, SourceDomain, SourceVote, make
from cdspp.methods.cdspp.structure_preserving import (
    DomainSolver,
    RowsInUse,
    make_solver,
    solve_several,
)

C, ALPHA = 4, 3.0


def domains(*shapes: tuple[int, int]) -> list[DomainSolver]:
    rng = np.random.default_rng(0)
    sides = []
    for n, d in shapes:
        X = rng.standard_normal((n, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        rows = RowsInUse(X, rng.permutation(np.arange(n) % C))
        sides.append(make_solver([rows], C, ALPHA))
    return sides


def dense(sides: list[DomainSolver]) -> tuple[np.ndarray, np.ndarray]:
    """Return both matrices of the generalised eigenproblem, written out."""
    Y = [np.eye(C)[side.codes] for side in sides]
    sums = [side.X.T @ y for side, y in zip(sides, Y, strict=True)]
    total = sum(side.class_counts for side in sides)
    right = []
    for side, y in zip(sides, Y, strict=True):
        weights = side.class_counts + (total - side.class_counts) / 2
        L = np.diag(weights[side.codes]) - y @ y.T
        right.append(side.X.T @ L @ side.X + ALPHA * np.eye(side.X.shape[1]))
    stacked = np.vstack(sums)
    own = linalg.block_diag(*(M @ M.T for M in sums))
    return stacked @ stacked.T - own, linalg.block_diag(*right)


@pytest.mark.parametrize("shapes", [((30, 8), (9, 11), (25, 5)), ((8, 9),) * 4])
def test_the_closed_form_is_that_of_a_dense_solver(shapes: Any) -> None:
    sides = domains(*shapes)
    found = solve_several(sides, scaling="metric")
    left, right = dense(sides)
    values = linalg.eigh(left, right, eigvals_only=True)[::-1]
    n = len(found.eigenvalues)
    assert n == C
    np.testing.assert_allclose(found.eigenvalues, values[:n], rtol=1e-8)
    assert np.all(values[n:] < 1e-10 * values[0])
    P = np.vstack([*found.sources, found.target])
    np.testing.assert_allclose(P.T @ right @ P, np.eye(n), atol=1e-8)
    np.testing.assert_allclose(left @ P, right @ P * found.eigenvalues, atol=1e-8)
    for side, Z, P in zip(sides, found.rows_sources, found.sources, strict=False):
        np.testing.assert_allclose(Z, side.X @ P, atol=1e-10)


def problem(n_sources: int = 2) -> tuple[Any, Any, list[SourceDomain], Any]:
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), 12)
    X = rng.standard_normal((3, 6))[truth] + 0.6 * rng.standard_normal((36, 6))
    y = np.where(np.arange(36) % 12 < 2, truth, -1)
    sources = []
    for k in range(n_sources):
        codes = np.repeat(np.arange(3), 10)
        means = rng.standard_normal((3, 5 + k))
        rows = means[codes] + 0.4 * rng.standard_normal((30, 5 + k))
        sources.append(SourceDomain(rows, codes))
    return X, y, sources, truth


@pytest.mark.parametrize("kind", [CDSPP, CDSPPSup, DAMA, DAMASup])
def test_methods_place_rows_of_every_source(kind: Any) -> None:
    X, y, sources, _ = problem()
    model = kind().fit(X, y, source=sources)
    assert model.n_features_source_ == [5, 6]
    for k, source in enumerate(sources):
        placed = model.transform_source(source.X, k)
        assert placed.shape == model.transform(X).shape[:0] + (30, placed.shape[1])
    with pytest.raises(ValueError, match="source.* 5"):
        model.transform_source(sources[1].X)


def test_the_order_of_the_sources_does_not_matter() -> None:
    X, y, sources, _ = problem(3)
    found = [CDSPP().fit(X, y, source=s) for s in (sources, sources[::-1])]
    np.testing.assert_array_equal(*(model.transduction_ for model in found))


@pytest.mark.parametrize("method", ["cdls-sup", "svm-t", "pca-coral"])
def test_a_vote_has_one_fit_a_source(method: str) -> None:
    X, y, sources, _ = problem(3)
    vote = SourceVote(make(method)).fit(X, y, source=sources)
    alone = [make(method).fit(X, y, source=s).transduction_ for s in sources]
    agreed = np.all([a == b for a, b in combinations(alone, 2)], axis=0)
    np.testing.assert_array_equal(vote.transduction_[agreed], alone[0][agreed])
    np.testing.assert_array_equal(vote.predict(X)[y == -1], vote.transduction_[y == -1])


def test_a_vote_is_as_sure_as_its_fits_are_on_average() -> None:
    X, y, sources, _ = problem(3)
    vote = SourceVote(make("cdspp-sup")).fit(X, y, source=sources)
    sums = np.zeros((np.count_nonzero(y == -1), len(vote.classes_)))
    for fit in vote.estimators_:
        last = fit.history_[-1]
        codes = np.searchsorted(vote.classes_, last.prediction)
        sums[np.arange(len(sums)), codes] += last.confidence / 3
    np.testing.assert_allclose(vote.history_[-1].confidence, sums.max(axis=1))


def test_faults_are_one_line() -> None:
    X, y, sources, _ = problem()
    with pytest.raises(ValueError, match="CDLS .*source, got 2. SourceVote"):
        make("cdls").fit(X, y, source=sources)
    with pytest.raises(ValueError, match="empty list"):
        CDSPP().fit(X, y, source=[])
    with pytest.raises(TypeError, match="must be a SourceDomain"):
        CDSPP().fit(X, y, source=[sources[0], X])
