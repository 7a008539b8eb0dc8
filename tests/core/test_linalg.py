"""The shared kernels against what they replace."""

from __future__ import annotations

import numpy as np
import pytest

from cdspp.core.linalg import (
    MANY_CLASSES,
    class_sums,
    principal_axes,
    row_normalise,
    scaled_on_both_sides,
    softmax,
    squared_distances,
    symmetric_product,
)

rng = np.random.default_rng(0)
CODES = np.array([2, 0, 2, 2, 0])


def test_rows_have_unit_length_and_zero_rows_stay_zero() -> None:
    X = rng.standard_normal((6, 4))
    X[3] = 0.0
    before = X.copy()
    norms = np.linalg.norm(row_normalise(X), axis=1)
    np.testing.assert_allclose(norms, [1, 1, 1, 0, 1, 1])
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("n_classes", [3, MANY_CLASSES + 1])
def test_class_sums_add_the_rows_of_each_class(n_classes: int) -> None:
    X = rng.standard_normal((5, 3))
    expected = [X[c == CODES].sum(axis=0) for c in range(n_classes)]
    np.testing.assert_allclose(class_sums(X, CODES, n_classes), expected, atol=1e-15)


def test_softmax_is_the_normalised_exponential_and_does_not_overflow() -> None:
    scores = rng.standard_normal((4, 3))
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softmax(scores), expected)
    np.testing.assert_allclose(softmax(scores + 1e4), expected, rtol=1e-10)


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("of_rows", [True, False])
def test_the_upper_triangle_is_the_symmetric_product(order: str, of_rows: bool) -> None:
    X = rng.standard_normal((7, 10))
    given = (
        X.repeat(2, axis=0)[::2] if order == "strided" else np.asarray(X, order=order)
    )
    expected = X @ X.T if of_rows else X.T @ X
    found = symmetric_product(given, of_rows=of_rows)
    np.testing.assert_allclose(np.triu(found), np.triu(expected), atol=1e-13)


@pytest.mark.parametrize("n", [1, 128, 300])
def test_the_upper_triangle_is_scaled_on_both_sides(n: int) -> None:
    S, scale = np.asfortranarray(rng.standard_normal((n, n))), rng.random(n)
    found = scaled_on_both_sides(S, scale)
    np.testing.assert_array_equal(np.triu(found), np.triu(S * scale[:, None] * scale))


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1e160, 1e300])
def test_rows_of_any_scale_get_unit_length(scale: float) -> None:
    X = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]])
    expected = [[0.6, 0.8], [0.0, 0.0], [-1.0, 0.0]]
    np.testing.assert_allclose(row_normalise(X * scale), expected, rtol=1e-3)


def test_squared_distances_are_those_of_the_rows_and_never_negative() -> None:
    A, B = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    expected = [[((a - b) ** 2).sum() for b in B] for a in A]
    np.testing.assert_allclose(squared_distances(A, B), expected)
    assert (squared_distances(1e6 + A, 1e6 + A) >= 0).all()


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_principal_axes_are_those_of_the_singular_value_decomposition(
    shape: tuple[int, int],
) -> None:
    X = rng.standard_normal(shape)
    axes = principal_axes(X, 5)
    _, _, expected = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(axes.T @ expected[:5].T), np.eye(5), atol=1e-10)
    assert (axes[np.abs(axes).argmax(axis=0), range(5)] > 0).all()
