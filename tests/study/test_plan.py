"""The plan of a benchmark: rows by kind, trials asked for, curves, what passes on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.paper.plugin import PaperPlan
from cdspp.study.plan import BenchmarkPlan, plan_of


def plan(config: dict[str, Any], benchmark: str = "digits") -> BenchmarkPlan:
    return plan_of(load(config), benchmark)


def keys(found: BenchmarkPlan, kind: str) -> list[str]:
    return [row.key for row in found.rows if row.kind == kind]


STATES = (
    *("none", "none-matched", "swapped-classes"),
    *("permuted-labels", "class-noise", "noise"),
)
BRIDGED = ("paired-map-plus", "cdspp-bridge")
SETTINGS = ("class-noise-narrow", "class-noise-wide", "class-noise-positive")


@pytest.fixture
def selecting(embedded: dict[str, Any]) -> dict[str, Any]:
    """Return the embedded study, its reference and variants selecting alpha."""
    for entry in embedded["methods"]:
        if entry["id"] in ("cdspp-sup", "cdspp", "cdspp-pca", "target-only"):
            entry["grid"] = {"alpha": [1, 10]}
    return embedded | {"selection": {"trials": 5}}


def test_methods_are_told_from_controls_variants_and_states(
    selecting: dict[str, Any],
) -> None:
    found = plan(selecting)
    methods = [entry["id"] for entry in selecting["methods"]]
    others = {"target-only", "shared-columns-plus", *BRIDGED, "shfa", "ssan"}
    assert keys(found, "method") == [name for name in methods if name not in others]
    # Images share no column, but 100 of them are drawn in every domain.
    assert keys(found, "bridge") == [*BRIDGED]
    assert {row.bridge for row in found.rows if row.kind == "bridge"} == {"100 pairs"}
    assert keys(found, "control") == ["target-only", *STATES[1:]]
    assert keys(found, "variant") == [f"cdspp, {name}" for name in SETTINGS]
    own = {entry["id"]: entry.get("states", STATES) for entry in selecting["methods"]}
    own |= {name: (*STATES, "shuffled-pairs") for name in BRIDGED}
    without_source = {"svm-t", "target-only", "shared-columns-plus"}
    without_source |= {"label-spreading", "self-training"}
    of_states = {
        f"{name}, {state}"
        for name in own.keys() - without_source - {"cdspp"}
        for state in own[name]
    }
    choosing = [entry["id"] for entry in selecting["methods"] if "grid" in entry]
    selected = [f"{name}, selected" for name in choosing]
    assert keys(found, "selected") == selected
    # Without a source the reference is target-only, which selects as well.
    of_states |= {
        f"{name}, selected-{state}"
        for name in set(choosing) - without_source
        for state in own[name]
    } - {"cdspp, selected-none"}
    assert set(keys(found, "state")) == of_states
    assert "dama-plus, class-noise" in keys(found, "state")
    assert "hfa, noise" not in keys(found, "state")
    shown = [row.key for row in found.shown_rows]
    controls = keys(found, "control") + keys(found, "variant")
    assert shown == [*keys(found, "method"), *BRIDGED, *controls, *selected]
    assert (found.states, found.margin) == ((*STATES, "shuffled-pairs"), 1)


def test_a_fit_without_a_source_may_be_a_row_and_is_not_repeated(
    embedded: dict[str, Any],
) -> None:
    fits, rows = [*load(embedded).fit_keys("digits")], plan(embedded).rows
    [dama] = [entry for entry in embedded["methods"] if entry["id"] == "dama"]
    dama["row_without_source"] = True
    assert [*load(embedded).fit_keys("digits")] == fits
    found = plan(embedded)
    assert keys(found, "control") == ["target-only", "dama, none", *STATES[1:]]
    assert {row.key for row in found.rows} == {row.key for row in rows}
    [row] = [row for row in found.shown_rows if row.key == "dama, none"]
    assert (row.display_name, row.state) == ("DAMA, no source", "none")


def test_a_method_that_is_told_of_the_test_samples_says_so_and_is_no_method() -> None:
    found = plan(read_study("printed"), "office-caltech")
    assert keys(found, "informed") == ["shfa"]
    names = {row.key: row.display_name for row in found.rows}
    assert names["shfa"] == "SHFA (oracle class shares)"
    assert "shfa" in [row.key for row in found.main_rows]
    choices = {entry.identifier: entry.method for entry in PaperPlan.of(found).choices}
    assert choices["platt-scores"] == "svm-t"


def test_a_setting_asks_for_its_own_trials(selecting: dict[str, Any]) -> None:
    selecting["settings"][0]["trials"] = 4
    asked = {row.key: row.n_trials for row in plan(selecting).rows}
    assert asked["cdspp, class-noise-narrow"] == 4
    assert asked["cdspp, class-noise-wide"] == 5
    assert asked["cdspp"] == 10
    assert asked["noise"] == asked["dama, noise"] == 10
    assert asked["pa"] == 2
    assert asked["cdspp, selected"] == asked["cdspp-pca, selected-noise"] == 5


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"options": {"random_state": 1}, "tasks": 1, "trials": 5}, True),
        ({"options": {"random_state": 1, "mu": 1}}, False),
        ({"options": {"random_state": 1}, "labels": {"target": 1}}, False),
        ({"options": {"mu": 1}}, False),
    ],
)
def test_a_setting_of_another_random_start_alone_is_a_seed(
    embedded: dict[str, Any], more: dict[str, Any], expected: bool
) -> None:
    embedded["settings"] = [{"id": "other", "methods": ["pa"], **more}]
    found = {row.key: row.reseeded for row in plan(embedded).rows}
    assert (found["pa, other"], found["pa"]) == (expected, False)


def test_the_rows_of_a_curve_have_its_trials(embedded: dict[str, Any]) -> None:
    embedded["curves"][0] |= {"methods": ["hfa", "cdspp", "target-only"]}
    labels = plan(embedded).curves[0]
    assert [(row.key, row.kind, row.n_trials) for row in labels.rows] == [
        ("hfa", "method", 2),
        ("cdspp", "method", 5),
        ("target-only", "method", 5),
    ]
    assert labels.n_classes == 10


def test_a_curve_in_source_states_has_a_row_for_each(embedded: dict[str, Any]) -> None:
    embedded["curves"][2] |= {
        "methods": ["cdspp-sup", "cdspp", "cdspp-pca", "target-only"],
        "states": [*STATES],
    }
    alpha = plan(embedded).curves[2]
    rows = [(row.method, row.kind, row.state) for row in alpha.rows]
    assert rows[7:14] == [
        ("cdspp", "method", "real"),
        *(("cdspp", "state", state) for state in STATES[1:]),
        ("cdspp-pca", "method", "real"),
    ]
    assert rows[-1] == ("target-only", "method", "real")


def test_a_benchmark_without_the_reference_has_no_showcase(
    embedded: dict[str, Any],
) -> None:
    places = {entry["id"]: entry for entry in embedded["methods"]}
    places["cdspp"]["benchmarks"] = ["digits"]
    embedded |= {"curves": [], "deviations": []}
    found = plan(embedded, "docs-to-code")
    assert found.showcase == ""
    assert "cdspp" not in keys(found, "method")
    assert keys(found, "control") == ["target-only"]
    assert plan(embedded).showcase == "print_sketch"


def test_another_reference_owns_the_rows_of_the_states(
    embedded: dict[str, Any],
) -> None:
    found = plan(embedded | {"reference": "dama", "baseline": "cdls-sup"})
    controls = [row for row in found.rows if row.kind == "control"]
    assert [row.method for row in controls] == ["target-only"] + ["dama"] * len(STATES)
    assert controls[1].display_name == "DAMA, no source"
    names = [found.role_name(role) for role in ("reference", "baseline")]
    assert names == ["DAMA", "CDLS_sup"]
    assert "cdspp, noise" in keys(found, "state")
    assert found.showcase == ""  # no projections
    other = plan(embedded | {"reference": "dama-plus"})
    assert other.showcase == "print_sketch"


def test_a_plan_passes_through_a_dictionary_unchanged() -> None:
    study = load(read_study("office-caltech"))
    for benchmark in study.benchmarks:
        found = plan_of(study, benchmark)
        assert BenchmarkPlan.from_dict(asdict(found)) == found
        json.dumps(asdict(found))
