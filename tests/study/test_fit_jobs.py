"""Which fits share a job, and the forecast of all of them."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.study_files import ROOT, load, read_study

from cdspp.core.errors import DataError
from cdspp.core.names import MAIN, FitKey
from cdspp.methods import method_class
from cdspp.study.files import feature_file
from cdspp.study.fit_jobs import (
    SHARED_SECONDS,
    START_SECONDS,
    FitRule,
    Forecast,
    check_own_files,
    expected_seconds,
    fit_rules,
    forecast,
    forecast_text,
    is_quick,
    job_cost,
    missing_packages,
    wall_times,
)
from cdspp.study.model import Study

LACKING = "needs {}, which is not installed: pip install 'cdspp[{}]'."
SHIPPED = ("embedded", "office-caltech")
STATES = (
    *("none", "none-matched", "swapped-classes"),
    *("permuted-labels", "class-noise", "noise"),
)
EXTRA: list[dict[str, Any]] = [
    {"id": "one-label", "methods": ["cdspp", "svm-t"], "labels": {"target": 1}},
    {"id": "few-sources", "methods": ["cdspp"], "labels": {"source": 5}, "tasks": 2},
    {"id": "less-alpha", "methods": ["cdspp"], "options": {"alpha": 1}, "trials": 7},
]


@pytest.fixture(scope="module", params=[*SHIPPED, "changed"])
def study(request: pytest.FixtureRequest) -> Study:
    """Return a study that is shipped, or one with whatever keeps fits apart."""
    embedded = yaml.safe_load((ROOT / "config.yaml").read_text())
    changed = {"settings": EXTRA, "block_size": 4, "deviations": [{"id": "final-fit"}]}
    own = {"embedded": embedded, "changed": {**embedded, **changed}}
    return load(own.get(request.param) or read_study(request.param))


@pytest.fixture(scope="module")
def groups(study: Study) -> list[FitRule]:
    return list(fit_rules(study))


def grouped(groups: list[FitRule]) -> list[FitKey]:
    """Return every fit that a group makes, once for each group that does."""
    return [
        member._replace(task=task, block=block)
        for group in groups
        for member, task, block in product(group.fits, group.tasks, group.blocks)
    ]


def test_every_fit_is_in_exactly_one_group(study: Study, groups: list[FitRule]) -> None:
    fits = [fit for place in study.benchmarks for fit in study.fits(place)]
    assert len(set(fits)) == len(fits)
    assert sorted(grouped(groups)) == sorted(fits)


def test_a_group_never_mixes_splits_views_or_priors(
    study: Study, groups: list[FitRule]
) -> None:
    for group in groups:
        read = {
            (
                study.split_setting(setting, "source"),
                study.split_setting(setting, "target"),
                *study.views_of(benchmark, setting, method).values(),
                "paired_rows" in study.bridge(benchmark, setting, method),
                study.prior_file(setting, method),
            )
            for benchmark, setting, _, method, _ in group.fits
        }
        assert len(read) == 1, group


def test_methods_share_a_job_only_where_it_stays_short_and_without_torch(
    study: Study, groups: list[FitRule]
) -> None:
    shared = [group for group in groups if len(group.methods) > 1]
    assert shared
    for group in shared:
        jobs = product(group.tasks, group.blocks)
        assert max(job_cost(study, group, *job).seconds for job in jobs) <= (
            SHARED_SECONDS
        )
        assert not any(method_class(name).needs_torch for name in group.methods)


def test_rules_of_fits_say_benchmark_first_method_and_number_of_the_others(
    study: Study, groups: list[FitRule]
) -> None:
    names = [group.name for group in groups]
    assert len(set(names)) == len(names)
    for group in groups:
        benchmark, setting, _, method, _ = group.fits[0]
        ending = "" if setting == MAIN else f"_{setting}"
        others = len(group.methods) - 1
        more = f"_and_{others}_more" if others else ""
        wanted = f"fit_{benchmark}_{method}{more}{ending}".replace("-", "_")
        assert re.fullmatch(rf"{wanted}(__\d+)?", group.name)
        assert is_quick(study, group) or not others


def test_quick_methods_in_all_states_are_one_job_a_task_and_block(
    config: dict[str, Any],
) -> None:
    config["methods"][1]["trials"] = 2
    config["settings"] = EXTRA[:1]
    every = list(fit_rules(load(config)))
    groups = [group for group in every if group.fits[0].benchmark == "digits"]
    quick = ("svm-t", "cdspp-sup", "cdspp", "cdspp-pca", "target-only")
    assert {(g.methods, g.fits[0].setting, g.blocks, len(g.fits)) for g in groups} == {
        (quick, "main", ("1-10",), 16 + len(STATES)),
        (("svm-t", "cdspp"), "one-label", ("1-10",), 2),
    }
    assert all(len(group.tasks) == 4 for group in groups)


def test_a_method_added_at_the_end_moves_no_other(
    embedded: dict[str, Any],
) -> None:
    added = next(entry for entry in embedded["methods"] if entry["id"] == "cdspp-pca")
    others = [entry for entry in embedded["methods"] if entry is not added]
    embedded["curves"] = []
    before, after = (
        list(fit_rules(load({**embedded, "methods": methods})))
        for methods in (others, [*others, added])
    )
    kept = [_without(group, "cdspp-pca") for group in after]
    assert [group for group in kept if group.fits] == [*map(_without, before)]


def _without(group: FitRule, method: str = "") -> FitRule:
    """Return a group without a method and without its name, which counts them."""
    fits = tuple(member for member in group.fits if member.method != method)
    return replace(group, fits=fits, name="")


def test_a_job_is_expected_to_take_what_its_fits_do_and_a_start(study: Study) -> None:
    jobs = [
        (k, group.name, {"task": task, "block": block})
        for k, (group, task, block) in enumerate(
            (group, task, block)
            for group in fit_rules(study)
            for task, block in product(group.tasks, group.blocks)
        )
    ]
    found = expected_seconds(study, [*jobs, (-1, "tables_and_figures", {})])
    assert found.pop(-1) == START_SECONDS
    fits = sum(seconds - START_SECONDS for seconds in found.values())
    total = forecast(study)[1]
    assert total.jobs == len(jobs)
    each = [fit for place in study.benchmarks for fit in study.fits(place)]
    assert total.trials == sum(len(study.fit_trials(fit)) for fit in each)
    first = next(fit_rules(study)).fits[0]
    copying = {first._replace(**jobs[0][2])}
    assert expected_seconds(study, jobs[:1], copying) == {0: START_SECONDS}
    walls, longest = wall_times(study), max(found.values())
    assert walls[1] == pytest.approx(sum(found.values()))
    assert walls[32] == pytest.approx(max(walls[1] / 32, longest))
    # Jobs have whole seconds.
    assert abs(fits - 3600 * total.core_hours) <= 0.5 * len(jobs)


def test_no_two_rules_have_one_name() -> None:
    embedded = yaml.safe_load((ROOT / "config.yaml").read_text())
    kept = ("study", "seed", "trials", "block_size", "numeric_threads", "views")
    entry = {k: v for k, v in embedded["benchmarks"][0].items() if k != "bridge"}
    slow = {"class": "sklearn.linear_model:LogisticRegression", "seconds": 1000}
    study = load(
        {
            **{key: embedded[key] for key in kept},
            "benchmarks": [entry | {"id": "a-b"}, entry | {"id": "a"}],
            "methods": [slow | {"id": "c"}, slow | {"id": "b-c"}],
        }
    )
    rules = [group.name for group in fit_rules(study)]
    assert rules == ["fit_a_b_c", "fit_a_b_b_c", "fit_a_c", "fit_a_b_c__2"]


def test_what_a_study_lacks_is_named_with_the_rows_that_need_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = load(yaml.safe_load((ROOT / "config.yaml").read_text()))
    assert missing_packages(study) == []
    for package in ("torch", "cv2"):
        monkeypatch.setitem(sys.modules, package, None)
    words, networks = missing_packages(study)
    assert words == "sift-words " + LACKING.format("cv2", "images")
    assert networks.endswith(LACKING.format("torch", "networks"))
    rows = networks.partition(" needs ")[0]
    assert {"ssan", "stn", "alexnet-fc6"} <= {*rows.replace(" and ", ", ").split(", ")}
    made = ["results/embedded/fits/digits/main/print_sketch/stn/1-5.parquet"]
    assert missing_packages(study, made) == [
        "stn " + LACKING.format("torch", "networks")
    ]
    assert missing_packages(study, ["results/embedded/scores/digits.parquet"]) == []


def test_files_of_views_are_read_before_a_run_that_needs_them(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    (view,) = (v for v in config["views"] if v["id"] == "alexnet-fc6")
    file = tmp_path / "vectors.npz"
    view |= {"extractor": "embeddings", "options": {"file": str(file)}}
    np.savez(file, a=np.ones(2), b=np.ones(3))
    study = load(config)
    made = feature_file(study, "digits", "photo", "alexnet-fc6")
    for files in (None, [made]):
        with pytest.raises(DataError, match="1 of 2 vectors have another length"):
            check_own_files(study, files)
    check_own_files(study, [made.replace("photo", "phota")])
    np.savez(file, a=np.ones(2), b=np.ones(2))
    check_own_files(study, None)


@pytest.mark.parametrize(("jobs", "told"), [(9_999, False), (20_000, True)])
def test_what_many_jobs_cost_to_plan_is_said_with_the_key_that_decides(
    jobs: int, told: bool
) -> None:
    text = forecast_text([Forecast("all", jobs, 40_000, 1.0, 300.0)], {1: 3600.0})
    assert ("20000 fit jobs for about 5 min, in 2.7 GB" in text) == told
    assert ("block_size" in text) == told
