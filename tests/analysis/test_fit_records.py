"""Records of fits: outcomes by trial, and what all jobs have in common."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from support.report_data import DIGIT_TASKS, make_plan, write_fit_records
from support.result_files import rewrite_record, write_fit_record

from cdspp.analysis.fit_records import (
    mixed_devices,
    mixed_fits_note,
    mixed_versions,
    read_fit_records,
)
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


def test_trials_that_a_study_no_longer_asks_for_are_left_out(tmp_path: Path) -> None:
    plan = make_plan(tasks=DIGIT_TASKS[:1], methods=("svm-t", "cdspp"))
    paths = write_fit_records(tmp_path, plan)
    fewer = replace(plan, fit_trials=plan.fit_trials | {"main/cdspp": 2})
    records = read_fit_records(paths, [fewer])
    assert records.results.groupby("method").size().to_dict() == {
        "svm-t": 5,
        "cdspp": 2,
    }
    assert [len(job["trials"]) for job in records.jobs] == [5, 2]


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


def test_a_row_of_a_processor_and_a_gpu_is_told_with_its_numbers_of_trials(
    tmp_path: Path,
) -> None:
    plan = make_plan(tasks=DIGIT_TASKS[:2], methods=("svm-t", "cdspp"))
    paths = write_fit_records(tmp_path, plan)
    for path, device in zip(paths, ["GPU 1", "cpu", "GPU 1", "cpu"], strict=True):
        extra = {**read_json(path)["extra"], "device": device}
        rewrite_record(path.with_suffix(".parquet"), extra=extra)
    assert mixed_fits_note(paths) == ""  # each of one kind
    more = write_block(paths[0], trials=2, device="cpu")
    told = mixed_fits_note([*paths, more])
    assert "digits/main/print_sketch/svm-t GPU 1 (5 trials), cpu (2 trials)." in told
    assert "--forceall" in told
    assert "sketch_photo" not in told
    assert "cdspp" not in told
    assert mixed_devices(read_fit_records([more, *paths]).jobs) == told
    versions = {"versions": {"numpy": "2.3.1"}}
    rewrite_record(
        more.with_suffix(".parquet"), extra=read_json(more)["extra"] | versions
    )
    both = mixed_fits_note([*paths, more])
    assert both.endswith(told)
    assert "numpy 2.3.1 (1 fit)" in both


def test_gpus_of_two_models_are_one_kind_and_four_rows_are_named() -> None:
    place = {"benchmark": "digits", "setting": "main", "method": "stn"}

    def job(task: int, device: str) -> dict[str, Any]:
        return {**place, "task": f"a_{task}", "device": device, "trials": [{}]}

    models = ("GPU 1", "GPU 2")
    assert mixed_devices(job(1, device) for device in models) == ""
    told = mixed_devices(job(t, d) for t in range(5) for d in (*models, "cpu"))
    assert told.count("GPU 1 (1 trial), GPU 2 (1 trial), cpu (1 trial)") == 4
    assert "a_3/stn" in told
    assert "a_4" not in told
    assert "..." in told


def write_block(first: Path, *, trials: int, device: str) -> Path:
    """Write the record of a second block of the row of the `first`."""
    content = read_json(first)
    path = first.with_name(f"6-{5 + trials}.parquet")
    path.touch()
    kept = content["extra"]["trials"][:trials]
    write_fit_record(path, {}, {**content["extra"], "trials": kept, "device": device})
    return path.with_suffix(".json")
