"""The parts of the alignment objective: reduction, means, overflow."""

from __future__ import annotations

import numpy as np
import pytest

from cdspp.methods.ddacl.distribution_alignment import (
    AlignmentObjective,
    AlignmentTerm,
    Parameters,
    Reduced,
    stacked_means,
)

DRAWN = np.random.default_rng(0).standard_normal((30, 20))


@pytest.mark.parametrize(
    ("X", "width"),
    [(DRAWN[:6], 7), (DRAWN[[0, 1, 2, 0, 1, 2]], 7), (0 * DRAWN[:6], 7), (DRAWN, 20)],
    ids=["random", "repeated", "zero", "tall"],
)
def test_reduced_rows_give_the_same_products(X: np.ndarray, width: int) -> None:
    P = np.random.default_rng(1).standard_normal((20, 5))
    reduced = Reduced(X, P)
    assert reduced.rows.shape[1] == width
    np.testing.assert_allclose(reduced.rows @ reduced.projection, X @ P, atol=1e-12)
    np.testing.assert_allclose(reduced.rows @ reduced.rows.T, X @ X.T, atol=1e-12)
    np.testing.assert_allclose(reduced.expand(reduced.projection), P, atol=1e-12)
    assert np.linalg.norm(reduced.projection) == pytest.approx(np.linalg.norm(P))


def test_means_are_those_of_all_blocks_together() -> None:
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((9, 3)), np.arange(9) % 2
    found = stacked_means([(X[:4], codes[:4]), (X[4:], codes[4:])], 2)
    expected = [X.mean(axis=0), X[::2].mean(axis=0), X[1::2].mean(axis=0)]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("weights", [800.0, -800.0])
def test_an_overflowing_softmax_has_no_value(weights: float) -> None:
    at = Parameters(np.array([[weights], [0.0]]), np.zeros(2), (np.ones((1, 1)),))
    objective = AlignmentObjective([(np.ones((3, 1)), np.array([0, 1, 0]))], at, 0.1)
    assert np.isnan(objective(at.pack())[0])


def test_parameters_come_back_from_their_vector() -> None:
    rng = np.random.default_rng(0)
    shapes = ((3, 2), (3,), (5, 2), (4, 2))
    W, b, *projections = (rng.standard_normal(shape) for shape in shapes)
    at = Parameters(W, b, tuple(projections))
    back = at.unpack(at.pack())
    found = (back.weights, back.biases, *back.projections)
    for array, expected in zip(found, (W, b, *projections), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_equal_means_are_not_attracted_and_one_class_is_not_separated() -> None:
    rng = np.random.default_rng(0)
    A, P = rng.standard_normal((2, 4)), rng.standard_normal((4, 3))
    gradients = [np.zeros_like(P), np.zeros_like(P)]
    assert AlignmentTerm((A, A), 2.0, 3.0).add((P, P), gradients) == 0.0
    assert not np.any(gradients)


def test_intercepts_are_not_regularised() -> None:
    at = Parameters(np.zeros((2, 1)), np.ones(2), (np.zeros((3, 1)),))
    X, codes = np.ones((4, 3)), np.array([0, 1, 0, 1])
    value, gradient = AlignmentObjective([(X, codes)], at, 10.0)(at.pack())
    assert value == pytest.approx(np.log(2.0))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-15)
