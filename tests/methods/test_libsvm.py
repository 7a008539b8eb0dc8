"""LIBSVM on given kernels: the same machines as scikit-learn's classes, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, OneClassSVM, _libsvm
from support.toy_problem import toy_problem

from cdspp import HFA, SHFA
from cdspp.core.errors import MethodFailed
from cdspp.methods.hfa import hfa
from cdspp.methods.hfa.hfa import one_class


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """Choose the routines anew, in a test and after it."""
    hfa._libsvm_solver.cache_clear()
    yield
    hfa._libsvm_solver.cache_clear()


def kernel_of(n: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, 5))
    return rows @ rows.T + 0.1 * np.eye(n)


def test_this_release_of_scikit_learn_is_called_inside() -> None:
    assert hfa._libsvm_solver() is hfa._by_inner_routine


@pytest.mark.parametrize(("n", "seed"), [(2, 0), (30, 1), (150, 2)])
def test_two_sides_are_those_of_the_public_class(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernel, costs = kernel_of(n, seed), rng.uniform(0.1, 3.0, n)
    y = np.where(rng.permutation(n) < max(1, n // 4), 1.0, -1.0)
    public = SVC(kernel="precomputed", tol=1e-3).fit(kernel, -y, sample_weight=costs)
    expected = np.zeros(n)
    expected[public.support_] = -public.dual_coef_[0]
    dual, intercept = hfa._libsvm_solver()(kernel, 1e-3, y, sample_weight=costs)
    np.testing.assert_array_equal(dual, expected)
    assert intercept == -public.intercept_[0]
    assert (dual * y >= 0).all()


@pytest.mark.parametrize(("n", "seed"), [(2, 0), (30, 1), (150, 2)])
def test_one_class_is_that_of_the_public_class(n: int, seed: int) -> None:
    kernel = kernel_of(n, seed)
    nu = float(f"{1.0 / n:.5g}")
    public = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-3).fit(kernel)
    expected = np.zeros(n)
    expected[public.support_] = public.dual_coef_[0]
    np.testing.assert_array_equal(one_class(kernel, 1e-3), expected)


def absent(*arguments: Any, **options: Any) -> Any:
    raise TypeError("fit() got an unexpected keyword argument")


def different(*arguments: Any, inner: Any = _libsvm.fit, **options: Any) -> Any:
    support, vectors, counts, duals, *rest = inner(*arguments, **options)
    return support, vectors, counts, duals * (1 + 1e-15), *rest


@pytest.mark.parametrize("other", [None, absent, different])
def test_another_release_has_the_public_classes_and_the_same_values(
    other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem(spread=1.0)
    models = (HFA(max_iter=4), SHFA(max_iter=3))
    expected = [problem.fit(model)._values.coefficients for model in models]
    hfa._libsvm_solver.cache_clear()

    class Inner:
        """What stands in place of scikit-learn's module."""

        fit = staticmethod(other)
        set_verbosity_wrap = staticmethod(_libsvm.set_verbosity_wrap)

    monkeypatch.setattr("sklearn.svm._libsvm", Inner if other else None)
    assert hfa._libsvm_solver() is hfa._by_public_class
    for model, coefficients in zip(models, expected, strict=True):
        found = problem.fit(model)._values.coefficients
        np.testing.assert_array_equal(found, coefficients)


def test_a_machine_that_is_not_finite_fails_with_a_reason() -> None:
    kernel = np.full((4, 4), np.nan)
    with pytest.raises(MethodFailed, match="not finite"):
        one_class(kernel, 1e-3)
