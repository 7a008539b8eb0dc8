"""Settings, curves and deviations: the runs that they become, and faults."""

from __future__ import annotations

from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.study.model import Study
from cdspp.study.plan import plan_of

LABELS = {
    "id": "labels",
    "parameter": "labels",
    "values": [5, 1, 3],
    "methods": ["svm-t", "cdspp"],
    "tasks": 2,
    "trials": 3,
}
ALPHA = {
    "id": "alpha",
    "parameter": "alpha",
    "values": [0.1, 10, 100],
    "methods": ["cdspp"],
    "benchmarks": ["digits"],
}


@pytest.fixture
def config(embedded: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the embedded study with two curves."""
    return embedded | {"curves": [LABELS, ALPHA], "deviations": [], "settings": []}


def runs(study: Study) -> dict[tuple[str, str], list[tuple[float, str]]]:
    """Return by curve and benchmark each value with the setting that runs it."""
    return {
        (curve.identifier, curve.benchmark): [
            (v.value, v.setting) for v in curve.values
        ]
        for curve in study.curves
    }


def test_each_value_is_a_setting_and_that_of_the_main_run_is_not_run_again(
    config: dict[str, Any],
) -> None:
    study = load(config)
    assert runs(study) == {
        ("labels", "digits"): [(1, "labels-1"), (3, "main"), (5, "labels-5")],
        ("labels", "docs-to-code"): [(1, "labels-1"), (3, "labels-3"), (5, "main")],
        ("alpha", "digits"): [(0.1, "alpha-0p1"), (10, "main"), (100, "alpha-100")],
    }
    assert study.setting_tasks("digits", "labels-3") == ()
    assert len(study.setting_tasks("digits", "labels-1")) == 2
    assert study.method_options("cdspp", "alpha-100")["alpha"] == 100


def test_the_fits_of_a_curve_have_its_trials_tasks_and_methods(
    config: dict[str, Any],
) -> None:
    study = load(config)
    fits = [f for f in study.fits("digits") if f.setting == "labels-5"]
    found = sorted((fit.task, fit.method, [*study.fit_trials(fit)]) for fit in fits)
    assert found == [
        (task, method, [1, 2, 3])
        for task in ("print_sketch", "sketch_photo")
        for method in ("cdspp", "svm-t")
    ]


def test_a_changed_value_changes_its_own_fits_alone(config: dict[str, Any]) -> None:
    before = set(load(config).fits("digits"))
    config["curves"] = [LABELS | {"values": [1, 3, 7]}, ALPHA]
    after = set(load(config).fits("digits"))
    assert {fit.setting for fit in before - after} == {"labels-5"}
    assert {fit.setting for fit in after - before} == {"labels-7"}


def test_a_count_that_leaves_a_class_untested_is_dropped_for_its_task() -> None:
    config = read_study("office-caltech")
    config["curves"] = [LABELS | {"tasks": ["amazon_dslr", "amazon_webcam"]}]
    config["curves"][0]["values"] = [1, 9]  # the smallest class of dslr has 8 samples
    study = load(config | {"deviations": []})
    (curve,) = (each for each in study.curves if each.benchmark == "photographs")
    assert curve.dropped == ((9, "amazon_dslr"),)
    assert study.setting_tasks("photographs", "labels-9") == ("amazon_webcam",)
    (planned,) = plan_of(study, "photographs").curves
    assert planned.dropped == curve.dropped
    assert planned.values[-1].tasks == ("amazon_webcam",)


def test_a_curve_draws_its_labels_where_the_main_ones_are_published() -> None:
    published = load(read_study("office-caltech"))
    protocols = {
        setting: published.draw("photographs", setting, "target", "webcam")["protocol"]
        for setting in ("main", "labels-3", "alpha-100")
    }
    assert list(protocols.values()) == ["published", "seeded", "published"]
    found = runs(published)["labels", "photographs"]
    values, settings = zip(*found, strict=True)
    assert values == (1, 3, 5, 7, 9)
    assert "main" not in settings
