"""The plan of a benchmark: rows by kind, trials asked for, curves, what passes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from support.study_files import ROOT, load, read_study

from cdspp.study.plan import BenchmarkPlan, DeviationPlan, Showcase, plan_of


@pytest.fixture
def config() -> dict[str, Any]:
    """Return the configuration of the embedded study."""
    whole: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())
    return whole


def plan(config: dict[str, Any], benchmark: str = "digits") -> BenchmarkPlan:
    return plan_of(load(config), benchmark)


def keys(found: BenchmarkPlan, kind: str) -> list[str]:
    return [row.key for row in found.rows if row.kind == kind]


def test_methods_are_told_from_controls_and_rivals(config: dict[str, Any]) -> None:
    found = plan(config)
    methods = [entry["id"] for entry in config["methods"]]
    assert keys(found, "method") == [name for name in methods if name != "target-only"]
    assert keys(found, "control") == ["target-only", "placebo", "noise"]
    assert keys(found, "rival") == ["cdspp-pca, placebo"]
    assert keys(found, "variant") == []
    shown = [row.key for row in found.shown_rows]
    assert shown == [*keys(found, "method"), *keys(found, "control")]


def test_every_setting_and_method_has_one_row(config: dict[str, Any]) -> None:
    config["settings"] += [
        {"id": "alpha-2", "options": {"alpha": 2}, "methods": ["cdspp", "dama-plus"]}
    ]
    rows = plan(config | {"curves": []}).rows
    cells = [(row.setting, row.method) for row in rows]
    assert len(set(cells)) == len(cells)
    assert [row.display_name for row in rows if row.kind == "variant"] == [
        "CDSPP, alpha-2",
        "DAMA+, alpha-2",
    ]


def test_a_setting_asks_for_its_own_trials(config: dict[str, Any]) -> None:
    config["settings"][0]["trials"] = 3
    asked = {row.key: row.trials_asked for row in plan(config).rows}
    assert asked["placebo"] == asked["cdspp-pca, placebo"] == 3
    assert asked["noise"] == asked["cdspp"] == 10
    assert asked["hfa"] == 1


def test_curves_and_deviations_stay_out_of_the_other_settings(
    config: dict[str, Any],
) -> None:
    config["deviations"] = [{"id": "no-centring", "tasks": 1, "trials": 3}]
    found = plan(config)
    identifiers = [curve.identifier for curve in found.curves]
    assert identifiers == ["labels", "dimension", "alpha", "rounds"]
    tasks = ("print_sketch",)
    setting = "deviation-no-centring"
    expected = DeviationPlan("no-centring", setting, "cdspp", tasks, 3)
    assert found.deviations == (expected,)
    assert {row.setting for row in found.rows} == {"main", "placebo", "noise"}


def test_the_rows_of_a_curve_have_its_trials(config: dict[str, Any]) -> None:
    config["curves"][0] |= {"methods": ["hfa", "cdspp", "target-only"]}
    labels = plan(config).curves[0]
    assert [(row.key, row.kind, row.trials_asked) for row in labels.rows] == [
        ("hfa", "method", 1),
        ("cdspp", "method", 3),
        ("target-only", "method", 3),
    ]
    assert [(v.value, v.setting) for v in labels.values] == [
        (1, "labels-1"),
        (3, "main"),
        (5, "labels-5"),
        (9, "labels-9"),
    ]
    assert labels.n_classes == 10


def test_a_changed_source_of_another_method_is_a_rival_and_no_control(
    config: dict[str, Any],
) -> None:
    config["settings"] = [
        {"id": "noise", "source": "noise", "methods": ["dama-plus", "cdspp"]}
    ]
    found = plan(config)
    assert keys(found, "control") == ["target-only", "noise"]
    changed = {row.method: row.kind for row in found.rows if row.source == "noise"}
    assert changed == {"dama-plus": "rival", "cdspp": "control"}


def test_a_benchmark_without_the_reference_has_no_showcase(
    config: dict[str, Any],
) -> None:
    places = {entry["id"]: entry for entry in config["methods"]}
    places["cdspp"]["benchmarks"] = ["digits"]
    config |= {"curves": [], "deviations": []}
    found = plan(config, "docs-to-code")
    assert found.showcase is None
    assert "cdspp" not in keys(found, "method")
    assert keys(found, "control") == ["target-only"]
    assert plan(config).showcase == Showcase("print_sketch")


@pytest.mark.parametrize("name", ["embedded", "office-caltech", "paper"])
def test_a_plan_passes_through_a_dictionary_unchanged(
    name: str, config: dict[str, Any]
) -> None:
    study = load(config if name == "embedded" else read_study(name))
    for benchmark in study.benchmarks:
        found = plan_of(study, benchmark)
        assert BenchmarkPlan.from_dict(found.as_dict()) == found
        json.dumps(found.as_dict())


def test_the_plan_of_the_data_forgets_what_runs(config: dict[str, Any]) -> None:
    before = plan(config)
    config["methods"] = config["methods"][:2]
    config |= {"settings": [], "curves": [], "deviations": []}
    assert plan(config).of_data() == before.of_data()
    assert before.of_data().tasks == before.tasks
