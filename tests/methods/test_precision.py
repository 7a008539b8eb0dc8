"""Single precision: the labels of double precision, in half the memory."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from support.toy_problem import toy_problem

from cdspp.methods import make
from cdspp.methods.base import SourceDomain

METHODS = ("cdspp", "cdspp-sup", "target-only")
PROBLEM = toy_problem()


def single(method: str, X: object, source: object) -> object:
    return make(method, dtype="float32").fit(X, PROBLEM.y, source=source)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_labels_are_those_of_double_precision(method: str, wide: bool) -> None:
    # With copies of columns both domains have fewer rows than features.
    times = 40 if wide else 1
    X, Z = (np.hstack([part] * times) for part in (PROBLEM.X, PROBLEM.source.X))
    source = SourceDomain(Z, PROBLEM.source.y)
    model = make(method).fit(X, PROBLEM.y, source=source)
    less = single(method, X, source)
    np.testing.assert_array_equal(less.transduction_, model.transduction_)
    np.testing.assert_allclose(less.eigenvalues_, model.eigenvalues_, rtol=1e-4)
    assert less.projection_.dtype == np.float32
    np.testing.assert_array_equal(less.predict(X), model.predict(X))


def test_rows_of_any_kind_are_taken() -> None:
    X, source = PROBLEM.X, PROBLEM.source
    whole = single("cdspp", X, source)
    halves = [SourceDomain(source.X[k::2], source.y[k::2]) for k in (0, 1)]
    for rows, given in (
        (csr_array(X), SourceDomain(csr_array(source.X), source.y)),
        (X.astype(np.float32), source),
        (X, halves),
    ):
        found = single("cdspp", rows, given)
        assert np.mean(found.transduction_ == whole.transduction_) > 0.9


def test_tiny_and_huge_rows_keep_their_direction() -> None:
    scales = 10.0 ** np.linspace(-30, 30, len(PROBLEM.X))[:, None]
    plain = single("cdspp", PROBLEM.X, PROBLEM.source)
    scaled = single("cdspp", PROBLEM.X * scales, PROBLEM.source)
    np.testing.assert_array_equal(scaled.transduction_, plain.transduction_)


def peak(method: str, precision: str) -> int:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 800)).astype(precision)
    codes = np.arange(900) % 2
    source = SourceDomain(X[:, :700], codes)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels of noise mean nothing
        y = np.where(np.arange(900) < 40, codes, -1)
        make(method, dtype=precision).fit(X, y, source=source)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("method", METHODS)
def test_rows_in_single_precision_are_never_copied_to_double(method: str) -> None:
    single(method, PROBLEM.X, PROBLEM.source)  # imports what a fit imports
    assert peak(method, "float32") < 0.6 * peak(method, "float64")
