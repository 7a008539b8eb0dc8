"""DAMA and its variants against literal formulas; rounds, graphs, options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from support.toy_problem import WIDE, ToyProblem, toy_problem, variant

from cdspp import DAMA, DAMAPlus, DAMASup, SourceDomain
from cdspp.core.errors import MethodFailed

FAMILY = [DAMASup, DAMA, DAMAPlus]
TALL: dict[str, Any] = {}

family = pytest.mark.parametrize("method", FAMILY)
shapes = pytest.mark.parametrize("shape", [WIDE, TALL], ids=["wide", "tall"])


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Return rows of unit length."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def literal_graph(X: np.ndarray) -> np.ndarray:
    """Return the heat kernel graph of five neighbours, pair by pair."""
    n = len(X)
    D = np.array([[math.dist(a, b) for b in X] for a in X])
    W = np.zeros((n, n))
    for i in range(n):
        for j in np.argsort(D[i], kind="stable")[:6]:
            if i != j:
                W[i, j] = W[j, i] = math.exp(-(D[i, j] ** 2) / (2 * D.mean() ** 2))
    return W


def literal_laplacian(W: np.ndarray) -> np.ndarray:
    """Return row sums on the diagonal, minus the weights."""
    return np.diag(W.sum(axis=1)) - W


def literal_pencil(
    A: np.ndarray, a: list[int], B: np.ndarray, b: list[int], alpha: float, mu: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return both matrices of size d_s + d_t, from matrices of all pairs of rows."""
    labels = [*a, *b]
    n = len(labels)
    similar, differing = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if labels[i] >= 0 and labels[j] >= 0:
                similar[i, j] = labels[i] == labels[j]
                differing[i, j] = labels[i] != labels[j]
    Z = linalg.block_diag(A, B)
    graph = linalg.block_diag(literal_graph(A), literal_graph(B))
    inner = mu * literal_laplacian(graph) + literal_laplacian(similar)
    M1 = Z.T @ inner @ Z + alpha * np.eye(Z.shape[1])
    return M1, Z.T @ literal_laplacian(differing) @ Z


def literal_round(
    A: np.ndarray,
    a: list[int],
    B: np.ndarray,
    b: list[int],
    U: np.ndarray,
    *,
    alpha: float = 10.0,
    mu: float = 0.1,
) -> tuple[np.ndarray, np.ndarray]:
    """Return projections and the probabilities of the rows `U`, for four classes."""
    M1, M2 = literal_pencil(A, a, B, b, alpha, mu)
    P = linalg.eigh(M2, M1)[1][:, ::-1][:, :4]
    labelled = np.array(b) >= 0
    codes = np.array([*a, *np.array(b)[labelled]])
    F = np.vstack([A @ P[: A.shape[1]], B[labelled] @ P[A.shape[1] :]])
    mean = F.mean(axis=0)
    F, V = unit_rows(F - mean), unit_rows(U @ P[A.shape[1] :] - mean)
    means = unit_rows(np.array([F[codes == c].mean(axis=0) for c in range(4)]))
    scores = np.array([[math.exp(-math.dist(v, m)) for m in means] for v in V])
    return P, scores / scores.sum(axis=1, keepdims=True)


