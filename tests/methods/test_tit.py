"""TIT: the literal formulas against the fast path, graphs, fallbacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.svm import SVC
from support.toy_problem import (
    WIDE,
    ToyProblem,
    toy_problem,
)

from cdspp import SVMT, TIT
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import counts, row_normalise
from cdspp.methods.tit import kernel_alignment
from cdspp.methods.tit.kernel_alignment import KernelBlock, class_graph, solve_alignment

SHAPES: dict[str, dict[str, Any]] = {
    "fewer features than rows": {},
    "more features than rows": WIDE,
    "a narrow source": {"d_source": 3, "d_target": 90},
    "equal widths": {"d_source": 8, "d_target": 8},
    "small classes": {"source_per_class": 2, "unlabelled_per_class": 3},
}
shapes = pytest.mark.parametrize("shape", SHAPES)
OPTIONS: dict[str, Any] = {"alpha": 0.7, "beta": 0.3, "delta": 0.02}


def literal_graph(K: np.ndarray, labels: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the graph of all samples, one sample after another."""
    chosen = np.zeros_like(K)
    for i, label in enumerate(labels):
        members = [j for j in range(len(labels)) if labels[j] == label]
        nearest = sorted(members, key=lambda j: -K[i, j])[: n_neighbors + 1]
        for j in nearest:
            chosen[i, j] = K[i, j]
    np.fill_diagonal(chosen, 0.0)
    return np.maximum(chosen, chosen.T)


def literal_directions(
    K: np.ndarray, W: np.ndarray, G: np.ndarray, n_source: int, k: int, **options: float
) -> np.ndarray:
    """Solve the dense generalised eigenproblem of all samples."""
    n = len(K)
    is_source = np.arange(n) < n_source
    e = np.where(is_source, 1.0 / n_source, -1.0 / (n - n_source))
    M = np.outer(e, e)
    M /= linalg.norm(M)
    H = np.eye(n) - 1.0 / n
    L = np.diag(W.sum(axis=1)) - W
    R = np.diag(np.where(is_source, 0.0, options["delta"]))
    left = K @ (M + options["beta"] * L - R) @ K + options["alpha"] * np.diag(G)
    inverse_phi, vectors = linalg.eig(K @ H @ K, left)
    kept = np.argsort(-np.abs(inverse_phi))[:k]
    A = vectors[:, kept].real
    return A / linalg.norm(A, axis=0)


def literal_tit(problem: ToyProblem, k: int, **options: float) -> list[np.ndarray]:
    """Return the predictions of three rounds, formula by formula."""
    known = ~problem.unlabelled
    T = row_normalise(np.vstack([problem.X[known], problem.X[~known]]))
    S = row_normalise(problem.source.X)
    K = linalg.block_diag(S @ S.T, T @ T.T)
    n_source = len(S)
    given = np.concatenate([problem.source.y, problem.y[known]])
    machine = SVC(kernel="linear").fit(T[: known.sum()], problem.y[known])
    labels = np.concatenate([given, machine.predict(T[known.sum() :])])
    G, rounds = np.ones(len(K)), []
    for _ in range(3):
        A = literal_directions(
            K, literal_graph(K, labels, 8), G, n_source, k, **options
        )
        G = 1.0 / np.sqrt((A**2).sum(axis=1) + 2.2e-16)
        Z = K @ A
        machine = SVC(kernel="linear").fit(Z[: len(given)], given)
        rounds.append(machine.predict(Z[len(given) :]))
        labels = np.concatenate([given, rounds[-1]])
    return rounds


@shapes
@pytest.mark.parametrize("seed", range(3))
def test_every_round_equals_the_dense_formulas(shape: str, seed: int) -> None:
    problem = toy_problem(**SHAPES[shape], spread=1.0, seed=seed)
    n_components = 5
    expected = literal_tit(problem, n_components, **OPTIONS)
    model = TIT(n_components, max_iter=3, **OPTIONS)
    found = [entry.prediction for entry in problem.fit(model).history_]
    np.testing.assert_array_equal(found, expected)


