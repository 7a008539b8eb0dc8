"""The numbers of a study behind sentences: of every benchmark, row and state."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.report_data import (
    draw_comparisons,
    draw_summary,
    make_plan,
    score_rows,
    write_sample_scores,
)

from benchmarks.__main__ import main
from benchmarks.results import read_numbers
from cdspp.analysis.source_help import of_method, on_average
from cdspp.report.tables.benchmark import build_overview
from cdspp.report.tables.source_help import build_matrix_table, build_task_table
from cdspp.report.tables.table import write_tables


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """Return the folder of a study of two benchmarks with the same methods."""
    folder = tmp_path / "results" / "toy"
    for name in ("tables", "scores"):
        (folder / name).mkdir(parents=True)
    plans = [
        make_plan(benchmark=name, tasks=["a_b"], methods=("svm-t", "cdspp"))
        for name in ("digits", "docs")
    ]
    found = [draw_comparisons(plan, source_helps=0.1) for plan in plans]
    tables = [build_overview([draw_summary(plan) for plan in plans])]
    tables += [build_matrix_table(found, plans)]
    tables += map(build_task_table, found, plans)
    write_tables(tables, [folder / "tables" / f"{t.name}.csv" for t in tables])
    write_sample_scores(folder / "scores/digits.npz", score_rows(plans[0]))
    return folder


def test_the_numbers_of_a_study_are_written_by_benchmark_row_and_kind(
    finished: Path, tmp_path: Path
) -> None:
    output = tmp_path / "docs"
    assert main(["results", str(finished), "--output", str(output)]) == 0
    numbers = read_numbers(output / "toy.csv")
    plan = make_plan(benchmark="docs", tasks=["a_b"], methods=("svm-t", "cdspp"))
    ours = on_average(of_method(draw_comparisons(plan, source_helps=0.1), "cdspp"))
    for benchmark in ("digits", "docs"):
        assert 0 < float(numbers[benchmark, "svm-t", "accuracy"]) < 1
        assert numbers[benchmark, "cdspp", "verdict"] == "positive transfer"
        assert numbers[benchmark, "cdspp", "tasks: positive transfer"] == "1"
    for entry in ours.itertuples():
        gain = float(numbers["docs", "cdspp", f"gain over {entry.comparator}"])
        assert gain == pytest.approx(entry.gain, abs=1e-6)
