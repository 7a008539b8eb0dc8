"""The benchmark of the solver, on tiny sizes: structure and correctness, never time."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks import solver
from benchmarks.measure import SIZES, Size, measure, run_measurement, synthetic_rows
from benchmarks.methods import bench_methods, methods_table, prepare
from benchmarks.networks import bench_networks, networks_table, step_products
from benchmarks.products import products_share
from benchmarks.solver import (
    MEASUREMENTS,
    bench_solver,
    dense_projection,
    sides,
    solver_table,
    unavoidable_products,
)
from cdspp.methods import available, method_class
from cdspp.methods.cdspp.structure_preserving import solve_projection
from cdspp.methods.cost import fit_cost
from cdspp.paper.times import paper_seconds

HOME = SIZES["office-home"]
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
    source, target = sides(synthetic_rows(TINY), TINY.n_classes)
    closed, dense = solve_projection(source, target), dense_projection(source, target)
    np.testing.assert_allclose(closed.eigenvalues, dense.eigenvalues, rtol=1e-10)
    signs = np.sign((closed.target * dense.target).sum(axis=0))
    for found, expected in (
        (closed.sources[0], dense.sources[0]),
        (closed.target, dense.target),
        (closed.rows_sources[0], dense.rows_sources[0]),
        (closed.rows_target, dense.rows_target),
    ):
        np.testing.assert_allclose(found, expected * signs, atol=1e-10)


def test_the_dense_solver_returns_as_many_directions_as_asked() -> None:
    source, target = sides(synthetic_rows(TINY), TINY.n_classes)
    found = dense_projection(source, target, 2)
    assert found.sources[0].shape == (12, 2)
    assert found.eigenvalues[0] > found.eigenvalues[1] > 0


def test_the_products_leave_the_rows_as_they_are() -> None:
    rows = synthetic_rows(TINY)
    before = rows.X_target.copy()
    unavoidable_products(rows.X_source, rows.X_target, [6, 21])
    np.testing.assert_array_equal(rows.X_target, before)


@pytest.mark.parametrize("what", MEASUREMENTS)
def test_each_measurement_gives_seconds_and_memory(what: str) -> None:
    found = run_measurement(f"{solver.__name__}:{what}", TINY, [6, 9])
    assert found["seconds"] > 0
    assert found["peak_memory_mb"] >= 0
    json.dumps(found)


def test_the_iterations_return_their_numbers_of_target_rows() -> None:
    in_use = run_measurement(f"{solver.__name__}:iterations", TINY)["rows_in_use"]
    assert len(in_use) == 5
    assert in_use[0] == 6
    assert in_use == sorted(in_use)
    assert in_use[-1] <= 21


@pytest.mark.slow
def test_a_failed_process_is_reported_with_its_reason() -> None:
    with pytest.raises(RuntimeError, match="failed with exit code 1: KeyError"):
        measure(f"{solver.__name__}:nothing", TINY)


@pytest.mark.slow
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
    assert "five iterations over products" in table
    json.dumps(results)


def test_the_sizes_are_those_of_the_benchmarks() -> None:
    home, caltech = SIZES["office-home"], SIZES["office-caltech"]
    assert (home.n_classes, home.n_source, home.d_source) == (65, 1300, 4096)
    assert (home.n_labelled, home.n_unlabelled, home.d_target) == (195, 4200, 2048)
    assert (caltech.n_source, caltech.n_labelled) == (200, 30)
    assert (caltech.d_source, caltech.d_target) == (800, 4096)


@pytest.mark.slow
def test_methods_are_measured_beside_cdspp_and_the_papers_times(
    repository: Path,
) -> None:
    results = bench_methods([TINY], methods=["svm-t"], limit=60)
    assert list(results[0]["methods"]) == ["cdspp", "svm-t"]
    assert all(entry["seconds"] > 0 for entry in results[0]["methods"].values())
    json.dumps(results)
    paper = paper_seconds(repository / "resources/paper/computation_time.csv")
    lines = methods_table(results, {"tiny": paper["mrc"]}).splitlines()
    assert lines[2].split()[2] == "1.00"
    assert lines[2].split()[-1] == "1.00"
    assert lines[3].split()[-1] == "–"


@pytest.mark.parametrize("name", available())
def test_every_method_is_prepared_with_what_it_needs(name: str) -> None:
    prepare(name, TINY, synthetic_rows(TINY), [])


@pytest.mark.slow
def test_fits_take_turns_with_those_of_another_version(
    repository: Path, tmp_path: Path
) -> None:
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "benchmarks").symlink_to(repository / "benchmarks")
    results = bench_methods([TINY], methods=["svm-t"], before=tmp_path, repeat=2)
    entry = results[0]["methods"]["svm-t"]
    assert entry["before"]["seconds"] > 0
    assert "products" in entry
    heads, *rows = methods_table(results).splitlines()[1:]
    assert heads.split("MB")[-1] == " before"
    assert {len(line) for line in (heads, *rows) if line} == {117}


def test_a_method_that_the_other_version_lacks_has_a_dash(tmp_path: Path) -> None:
    entry = {"seconds": 2.0, "peak_memory_mb": 3.0, "model_seconds": 1.0}
    lacks = {"seconds": None, "peak_memory_mb": None}
    found = {
        "cdspp": {**entry, "products": 0.5, "before": {**entry, "seconds": 4.0}},
        "nn-t": {**entry, "products": None, "before": lacks},
    }
    table = methods_table([{"size": asdict(TINY), "methods": found}])
    assert table.splitlines()[2].split()[-3:] == ["2.00", "0.50", "3"]
    assert table.splitlines()[3].split()[-3:] == ["–", "–", "–"]


def test_samples_in_blas_and_in_products_of_torch_count_as_products() -> None:
    libraries = "/x/numpy.libs/libscipy_openblas64_-1.so", "/tmp/perf-12.map"
    counted = [
        f"  7f33548b8210 dgemm_kernel_HASWELL ({libraries[0]})",
        f"  7f33548b8210 [unknown] ({libraries[1]})",
        "      7f335 mkl_blas_def_sgemm_kernel_0_zen (/x/torch/lib/libtorch_cpu.so)",
    ]
    others = [
        "  7f01ab301e9f _PyEval_EvalFrameDefault (/lib/libpython3.11.so.1.0)",
        "  7f01ab301e9f at::native::fused_adam_kernel (/x/torch/lib/libtorch_cpu.so)",
    ]
    waiting = f"  7f33548b8210 blas_thread_server ({libraries[0]})"
    lines = [*counted, *others, waiting] * 40
    assert products_share(lines) == pytest.approx(0.6)
    assert products_share(lines[:30]) is None


def test_the_products_of_a_step_follow_from_the_sizes() -> None:
    textbook = step_products(TINY, 8, sums_rows=False)
    second = [(30, 10, 8), (8, 30, 10), (30, 8, 10)]
    assert textbook[:5] == [(30, 12, 10), (10, 30, 12), *second]
    # 21 target rows are fewer than twice 40 features; 30 are more than twice 12.
    own = step_products(TINY, 8, sums_rows=True)
    assert own == [*textbook[:5], (21, 21, 24), *textbook[7:]]


@pytest.mark.slow
def test_a_step_of_each_network_is_measured_beside_its_products() -> None:
    pytest.importorskip("torch")
    results = bench_networks([TINY])
    assert list(results[0]["networks"]) == ["jmea", "ssan", "stn"]
    for entry in results[0]["networks"].values():
        assert entry["step_ms"] > entry["products_ms"] > 0
        assert entry["textbook_ms"] > 0
    lines = networks_table(results).splitlines()
    assert {len(line) for line in lines[1:5]} == {62}
    json.dumps(results)


def test_a_fit_that_takes_too_long_is_given_up() -> None:
    results = bench_methods([TINY], methods=["cdspp"], limit=0.01)
    assert results[0]["methods"]["cdspp"]["seconds"] is None
    assert "> 0" in methods_table(results)


@pytest.mark.parametrize("name", available())
def test_the_cost_of_a_fit_grows_with_the_problem(name: str) -> None:
    small, large = (fit_cost(method_class(name), size) for size in (TINY, HOME))
    assert 0 < small.seconds <= large.seconds
    assert 0 < small.megabytes < large.megabytes
