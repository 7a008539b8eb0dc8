"""CDSPP with a bridge: its closed form against a dense solve, and its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from support.toy_problem import ToyProblem, toy_problem

from cdspp import CDSPP, CDSPPBridge, SourceDomain
from cdspp.core.linalg import row_normalise
from cdspp.methods.cdspp import structure_preserving

ALPHA = 2.0
SHARED = [(0, 1), (3, 2), (5, 0)]
SHAPES = {
    "narrow": {"d_source": 8, "d_target": 6},
    "wide": {"d_source": 60, "d_target": 50},
    "mixed": {"d_source": 8, "d_target": 50},
}


def problem(shape: str) -> ToyProblem:
    return toy_problem(unlabelled_per_class=2, **SHAPES[shape])


def bridged(toy: ToyProblem, n_pairs: int = 0, shared: Any = None) -> SourceDomain:
    rng = np.random.default_rng(5)
    widths = toy.source.X.shape[1], toy.X.shape[1]
    pairs = tuple(rng.standard_normal((n_pairs, width)) for width in widths)
    return SourceDomain(
        toy.source.X, toy.source.y, shared_columns=shared, paired_rows=pairs
    )


def dense(
    toy: ToyProblem, source: SourceDomain, mu: float, pair_weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Solve the whole problem of size d_s + d_t as it is written down."""
    known = toy.labelled
    rows = [row_normalise(toy.source.X), row_normalise(toy.X[known])]
    codes = [toy.source.y, toy.y[known]]
    sizes = [np.bincount(y, minlength=4) for y in codes]
    n_pairs = len(source.paired_rows[0])
    root = np.sqrt(pair_weight * np.mean(sizes[0] * sizes[1]))
    for side, pairs in enumerate(source.paired_rows):
        rows[side] = np.vstack([rows[side], root * row_normalise(pairs)])
        codes[side] = np.r_[codes[side], 4 + np.arange(n_pairs)]
    Y = [np.eye(4 + n_pairs)[y] for y in codes]
    counts = [y.sum(axis=0) for y in Y]
    blocks = []
    for own, other in ((0, 1), (1, 0)):
        L = np.diag((counts[own] + counts[other] / 2)[codes[own]]) - Y[own] @ Y[own].T
        blocks.append(rows[own].T @ L @ rows[own])
    K = linalg.block_diag(*blocks) + ALPHA * np.eye(sum(map(len, blocks)))
    d = len(blocks[0])
    for i, j in source.shared_columns or []:
        u = np.zeros(len(K))
        u[i], u[d + j] = 1.0, -1.0
        K += mu * np.outer(u, u)
    A = np.zeros_like(K)
    A[:d, d:] = rows[0].T @ Y[0] @ Y[1].T @ rows[1]
    values, vectors = linalg.eigh(A + A.T, K)
    kept = np.flatnonzero(values > 1e-9 * values[-1])[::-1]
    return values[kept], vectors[:, kept]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n_pairs", "mu"), [(0, 0.5), (5, 0.0), (5, 100.0)])
def test_the_closed_form_is_the_dense_solution(
    shape: str, n_pairs: int, mu: float
) -> None:
    toy = problem(shape)
    source = bridged(toy, n_pairs, SHARED)
    values, vectors = dense(toy, source, mu, pair_weight=3.0)
    model = CDSPPBridge(
        mu=mu, pair_weight=3.0, alpha=ALPHA, max_iter=1, eigenvector_scaling="metric"
    ).fit(toy.X, toy.y, source=source)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    found = np.vstack([model.projection_source_, model.projection_])
    signs = np.sign((found * vectors).sum(axis=0))
    np.testing.assert_allclose(found, vectors * signs, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", [{"mu": 0.0, "pair_weight": 0.0}, {}])
def test_without_a_bridge_it_is_cdspp_to_the_last_bit(
    shape: str, options: dict[str, Any]
) -> None:
    toy = problem(shape)
    source = bridged(toy, 5, SHARED) if options else bridged(toy)
    same = {"center": False, "eigenvector_scaling": "unit"}
    expected = CDSPP(**same).fit(toy.X, toy.y, source=source)
    found = CDSPPBridge(**options).fit(toy.X, toy.y, source=source)
    for name in ("projection_", "projection_source_", "eigenvalues_"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


@pytest.mark.parametrize("shape", SHAPES)
def test_shared_columns_are_projected_alike_unless_mu_says_how_much(shape: str) -> None:
    toy = problem(shape)
    i, j = (list(side) for side in zip(*SHARED, strict=True))
    apart = []
    for mu in (1.0, 100.0, 1e8, None):
        model = CDSPPBridge(mu=mu).fit(toy.X, toy.y, source=bridged(toy, 0, SHARED))
        apart.append(abs(model.projection_source_[i] - model.projection_[j]).max())
    assert apart[0] > apart[1] > apart[2] > apart[3]
    assert apart[3] < 1e-12


def test_the_fit_on_files_is_that_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = toy_problem(source_per_class=40, unlabelled_per_class=3)
    source = bridged(toy, 5, SHARED)
    np.save(tmp_path / "source.npy", toy.source.X)
    rows = np.load(tmp_path / "source.npy", mmap_mode="r")
    in_file = SourceDomain(
        rows, source.y, shared_columns=SHARED, paired_rows=source.paired_rows
    )
    expected = CDSPPBridge().fit(toy.X, toy.y, source=source)
    monkeypatch.setattr(structure_preserving, "CHUNK_VALUES", 100)
    found = CDSPPBridge().fit(toy.X, toy.y, source=in_file)
    for name in ("projection_", "projection_source_", "eigenvalues_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_pairs_are_no_classes() -> None:
    toy = toy_problem()
    model = CDSPPBridge().fit(toy.X, toy.y, source=bridged(toy, 9))
    assert model.predict_proba(toy.X).shape == (len(toy.X), 4)
    assert model.projection_.shape[1] > 4
