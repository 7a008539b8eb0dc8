"""The benchmark of the solver, on tiny sizes: structure and correctness, never time."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cdspp.bench import (
    MEASUREMENTS,
    SIZES,
    Size,
    bench_solver,
    dense_projection,
    measure,
    run_measurement,
    solver_table,
    synthetic_rows,
    unavoidable_products,
)
from cdspp.methods.structure_preserving import solve_projection

TINY = Size("tiny", 3, 30, 12, 6, 15, 40)


def test_rows_have_the_size_asked_for_and_are_drawn_by_the_seed() -> None:
    rows = synthetic_rows(TINY)
    assert rows.X_source.shape == (30, 12)
    assert rows.X_target.shape == (21, 40)
    assert (rows.y_target == -1).sum() == 15
    assert set(rows.y_target[:6]) == set(rows.y_source) == {0, 1, 2}
    again, other = synthetic_rows(TINY), synthetic_rows(TINY, seed=1)
    np.testing.assert_array_equal(rows.X_target, again.X_target)
    assert not np.array_equal(rows.X_target, other.X_target)


def test_both_solvers_agree_on_the_benchmark_rows() -> None:
    source, target = synthetic_rows(TINY).sides(TINY.n_classes)
    closed, dense = solve_projection(source, target), dense_projection(source, target)
    np.testing.assert_allclose(closed.eigenvalues, dense.eigenvalues, rtol=1e-10)
    signs = np.sign((closed.target * dense.target).sum(axis=0))
    for side in ("source", "target", "rows_source", "rows_target"):
        found, expected = getattr(closed, side), getattr(dense, side) * signs
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_dense_solver_returns_as_many_directions_as_asked() -> None:
    source, target = synthetic_rows(TINY).sides(TINY.n_classes)
    found = dense_projection(source, target, 2)
    assert found.source.shape == (12, 2)
    assert found.eigenvalues[0] > found.eigenvalues[1] > 0


def test_the_products_leave_the_rows_as_they_are() -> None:
    rows = synthetic_rows(TINY)
    before = rows.X_target.copy()
    unavoidable_products(rows.X_source, rows.X_target, [6, 21])
    np.testing.assert_array_equal(rows.X_target, before)


@pytest.mark.parametrize("what", MEASUREMENTS)
def test_each_measurement_gives_seconds_and_memory(what: str) -> None:
    found = run_measurement(what, TINY, [6, 9])
    assert found["seconds"] > 0
    assert found["peak_memory_mb"] >= 0
    json.dumps(found)


def test_the_rounds_tell_how_many_target_rows_they_used() -> None:
    in_use = run_measurement("rounds", TINY)["rows_in_use"]
    assert len(in_use) == 5
    assert in_use[0] == 6
    assert in_use == sorted(in_use)
    assert in_use[-1] <= 21


def test_a_failed_process_is_reported_with_its_reason() -> None:
    with pytest.raises(RuntimeError, match="of tiny failed with exit code 1: KeyError"):
        measure("nothing", TINY)


def test_the_benchmark_compares_the_solvers_in_one_run() -> None:
    told: list[str] = []
    results = bench_solver([TINY], repeat=1, progress=told.append)
    assert len(told) == 4
    assert all(text.startswith("tiny: ") for text in told)
    (result,) = results
    assert list(result["measurements"]) == list(MEASUREMENTS)
    assert result["eigenvalue_difference"] < 1e-12
    assert result["speed_up"] > 0
    assert len(result["measurements"]["dense"]["seconds_of_each_run"]) == 1
    table = solver_table(results)
    assert "tiny: 3 classes, source 30 x 12" in table
    rows = [line for line in table.splitlines() if line.startswith("  ")]
    assert {len(line) for line in rows[:5]} == {56}
    assert "five rounds over products" in table
    json.dumps(results)


def test_the_sizes_are_those_of_the_benchmarks() -> None:
    home, caltech = SIZES["office-home"], SIZES["office-caltech"]
    assert (home.n_classes, home.n_source, home.d_source) == (65, 1300, 4096)
    assert (home.n_labelled, home.n_unlabelled, home.d_target) == (195, 4200, 2048)
    assert (caltech.n_source, caltech.n_labelled) == (200, 30)
    assert (caltech.d_source, caltech.d_target) == (800, 4096)
