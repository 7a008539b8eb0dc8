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
    symmetric_product,
)

rng = np.random.default_rng(0)
CODES = np.array([2, 0, 2, 2, 0])


@pytest.mark.parametrize("n_classes", [3, MANY_CLASSES + 1])
def test_class_sums_add_the_rows_of_each_class(n_classes: int) -> None:
    X = rng.standard_normal((5, 3))
    expected = [X[c == CODES].sum(axis=0) for c in range(n_classes)]
    np.testing.assert_allclose(class_sums(X, CODES, n_classes), expected, atol=1e-15)


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


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_principal_axes_are_those_of_the_singular_value_decomposition(
    shape: tuple[int, int],
) -> None:
    X = rng.standard_normal(shape)
    axes = principal_axes(X, 5)
    _, _, expected = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(axes.T @ expected[:5].T), np.eye(5), atol=1e-10)
    assert (axes[np.abs(axes).argmax(axis=0), range(5)] > 0).all()
