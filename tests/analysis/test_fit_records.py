"""Records of fits: outcomes by trial, and what all jobs have in common."""

from __future__ import annotations

from pathlib import Path

from support.report_data import DIGIT_TASKS, make_plan, write_fit_records
from support.result_files import rewrite_record

from cdspp.analysis.fit_records import mixed_versions, read_fit_records
from cdspp.core.files import read_json


def test_outcomes_are_read_by_trial_with_what_they_belong_to(tmp_path: Path) -> None:
    plan = make_plan(tasks=DIGIT_TASKS[:1], methods=("svm-t", "cdspp"))
    records = read_fit_records(write_fit_records(tmp_path, plan, failed="svm-t"))
    assert len(records.results) == 2 * 5
    (failed,) = records.failed.itertuples()
    where = (failed.benchmark, failed.setting, failed.task, failed.method, failed.block)
    assert where == ("digits", "main", "print_sketch", "svm-t", "1-5")
    assert (failed.trial, failed.reason) == (2, "no <pairs> left")
    assert set(records.results["cpu_seconds"]) == {0.5}


def test_what_was_not_measured_is_no_number(tmp_path: Path) -> None:
    (path,) = write_fit_records(
        tmp_path, make_plan(tasks=DIGIT_TASKS[:1], methods=("cdspp",))
    )
    extra = read_json(path)["extra"]
    trials = [t | {"cpu_seconds": None} for t in extra["trials"]]
    rewrite_record(path.with_suffix(".parquet"), extra={**extra, "trials": trials})
    spent = read_fit_records([path]).results["cpu_seconds"]
    assert spent.dtype == "float64"
    assert spent.isna().all()


def test_what_jobs_have_in_common_is_said_once(tmp_path: Path) -> None:
    paths = write_fit_records(tmp_path, make_plan(tasks=DIGIT_TASKS[:1]))
    assert read_fit_records(paths).common("seed") == 7
    extra = {**read_json(paths[0])["extra"], "seed": 8}
    rewrite_record(paths[0].with_suffix(".parquet"), extra=extra)
    assert read_fit_records(paths).common("seed") == [8, 7]
    assert read_fit_records([]).common("seed") is None
    assert read_fit_records([]).results.empty


def test_fits_of_different_versions_are_told_with_what_makes_them_alike(
    tmp_path: Path,
) -> None:
    paths = write_fit_records(tmp_path, make_plan(tasks=DIGIT_TASKS[:1]))
    for path, numpy in zip(paths, ["2.3.1", *["2.4.0"] * len(paths)], strict=False):
        versions = {"numpy": numpy, "python": f"3.11.{len(numpy)}"}
        extra = {**read_json(path)["extra"], "versions": versions}
        rewrite_record(path.with_suffix(".parquet"), extra=extra)
    told = mixed_versions(read_fit_records(paths).jobs)
    assert f"numpy 2.3.1 (1 fit), 2.4.0 ({len(paths) - 1} fits)." in told
    assert "--forceall" in told
    assert "python" not in told
    assert mixed_versions(read_fit_records(paths[1:]).jobs) == ""


def test_versions_are_told_in_order_whatever_that_of_the_records() -> None:
    records = [
        {"versions": {"scipy": "1.17.0", "numpy": "2.4.0"}},
        {"versions": {"numpy": "2.3.1", "scipy": "1.16.0"}},
    ]
    told = mixed_versions(records)
    assert "versions: numpy 2.3.1 (1 fit), 2.4.0 (1 fit); scipy 1.16.0" in told
    assert mixed_versions(records[::-1]) == told
