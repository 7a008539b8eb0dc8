"""A fit that takes long or will not fit into memory says so beforehand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from support.toy_problem import toy_problem

from cdspp import CDSPP, SHFA, SSAN, SharedColumns, SourceDomain
from cdspp.core.errors import CostWarning
from cdspp.methods.cost import Size

FREE = "cdspp.methods.cost.available_megabytes"


def test_a_fit_warns_of_memory_before_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = toy_problem()
    needed = SHFA.cost(_size(problem))[1]
    monkeypatch.setattr(FREE, lambda: needed - 1)
    monkeypatch.setattr(SHFA, "_fit_and_label", _stop)
    told = r"SHFA .* \d+ MB .* \d+ MB .* \d+ source and \d+ target rows.*Leave rows"
    with pytest.warns(CostWarning, match=told), pytest.raises(Stopped):
        SHFA().fit(problem.X, problem.y, source=problem.source)


@pytest.mark.parametrize(
    ("iterations", "told"), [(100_000, "take about 28 min on one core"), (1000, "")]
)
def test_a_fit_warns_of_its_time_by_the_iterations_asked_for(
    iterations: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem()
    monkeypatch.setattr(SSAN, "cost", classmethod(lambda cls, size: (50.0, 1.0)))
    monkeypatch.setattr(SSAN, "_fit_and_label", _stop)
    model = SSAN(max_iter=iterations)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(Stopped):
            model.fit(problem.X, problem.y, source=problem.source)
    assert [told in str(each.message) for each in caught] == [True] * bool(told)


@pytest.mark.filterwarnings("error::cdspp.core.errors.CostWarning")
def test_sparse_rows_are_counted_by_the_values_that_they_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = np.random.default_rng(0).integers(50_000, size=2000)
    places = np.arange(2000) % 400, columns
    X = sparse.csr_array((np.ones(2000), places), shape=(400, 50_000))
    codes = np.arange(400) % 100
    monkeypatch.setattr(SharedColumns, "_fit_and_label", _stop)
    source = SourceDomain(X, codes, shared_columns=[(k, k) for k in range(9)])
    with pytest.raises(Stopped):  # dense rows would take a minute
        SharedColumns().fit(X, codes, source=source)


@pytest.mark.parametrize("free", [None, 1e9])
def test_a_fit_that_fits_or_cannot_tell_says_nothing(
    free: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = toy_problem()
    monkeypatch.setattr(FREE, lambda: free)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CostWarning)
        CDSPP().fit(problem.X, problem.y, source=problem.source)


class Stopped(Exception):
    """The fit began."""


def _stop(self: object, *args: object) -> None:
    raise Stopped


def _size(problem: object) -> Size:
    prepared = problem.prepared()  # type: ignore[attr-defined]
    parts = prepared.X_source, prepared.X_labelled, prepared.X_unlabelled
    (n_source, d_source), (n_labelled, d_target), (n_unlabelled, _) = map(
        np.shape, parts
    )
    return Size(
        "toy",
        prepared.n_classes,
        n_source,
        d_source,
        n_labelled,
        n_unlabelled,
        d_target,
    )
