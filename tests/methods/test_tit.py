"""TIT: the literal formulas against the fast path, graphs, fallbacks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import linalg, sparse
from support.literal_formulas import literal_laplacian
from support.toy_problem import WIDE, toy_problem

from cdspp import TIT
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import counts, row_normalise
from cdspp.methods import tit
from cdspp.methods.tit import KernelBlock, class_graph, solve_alignment

SHAPES: dict[str, dict[str, Any]] = {
    "fewer features than rows": {},
    "more features than rows": WIDE,
    "a narrow source": {"d_source": 3, "d_target": 90},
    "equal widths": {"d_source": 8, "d_target": 8},
    "small classes": {"source_per_class": 2, "unlabelled_per_class": 3},
}
OPTIONS: dict[str, Any] = {"alpha": 0.7, "beta": 0.3, "delta": 0.02}


def literal_graph(K: np.ndarray, labels: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the graph of all samples, one sample after another."""
    chosen = np.zeros_like(K)
    for i, label in enumerate(labels):
        members = np.flatnonzero(labels == label)
        nearest = sorted(members, key=lambda j, i=i: -K[i, j])[: n_neighbors + 1]
        chosen[i, nearest] = K[i, nearest]
    np.fill_diagonal(chosen, 0.0)
    return np.maximum(chosen, chosen.T)


def literal_left(
    K: np.ndarray, W: np.ndarray, G: np.ndarray, n_source: int, **options: float
) -> np.ndarray:
    """Return the left matrix of the eigenproblem of all samples."""
    n = len(K)
    is_source = np.arange(n) < n_source
    e = np.where(is_source, 1.0 / n_source, -1.0 / (n - n_source))
    M = np.outer(e, e) / (e @ e)
    R = np.diag(np.where(is_source, 0.0, options["delta"]))
    inner = M + options["beta"] * literal_laplacian(W) - R
    return K @ inner @ K + options["alpha"] * np.diag(G)


def literal_directions(K: np.ndarray, left: np.ndarray, k: int) -> np.ndarray:
    """Solve the dense generalised eigenproblem of all samples."""
    H = np.eye(len(K)) - 1.0 / len(K)
    inverse_phi, vectors = linalg.eig(K @ H @ K, left)
    A = vectors[:, np.argsort(-np.abs(inverse_phi))[:k]].real
    return A / linalg.norm(A, axis=0)


class Posed(NamedTuple):
    """An eigenproblem: of source and target the unit rows, graph and weights."""

    rows: list[np.ndarray]
    graphs: tuple[Any, Any]
    weights: tuple[Any, Any]


def posed(shape: str) -> Posed:
    """Return the eigenproblem of known labels and random inverse weights."""
    problem = toy_problem(**SHAPES[shape], spread=1.0)
    rng = np.random.default_rng(5)
    rows = [row_normalise(problem.source.X), row_normalise(problem.X)]
    source, target = problem.source.y, problem.truth
    graphs = (
        class_graph(rows[0], source, counts(target, 4), 8),
        class_graph(rows[1], target, counts(source, 4), 8),
    )
    return Posed(rows, graphs, tuple(rng.uniform(0.05, 1.0, len(X)) for X in rows))


def eigenvectors(problem: Posed, k: int = 6, delta: float = 0.02) -> np.ndarray:
    """Return the eigenvectors of the fast path, both domains together."""
    rows, graphs, weights = problem
    blocks = (KernelBlock(rows[0]), KernelBlock(rows[1]))
    options = {**OPTIONS, "n_components": k, "delta": delta}
    return np.vstack(solve_alignment(blocks, graphs, weights, **options))


@pytest.mark.parametrize(
    ("shape", "delta", "sign"),
    # The left matrix of the last one is indefinite, which is no obstacle.
    [*((shape, 0.02, 1) for shape in SHAPES), ("fewer features than rows", 3.0, -1)],
)
def test_eigenvectors_equal_those_of_the_dense_solve(
    shape: str, delta: float, sign: int
) -> None:
    problem = posed(shape)
    found = eigenvectors(problem, delta=delta)
    K = linalg.block_diag(*(X @ X.T for X in problem.rows))
    W = linalg.block_diag(*(graph.toarray() for graph in problem.graphs))
    G = 1.0 / np.concatenate(problem.weights)
    options = {**OPTIONS, "delta": delta}
    left = literal_left(K, W, G, len(problem.rows[0]), **options)
    assert np.sign(linalg.eigvalsh(left)[0]) == sign
    expected = literal_directions(K, left, 6)
    np.testing.assert_allclose(linalg.norm(found, axis=0), 1.0)
    cosines = np.abs((found * expected).sum(axis=0))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-8)


def stuck(*arguments: Any, **options: Any) -> Any:
    """Give up as Lanczos does that does not converge."""
    raise sparse.linalg.ArpackNoConvergence("stuck", np.empty(0), np.empty((0, 0)))


@pytest.mark.parametrize(
    ("shape", "k", "name", "value"),
    [
        pytest.param("fewer features than rows", 6, "NARROW", 0.0, id="no basis"),
        pytest.param("a narrow source", 6, "NARROW", 0.0, id="no basis of the source"),
        pytest.param("more features than rows", 4, "LANCZOS_FROM", 1000, id="dense"),
        pytest.param("more features than rows", 4, "eigsh", stuck, id="Lanczos stuck"),
    ],
)
def test_another_way_to_solve_gives_the_same_eigenvectors(
    shape: str, k: int, name: str, value: Any, monkeypatch: Any
) -> None:
    problem = posed(shape)
    expected = eigenvectors(problem, k)
    monkeypatch.setattr(tit, name, value)
    np.testing.assert_allclose(eigenvectors(problem, k), expected, atol=1e-8)


def test_equal_cosines_go_to_the_lower_index() -> None:
    X, codes = np.eye(2)[np.arange(60) % 2], np.zeros(60, dtype=np.intp)
    graph = class_graph(X, codes, np.zeros(1), 8).toarray()
    np.testing.assert_array_equal(graph, literal_graph(X @ X.T, codes, 8))
    assert np.flatnonzero(graph[59]).max() == 17


def test_components_are_capped_by_the_rank_of_the_kernel() -> None:
    problem = toy_problem(d_source=3, d_target=4)
    assert problem.fit(TIT()).projection_.shape[1] <= 7
    assert problem.fit(TIT(2)).projection_.shape[1] == 2


@pytest.mark.filterwarnings("error")
def test_a_singular_left_matrix_fails_with_a_reason() -> None:
    block, empty = KernelBlock(np.eye(2)), sparse.csr_array((2, 2))
    options = {"n_components": 1, "alpha": 1.0, "beta": 0.0, "delta": 1.0}
    with pytest.raises(MethodFailed, match="singular"):
        solve_alignment(
            (block, block), (empty, empty), (np.ones(2), np.ones(2)), **options
        )


def test_negative_cosines_survive_where_a_class_is_small_and_both_sides_agree() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    codes = np.zeros(3, dtype=np.intp)
    alone = class_graph(X, codes, np.array([0.0]), 8).toarray()
    assert alone[0, 1] == alone[1, 0] == -1.0
    crowded = class_graph(X, codes, np.array([7.0]), 8).toarray()
    assert not crowded.any()
