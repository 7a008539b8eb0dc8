"""DAMA and its variants against literal formulas; iterations, graphs, options."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from support.literal_formulas import (
    literal_graph,
    literal_laplacian,
)
from support.toy_problem import WIDE, some_rows, some_source, toy_problem

from cdspp import DAMA, DAMASup, SourceDomain
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import row_normalise
from cdspp.methods import dama
from cdspp.methods.base import Problem

shapes = pytest.mark.parametrize("shape", [WIDE, {}], ids=["wide", "tall"])


def literal_pencil(
    p: Problem, alpha: float = 10.0, mu: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Return both matrices of size d_s + d_t, from matrices of all pairs of rows."""
    labels = np.concatenate([p.y_source, p.y_labelled])
    equal, known = labels[:, None] == labels, np.minimum.outer(labels, labels) >= 0
    similar, differing = 1.0 * (known & equal), 1.0 * (known & ~equal)
    Z = linalg.block_diag(p.X_source, p.X_labelled)
    graph = linalg.block_diag(literal_graph(p.X_source), literal_graph(p.X_labelled))
    inner = mu * literal_laplacian(graph) + literal_laplacian(similar)
    M1 = Z.T @ inner @ Z + alpha * np.eye(Z.shape[1])
    return M1, Z.T @ literal_laplacian(differing) @ Z


def literal_iteration(p: Problem, **options: float) -> tuple[np.ndarray, np.ndarray]:
    """Return projections, and the probabilities of the unlabelled rows.

    Rows that take part in the graph alone stand among the labelled ones, with -1.
    """
    M1, M2 = literal_pencil(p, **options)
    P = linalg.eigh(M2, M1)[1][:, ::-1][:, :4]
    P_source, P_target = np.split(P, [p.X_source.shape[1]])
    known = p.y_labelled >= 0
    codes = np.concatenate([p.y_source, p.y_labelled[known]])
    F = np.vstack([p.X_source @ P_source, p.X_labelled[known] @ P_target])
    mean = F.mean(axis=0)
    F, V = row_normalise(F - mean), row_normalise(p.X_unlabelled @ P_target - mean)
    means = row_normalise(np.array([F[codes == c].mean(axis=0) for c in range(4)]))
    scores = np.array([[math.exp(-math.dist(v, m)) for m in means] for v in V])
    return P, scores / scores.sum(axis=1, keepdims=True)


def with_more_rows(p: Problem, rows: np.ndarray, codes: Any) -> Problem:
    """Return the problem with more rows among the labelled ones of the target."""
    X, y = np.vstack([p.X_labelled, rows]), np.concatenate([p.y_labelled, codes])
    return replace(p, X_labelled=X, y_labelled=y)


def projections(model: Any) -> np.ndarray:
    """Return the projections of both domains, one above the other."""
    return np.vstack([model.projection_source_, model.projection_])


def assert_same_fit(model: Any, P: np.ndarray, scores: np.ndarray, X: Any) -> None:
    np.testing.assert_allclose(np.abs(projections(model)), np.abs(P), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), scores, atol=1e-9)
    np.testing.assert_array_equal(model.history_[-1].prediction, scores.argmax(axis=1))


@shapes
@pytest.mark.parametrize(("method", "n_in_graph"), [(DAMASup, 0), (DAMA, 40)])
@pytest.mark.parametrize("options", [{"alpha": 0.3, "mu": 4.0}, {"mu": 0.0}])
def test_a_fit_is_that_of_the_formulas(
    shape: dict, method: Any, n_in_graph: int, options: dict
) -> None:
    problem = some_source(toy_problem(**shape), np.arange(3, 32))  # unequal classes
    p = problem.prepared()
    rows = with_more_rows(p, p.X_unlabelled[:n_in_graph], [-1] * n_in_graph)
    P, scores = literal_iteration(rows, **options)
    model = problem.fit(method(**options))
    assert_same_fit(model, P, scores, problem.X[problem.unlabelled])


@shapes
def test_eigenvalues_and_scaling_are_those_of_the_problem(shape: dict) -> None:
    problem = toy_problem(**shape)
    M1, M2 = literal_pencil(problem.prepared())
    metric = problem.fit(DAMASup())
    P = projections(metric)
    np.testing.assert_allclose(P.T @ M1 @ P, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(P.T @ M2 @ P, np.diag(metric.eigenvalues_), atol=1e-10)
    assert (np.diff(metric.eigenvalues_) <= 0).all()
    unit = problem.fit(DAMASup(eigenvector_scaling="unit"))
    expected = P / np.linalg.norm(P, axis=0)
    np.testing.assert_allclose(projections(unit), expected, atol=1e-10)


def test_there_are_no_more_components_than_directions() -> None:
    problem = toy_problem()
    assert problem.fit(DAMASup(n_components=40)).projection_.shape == (7, 16)
    assert problem.fit(DAMASup(n_components=2)).projection_.shape == (7, 2)


def test_directions_beyond_those_that_tell_classes_apart_are_those_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = toy_problem(**WIDE)
    # Of 32 labelled rows 16 differ, which leaves 15 eigenvalues above zero.
    first = np.repeat([np.flatnonzero(problem.source.y == c)[0] for c in range(4)], 5)
    source = SourceDomain(problem.source.X[first], problem.source.y[first])
    assert problem.labelled.sum() == 12

    found = []
    for share in (0.0, math.inf):
        monkeypatch.setattr(dama, "FEW_ROWS", share)
        model = DAMA(n_components=17).fit(problem.X, problem.y, source=source)
        found.append(projections(model))
    np.testing.assert_array_equal(*found)


def test_a_regulariser_lost_in_rounding_is_named() -> None:
    problem = toy_problem(**WIDE)
    twice = some_rows(problem, np.repeat(np.arange(len(problem.X)), 2))
    with pytest.raises(MethodFailed, match="definite.* alpha=1e-30"):
        twice.fit(DAMASup(alpha=1e-30))
