"""The closed form against the eigenproblem as it is written down."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import SourceDomain
from cdspp.methods.cdspp.cdspp import CDSPP
from cdspp.methods.cdspp.structure_preserving import (
    DomainSolver,
    Projection,
    RowsInUse,
    make_solver,
    solve_projection,
)

# n_classes, source (rows per class, features), target (rows per class, features)
BALANCED = {
    "more rows than features": (3, 12, 5, 9, 6),
    "fewer rows than features": (3, 4, 30, 3, 25),
    "source wide, target tall": (4, 3, 40, 12, 6),
    "source tall, target wide": (4, 12, 6, 2, 40),
    "one row a class": (3, 1, 8, 1, 9),
    "as many rows as features": (3, 4, 12, 4, 12),
    "more classes than features": (9, 4, 5, 3, 6),
    "more classes than features on one side": (9, 4, 5, 3, 12),
}


def side(
    codes: list[int], n_classes: int, d: int, seed: int, alpha: float = 10.0
) -> DomainSolver:
    """Return random rows of unit length with the given class codes."""
    rng = np.random.default_rng(seed)
    X = row_normalise(rng.standard_normal((len(codes), d)) + 0.3)
    return make_solver([RowsInUse(X, np.array(codes))], n_classes, alpha)


def balanced(name: str, alpha: float = 10.0) -> tuple[DomainSolver, DomainSolver]:
    """Return a problem with equal class sizes."""
    n_classes, n_source, d_source, n_target, d_target = BALANCED[name]
    classes = list(range(n_classes))
    return (
        side(classes * n_source, n_classes, d_source, 1, alpha),
        side(classes * n_target, n_classes, d_target, 2, alpha),
    )


def assert_same_directions(found: Projection, expected: Projection) -> None:
    """Compare eigenvalues and, up to a sign common to both sides, eigenvectors."""
    k = len(found.eigenvalues)
    np.testing.assert_allclose(
        found.eigenvalues, expected.eigenvalues[:k], rtol=1e-8, atol=1e-14
    )
    stacked = np.vstack([found.sources[0], found.target])
    oracle = np.vstack([expected.sources[0], expected.target])[:, :k]
    signs = np.sign((stacked * oracle).sum(axis=0))
    np.testing.assert_allclose(stacked, oracle * signs, rtol=0, atol=1e-8)


def full_matrices(
    source: DomainSolver, target: DomainSolver
) -> tuple[np.ndarray, np.ndarray]:
    """Write down both matrices of the eigenproblem, by matrices of all pairs."""
    between = source.X.T @ np.equal.outer(source.codes, target.codes) @ target.X
    d_source = len(between)
    A = np.zeros((sum(between.shape),) * 2)
    A[:d_source, d_source:] = between
    within = []
    for own, other in ((source, target), (target, source)):
        equal = np.equal.outer(own.codes, own.codes)
        across = np.equal.outer(own.codes, other.codes)
        degrees = equal.sum(axis=1) + across.sum(axis=1) / 2
        within.append(own.X.T @ (np.diag(degrees) - equal) @ own.X)
    return A + A.T, linalg.block_diag(*within) + source.alpha * np.eye(len(A))


def dense_projection(source: DomainSolver, target: DomainSolver) -> Projection:
    """Return the largest eigenpairs of both matrices, as many as classes."""
    d_source, k = source.X.shape[1], len(source.class_counts)
    values, vectors = linalg.eigh(*full_matrices(source, target))
    P_source, P_target = np.split(vectors[:, ::-1][:, :k], [d_source])
    return Projection(
        target=P_target,
        eigenvalues=values[::-1][:k],
        rows_sources=(source.X @ P_source,),
        rows_target=target.X @ P_target,
        expand_sources=(lambda: P_source,),
    )


@pytest.mark.parametrize("name", BALANCED)
@pytest.mark.parametrize("alpha", [10.0, 0.01])
def test_the_closed_form_equals_the_dense_eigensolver(name: str, alpha: float) -> None:
    source, target = balanced(name, alpha)
    found = solve_projection(source, target)
    widths = source.X.shape[1], target.X.shape[1]
    assert len(found.eigenvalues) == min(len(source.class_counts), *widths)
    assert_same_directions(found, dense_projection(source, target))


@pytest.mark.parametrize("d", [5, 40])
@pytest.mark.parametrize("seed", range(2))
def test_unbalanced_classes_equal_the_dense_eigensolver(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = [*range(4), *rng.choice(4, size=14, p=[0.6, 0.2, 0.1, 0.1])]
    few = [*range(4), *rng.choice(4, size=5, p=[0.1, 0.1, 0.2, 0.6])]
    source, target = side(codes, 4, d, seed + 10), side(few, 4, d + 3, seed + 20)
    found = solve_projection(source, target)
    assert_same_directions(found, dense_projection(source, target))


@pytest.mark.parametrize("d", [5, 30])
@pytest.mark.parametrize(
    ("in_source", "in_target"), [((0, 1, 2), (1, 2, 3)), ((0, 1, 2, 3), (1, 3))]
)
def test_classes_missing_on_one_side_equal_the_dense_eigensolver(
    in_source: tuple[int, ...], in_target: tuple[int, ...], d: int
) -> None:
    source = side(list(in_source) * 4, 4, d, 3)
    target = side(list(in_target) * 3, 4, d + 1, 4)
    found = solve_projection(source, target)
    assert len(found.eigenvalues) == len(set(in_source) & set(in_target))
    assert_same_directions(found, dense_projection(source, target))


@pytest.mark.parametrize("name", BALANCED)
def test_projected_rows_are_the_rows_times_the_projection(name: str) -> None:
    source, target = balanced(name)
    found = solve_projection(source, target, scaling="unit")
    np.testing.assert_allclose(
        found.rows_sources[0], source.X @ found.sources[0], atol=1e-12
    )
    np.testing.assert_allclose(found.rows_target, target.X @ found.target, atol=1e-12)


def test_more_components_than_positive_eigenvalues_warn_and_are_capped() -> None:
    source, target = balanced("more rows than features")
    message = "only 3 directions.*eigenvalue"
    with pytest.warns(UserWarning, match=message):
        found = solve_projection(source, target, 5)
    assert found.eigenvalues.shape == (3,)


# Twelve classes whose sums have a lower rank on one side: features, or rows of them.
LOW_RANK = {"few source features": (5, 30), "few target features": (30, 4)}


@pytest.mark.parametrize("change", ["row order", "scale"])
@pytest.mark.parametrize("name", LOW_RANK)
def test_what_is_the_same_problem_has_the_same_labels(name: str, change: str) -> None:
    d_source, d_target = LOW_RANK[name]
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((12, d_target))
    truth = np.repeat(np.arange(12), 20)
    X = centres[truth] + 0.8 * rng.standard_normal((240, d_target))
    y = np.where(np.arange(240) % 20 < 3, truth, -1)
    rows = rng.standard_normal((72, d_source))
    labels = np.arange(72) % 12
    plain = CDSPP().fit(X, y, source=SourceDomain(rows, labels)).transduction_
    if change == "scale":
        found = CDSPP().fit(
            X * (1 + 1e-14), y, source=SourceDomain(rows * (1 + 1e-14), labels)
        )
        np.testing.assert_array_equal(found.transduction_, plain)
        return
    order, other = rng.permutation(240), rng.permutation(72)
    found = CDSPP().fit(
        X[order], y[order], source=SourceDomain(rows[other], labels[other])
    )
    np.testing.assert_array_equal(found.transduction_, plain[order])
