"""Fits to rows in a file, by their number, on tiny sizes: structure, never time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import __main__ as command
from benchmarks import scale
from benchmarks.scale import (
    bench_scale,
    run_fit,
    scale_exponent,
    scale_table,
    sizes_up_to,
    write_rows,
)
from benchmarks.scale_figure import draw_scale
from cdspp.core import file_rows


def test_sizes_grow_to_the_largest() -> None:
    assert sizes_up_to(1_000_000) == [10_000, 30_000, 100_000, 300_000, 1_000_000]
    assert sizes_up_to(10_000) == [10_000]
    assert sizes_up_to(500) == [500]


def test_the_rows_are_written_by_parts_as_they_would_be_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path / "one.npy", 50, 6)
    monkeypatch.setattr(scale, "ROWS_AT_ONCE", 7)
    write_rows(tmp_path / "parts.npy", 50, 6)
    one, parts = (np.load(tmp_path / f"{name}.npy") for name in ("one", "parts"))
    assert one.dtype == np.float32
    assert one.shape == (50, 6)
    np.testing.assert_array_equal(one, parts)


def test_both_ways_give_the_same_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_rows, "CHUNK_VALUES", 500)
    write_rows(tmp_path / "rows.npy", 300, 20)
    file, memory = (
        run_fit(str(tmp_path / "rows.npy"), 200, way) for way in ("file", "memory")
    )
    assert file["accuracy"] == memory["accuracy"] > 0.2
    for name in ("seconds", "processor_seconds"):
        assert file[name] > 0


@pytest.fixture(scope="module")
def measured() -> pd.DataFrame:
    return bench_scale(400, n_features=20)


@pytest.mark.slow
def test_every_size_is_measured_in_both_ways_while_it_is_small(
    measured: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measured["way"].tolist() == ["file", "memory"]
    assert measured["rows"].tolist() == [400, 400]
    monkeypatch.setattr(scale, "MOST_IN_MEMORY", 100)
    assert bench_scale(200, n_features=9)["way"].tolist() == ["file"]


def test_the_exponent_is_that_of_the_growth() -> None:
    rows = np.array([10, 100, 1000])
    table = {"way": "file", "rows": rows, "processor_seconds": 0.1 * rows**1.5}
    assert scale_exponent(pd.DataFrame(table)) == pytest.approx(1.5)
    assert np.isnan(scale_exponent(pd.DataFrame(table), "memory"))


@pytest.mark.slow
def test_the_command_writes_table_and_figure(
    measured: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    larger = measured.assign(rows=4000, processor_seconds=9.0)
    both = pd.concat([measured, larger], ignore_index=True)
    monkeypatch.setattr(command, "bench_scale", lambda largest, **options: both)
    assert command.main(["scale", "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == scale_table(both) + "\n"
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"scale.csv", "scale.svg", "scale.png"}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "scale.csv"), both)
    lines = scale_table(both).splitlines()
    assert lines[1].split()[:2] == ["file", "400"]
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[-1].startswith("Rows in their file: time grows as rows ^ ")


@pytest.mark.slow
def test_the_figure_has_equal_bytes(measured: pd.DataFrame, tmp_path: Path) -> None:
    for name in ("one", "two"):
        draw_scale(measured, [tmp_path / f"{name}.svg", tmp_path / f"{name}.png"])
    for suffix in (".svg", ".png"):
        first, second = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()