def sides(problem: ToyProblem) -> tuple[Any, Any, Any]:
    """Return the unit rows of both domains and random inverse weights."""
    rng = np.random.default_rng(5)
    rows = [row_normalise(problem.source.X), row_normalise(problem.X)]
    weights = tuple(rng.uniform(0.05, 1.0, len(X)) for X in rows)
    n_classes = 4
    codes = [problem.source.y, problem.truth]
    sizes = [counts(code, n_classes) for code in codes]
    graphs = tuple(
        class_graph(X, code, absent)
        for X, code, absent in zip(rows, codes, sizes[::-1], strict=True)
    )
    return rows, graphs, weights


def coefficients(problem: ToyProblem, k: int = 6, **changes: Any) -> np.ndarray:
    """Return the eigenvectors of the fast path, both domains together."""
    rows, graphs, weights = sides(problem)
    blocks = (KernelBlock.of_rows(rows[0]), KernelBlock.of_rows(rows[1]))
    options = {**OPTIONS, **changes}
    return np.vstack(
        solve_alignment(blocks, graphs, weights, n_components=k, **options)
    )


@shapes
def test_eigenvectors_equal_those_of_the_dense_solve(shape: str) -> None:
    problem = toy_problem(**SHAPES[shape], spread=1.0)
    rows, graphs, weights = sides(problem)
    found = coefficients(problem)
    K = linalg.block_diag(*(X @ X.T for X in rows))
    W = linalg.block_diag(*(graph.toarray() for graph in graphs))
    G = 1.0 / np.concatenate(weights)
    expected = literal_directions(K, W, G, len(rows[0]), 6, **OPTIONS)
    np.testing.assert_allclose(linalg.norm(found, axis=0), 1.0)
    cosines = np.abs((found * expected).sum(axis=0))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-8)


def test_an_indefinite_left_matrix_is_no_obstacle() -> None:
    problem = toy_problem(spread=1.0)
    rows, graphs, weights = sides(problem)
    K = linalg.block_diag(*(X @ X.T for X in rows))
    W = linalg.block_diag(*(graph.toarray() for graph in graphs))
    options = {**OPTIONS, "delta": 3.0}
    L = np.diag(W.sum(axis=1)) - W
    R = np.diag(np.repeat([0.0, 3.0], [len(X) for X in rows]))
    G = 1.0 / np.concatenate(weights)
    left = K @ (options["beta"] * L - R) @ K + options["alpha"] * np.diag(G)
    assert linalg.eigvalsh(left)[0] < 0
    found = coefficients(problem, delta=3.0)
    expected = literal_directions(K, W, G, len(rows[0]), 6, **options)
    cosines = np.abs((found * expected).sum(axis=0))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-7)


@pytest.mark.parametrize("shape", ["fewer features than rows", "a narrow source"])
def test_the_form_with_a_basis_equals_the_one_without(
    shape: str, monkeypatch: Any
) -> None:
    problem = toy_problem(**SHAPES[shape], spread=1.0)
    expected = coefficients(problem)
    monkeypatch.setattr(kernel_alignment, "NARROW", 0.0)
    np.testing.assert_allclose(coefficients(problem), expected, atol=1e-7)


def test_lanczos_and_the_dense_solver_agree(monkeypatch: Any) -> None:
    problem = toy_problem(**WIDE, spread=1.0)
    found = coefficients(problem, k=4)
    monkeypatch.setattr(kernel_alignment, "LANCZOS_FROM", 1000)
    np.testing.assert_allclose(coefficients(problem, k=4), found, atol=1e-8)