def literal_plus(
    A: np.ndarray, a: list[int], B: np.ndarray, b: list[int], U: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return projections and probabilities of five rounds of pseudo-labelling."""
    rounds, chosen, labels = [], [], []
    for k in range(1, 6):
        target = np.vstack([B, U[chosen]])
        P, scores = literal_round(A, a, target, [*b, *labels], U)
        rounds.append((P, scores))
        predicted, confidence = scores.argmax(axis=1), scores.max(axis=1)
        chosen = []
        for c in range(4):
            q = sorted(confidence[predicted == c])
            if q and k < 5:
                threshold = q[math.floor(len(q) * (1 - k / 5))]
                kept = (predicted == c) & (confidence >= threshold)
                chosen += np.flatnonzero(kept).tolist()
        chosen.sort()
        labels = predicted[chosen].tolist()
    return rounds


def parts(problem: ToyProblem) -> tuple[Any, ...]:
    """Return rows of unit length and labels as the literal formulas take them."""
    X, labelled = unit_rows(problem.X), ~problem.unlabelled
    return (
        unit_rows(problem.source.X),
        problem.source.y.tolist(),
        X[labelled],
        problem.y[labelled].tolist(),
        X[~labelled],
    )


def assert_same_fit(model: Any, P: np.ndarray, scores: np.ndarray, U: Any) -> None:
    found = np.vstack([model.projection_source_, model.projection_])
    np.testing.assert_allclose(np.abs(found), np.abs(P), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(U), scores, atol=1e-9)
    np.testing.assert_array_equal(model.history_[-1].prediction, scores.argmax(axis=1))


@shapes
@pytest.mark.parametrize("method", [DAMASup, DAMA])
@pytest.mark.parametrize("options", [{}, {"alpha": 0.3, "mu": 4.0}])
def test_a_fit_is_that_of_the_formulas(shape: dict, method: Any, options: dict) -> None:
    problem = toy_problem(**shape)
    A, a, B, b, U = parts(problem)
    if method is DAMA:
        B, b = np.vstack([B, U]), [*b, *(-1 for _ in U)]
    P, scores = literal_round(A, a, B, b, U, **options)
    assert_same_fit(problem.fit(method(**options)), P, scores, U)


@shapes
def test_every_round_of_pseudo_labelling_is_that_of_the_formulas(shape: dict) -> None:
    problem = toy_problem(spread=1.0, unlabelled_per_class=9, **shape)
    model = problem.fit(DAMAPlus(keep_projections=True))
    expected = literal_plus(*parts(problem))
    assert len(model.history_) == len(expected) == 5
    for entry, (P, scores) in zip(model.history_, expected, strict=True):
        found = np.vstack(entry.projections)
        np.testing.assert_allclose(np.abs(found), np.abs(P), atol=1e-9)
        np.testing.assert_array_equal(entry.prediction, scores.argmax(axis=1))
        np.testing.assert_allclose(entry.confidence, scores.max(axis=1), atol=1e-9)
    assert_same_fit(model, *expected[-1], problem.X[problem.unlabelled])


@shapes
def test_eigenvalues_and_scaling_are_those_of_the_problem(shape: dict) -> None:
    problem = toy_problem(**shape)
    M1, M2 = literal_pencil(*parts(problem)[:4], 10.0, 0.1)
    metric = problem.fit(DAMASup())
    P = np.vstack([metric.projection_source_, metric.projection_])
    np.testing.assert_allclose(P.T @ M1 @ P, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(P.T @ M2 @ P, np.diag(metric.eigenvalues_), atol=1e-10)
    assert (np.diff(metric.eigenvalues_) <= 0).all()
    unit = problem.fit(DAMASup(eigenvector_scaling="unit"))
    Q = np.vstack([unit.projection_source_, unit.projection_])
    np.testing.assert_allclose(Q, P / np.linalg.norm(P, axis=0), atol=1e-10)


def test_two_classes_at_right_angles_have_a_known_direction() -> None:
    # Four unit vectors: the pairs of different class have the eigenvalue 4 along
    # (1, -1, 1, -1) / 2, on which the pairs of equal class vanish.
    corners = np.eye(2)
    source = SourceDomain(corners, [0, 1])
    model = DAMASup(alpha=10.0, mu=0.0, n_components=1)
    model.fit(corners, [0, 1], source=source)
    direction = np.array([[0.5], [-0.5]]) / math.sqrt(10.0)
    np.testing.assert_allclose(model.eigenvalues_, [4.0 / 10.0])
    sign = np.sign(model.projection_[0, 0])
    np.testing.assert_allclose(model.projection_ * sign, direction)
    np.testing.assert_allclose(model.projection_source_ * sign, direction)


def test_unlabelled_rows_act_through_the_graph_alone() -> None:
    problem = toy_problem(spread=1.0)
    without = problem.fit(DAMA(mu=0.0))
    supervised = problem.fit(DAMASup(mu=0.0))
    np.testing.assert_allclose(without.projection_, supervised.projection_, atol=1e-10)
    with_graph = problem.fit(DAMA(mu=10.0)).projection_
    assert np.abs(with_graph - problem.fit(DAMASup(mu=10.0)).projection_).max() > 1e-3


def test_the_first_round_of_pseudo_labelling_is_the_supervised_fit() -> None:
    problem = toy_problem(spread=1.0)
    first = problem.fit(DAMAPlus(max_iter=1))
    supervised = problem.fit(DAMASup())
    np.testing.assert_array_equal(first.projection_, supervised.projection_)
    np.testing.assert_array_equal(
        problem.fit(DAMAPlus()).history_[0].prediction,
        supervised.history_[0].prediction,
    )


def test_the_share_of_pseudo_labels_grows_and_projections_are_kept_on_request() -> None:
    problem = toy_problem()
    model = problem.fit(DAMAPlus(max_iter=4, keep_projections=True))
    selected = [entry.n_selected for entry in model.history_]
    assert selected[0] == 0
    assert selected == sorted(selected)
    P_source, P_target = model.history_[-1].projections
    assert P_source is model.projection_source_
    assert P_target is model.projection_
    assert problem.fit(DAMAPlus()).history_[-1].projections is None


@family
def test_both_domains_are_seen_in_one_subspace(method: Any) -> None:
    problem = toy_problem(spread=0.1)
    model = problem.fit(method())
    Z, Z_source = model.transform(problem.X), model.transform_source(problem.source.X)
    np.testing.assert_allclose(np.linalg.norm(np.vstack([Z, Z_source]), axis=1), 1.0)
    same = problem.truth[:, None] == problem.source.y
    products = Z @ Z_source.T
    assert products[same].min() > products[~same].max()


def test_more_components_than_directions_are_cut_with_a_warning() -> None:
    problem = toy_problem()
    with pytest.warns(UserWarning, match=r"n_components=40, but .* has 16 directions"):
        model = problem.fit(DAMASup(n_components=40))
    assert model.projection_.shape == (7, 16)
    assert problem.fit(DAMASup(n_components=2)).projection_.shape == (7, 2)


def test_a_regulariser_lost_in_rounding_is_named() -> None:
    problem = toy_problem(d_source=60, d_target=90)
    X = np.repeat(problem.X, 2, axis=0)
    twice = variant(problem, X=X, y=np.repeat(problem.y, 2))
    with pytest.raises(MethodFailed, match="not definite with alpha=1e-30"):
        twice.fit(DAMASup(alpha=1e-30))
