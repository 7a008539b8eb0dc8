"""Measurements of methods on tiny sizes: structure and correctness, never time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import methods
from benchmarks.measure import SIZES, Size, run_measurement, synthetic_rows
from benchmarks.methods import bench_methods, methods_table, prepare
from cdspp.methods import available, method_class
from cdspp.methods.cost import fit_cost

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


def test_a_measurement_gives_seconds_and_memory() -> None:
    found = run_measurement(f"{methods.__name__}:cdspp", TINY)
    assert found["seconds"] > 0
    assert found["peak_memory_mb"] >= 0
    json.dumps(found)


@pytest.mark.slow
def test_methods_are_measured_beside_cdspp() -> None:
    results = bench_methods([TINY], methods=["svm-t"], limit=60)
    assert list(results[0]["methods"]) == ["cdspp", "svm-t"]
    assert all(entry["seconds"] > 0 for entry in results[0]["methods"].values())
    json.dumps(results)
    lines = methods_table(results).splitlines()
    assert lines[2].split()[2] == "1.00"


@pytest.mark.parametrize("name", available())
def test_every_method_is_prepared_with_what_it_needs(name: str) -> None:
    prepare(name, TINY, synthetic_rows(TINY))


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
    heads, *rows = methods_table(results).splitlines()[1:]
    assert heads.split("MB")[-1] == " before"
    assert {len(line) for line in (heads, *rows) if line} == {95}


def test_a_fit_that_takes_too_long_is_given_up() -> None:
    results = bench_methods([TINY], methods=["cdspp"], limit=0.01)
    assert results[0]["methods"]["cdspp"]["seconds"] is None
    assert "> 0" in methods_table(results)


@pytest.mark.parametrize("name", available())
def test_the_cost_of_a_fit_grows_with_the_problem(name: str) -> None:
    small, large = (fit_cost(method_class(name), size) for size in (TINY, HOME))
    assert 0 < small.seconds <= large.seconds
    assert 0 < small.megabytes < large.megabytes