def test_lanczos_that_does_not_converge_gives_way_to_the_dense_solver(
    monkeypatch: Any,
) -> None:
    def stuck(*arguments: Any, **options: Any) -> Any:
        raise sparse.linalg.ArpackNoConvergence("stuck", np.empty(0), np.empty((0, 0)))

    problem = toy_problem(**WIDE, spread=1.0)
    expected = coefficients(problem, k=4)
    monkeypatch.setattr(kernel_alignment, "eigsh", stuck)
    np.testing.assert_allclose(coefficients(problem, k=4), expected, atol=1e-8)


@pytest.mark.parametrize("n_neighbors", [1, 3, 8])
@pytest.mark.parametrize("per_class", [2, 4, 12])
def test_the_graph_of_each_domain_is_a_block_of_the_pooled_one(
    per_class: int, n_neighbors: int
) -> None:
    problem = toy_problem(source_per_class=per_class, spread=2.0, seed=per_class)
    S, T = row_normalise(problem.source.X), row_normalise(problem.X)
    y_source, y_target = problem.source.y, problem.truth
    K = linalg.block_diag(S @ S.T, T @ T.T)
    pooled = literal_graph(K, np.concatenate([y_source, y_target]), n_neighbors)
    found = linalg.block_diag(
        class_graph(S, y_source, counts(y_target, 4), n_neighbors).toarray(),
        class_graph(T, y_target, counts(y_source, 4), n_neighbors).toarray(),
    )
    np.testing.assert_allclose(found, pooled, atol=1e-12)


def test_negative_cosines_survive_where_a_class_is_small_and_both_sides_agree() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    codes = np.zeros(3, dtype=np.intp)
    alone = class_graph(X, codes, np.array([0.0])).toarray()
    assert alone[0, 1] == alone[1, 0] == -1.0
    crowded = class_graph(X, codes, np.array([7.0])).toarray()
    assert not crowded.any()


def test_equal_cosines_go_to_the_lower_index() -> None:
    directions = np.arange(60) % 2
    X = np.eye(2)[directions]
    graph = class_graph(X, np.zeros(60, dtype=np.intp), np.zeros(1), 8).toarray()
    chosen = (directions[:, None] == directions) & (np.arange(60) < 18)
    expected = np.maximum(chosen, chosen.T).astype(float)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_array_equal(graph, expected)


def test_the_first_labels_are_those_of_a_machine_on_unit_target_rows() -> None:
    problem = toy_problem(spread=1.0)
    seen: list[np.ndarray] = []

    class Watched(TIT):
        def _vote(self, Z: Any) -> Any:
            seen.append(super()._vote(Z))
            return seen[-1]

    problem.fit(Watched())
    expected = problem.fit(SVMT(strategy="ovo", l2=True)).history_[0].prediction
    np.testing.assert_array_equal(seen[0], expected)


def test_features_are_the_kernel_with_the_rows_times_their_coefficients() -> None:
    problem = toy_problem(spread=1.0)
    model = problem.fit(TIT(5))
    Z, Z_source = model.transform(problem.X), model.transform_source(problem.source.X)
    assert Z.shape == (len(problem.X), 5)
    known = ~problem.unlabelled
    rows = np.vstack([Z_source, Z[known]])
    codes = np.concatenate([problem.source.y, problem.y[known]])
    machine = SVC(kernel="linear").fit(rows, codes)
    np.testing.assert_array_equal(machine.predict(Z), model.predict(problem.X))


def test_components_are_capped_by_the_rank_of_the_kernel() -> None:
    problem = toy_problem(d_source=3, d_target=4)
    assert problem.fit(TIT()).projection_.shape[1] <= 7
    assert problem.fit(TIT(2)).projection_.shape[1] == 2


@pytest.mark.filterwarnings("error")
def test_a_singular_left_matrix_fails_with_a_reason() -> None:
    block = KernelBlock.of_rows(np.eye(2))
    empty = sparse.csr_array((2, 2))
    with pytest.raises(MethodFailed, match="singular"):
        solve_alignment(
            (block, block),
            (empty, empty),
            (np.ones(2), np.ones(2)),
            n_components=1,
            alpha=1.0,
            beta=0.0,
            delta=1.0,
        )
