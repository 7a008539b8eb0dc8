"""The configuration: schema, cross-checks, and the study it becomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.core.names import FitKey
from cdspp.study.model import Study, StudyDataset
from cdspp.study.plan import plan_of
from cdspp.study.settings import with_settings


def test_the_embedded_study_is_valid(config: dict[str, Any]) -> None:
    study = load(config)
    assert set(study.benchmarks) == {"digits", "docs-to-code"}
    assert study.blocks(10) == ("1-10",)
    # The main run; cdspp-sup and cdspp-pca in six states, cdspp in five, for without a
    # source it is target-only; two settings.
    assert len(list(study.fits("digits"))) == 4 * (5 + 2 * 6 + 5 + 2)


def test_networks_of_fewer_iterations_than_their_own_are_shortened() -> None:
    methods = load(read_study("office-caltech")).methods
    assert {name for name in methods if methods[name].shortened} == {"stn", "ssan"}


def test_a_method_may_have_source_features_of_its_own() -> None:
    study = load(read_study("paper"))
    for method, view in {"dama-sup": "surf-zscore", "dama": "surf"}.items():
        assert study.views_of("office-caltech", "main", method)["source"] == view
    assert study.views_of("mrc", "main", "dama-sup")["source"] == "words-pca"
    without = "choice-z-scored-source"
    assert study.views_of("office-caltech", without, "dama-sup")["source"] == "surf"
    features = study.feature_names()
    assert ("office-caltech-10", "dslr", "surf-zscore") in features
    assert ("mrc", "en", "surf-zscore") not in features


def bridged(config: dict[str, Any], *methods: dict[str, Any]) -> Study:
    config["methods"] = [{"id": "svm-t"}, {"id": "cdspp"}, *methods]
    return load(config)


def test_a_method_with_a_bridge_runs_where_there_is_one(config: dict[str, Any]) -> None:
    names = ("shared-columns", "paired-map", "cdspp-bridge")
    study = bridged(config, *({"id": name} for name in names))
    assert study.methods["shared-columns"].tasks.keys() == {"docs-to-code"}
    assert study.methods["paired-map"].tasks.keys() == {"digits", "docs-to-code"}
    where = "docs-to-code", "main"
    assert study.bridge(*where, "cdspp") == {}
    assert study.bridge(*where, "shared-columns") == {"shared_columns": "same-names"}
    assert study.bridge(*where, "cdspp-bridge") == {
        "paired_rows": 100,
        "shared_columns": "same-names",
    }
    assert study.bridge("digits", "main", "cdspp-bridge") == {"paired_rows": 100}


def test_it_may_use_a_part_of_the_bridge_alone(config: dict[str, Any]) -> None:
    study = bridged(config, {"id": "cdspp-bridge", "bridges": ["shared_columns"]})
    assert study.methods["cdspp-bridge"].tasks.keys() == {"docs-to-code"}
    assert "shuffled-columns" in study.methods["cdspp-bridge"].states
    assert "shuffled-pairs" not in study.methods["cdspp-bridge"].states


def test_it_reads_the_view_of_the_bridge(config: dict[str, Any]) -> None:
    study = bridged(config, {"id": "paired-map"})
    own = study.views_of("docs-to-code", "main", "cdspp")
    assert own == {"source": "tfidf-pca", "target": "tfidf-pca"}
    found = study.views_of("docs-to-code", "main", "paired-map")
    assert found == {"source": "tfidf", "target": "tfidf"}
    images = {"source": "sift-words", "target": "alexnet-pca"}
    assert study.views_of("digits", "main", "paired-map") == images
    assert ("docs-to-code", "code", "tfidf") in study.feature_names()


def test_a_curve_over_pairs_shares_no_column_and_ends_with_the_pairs(
    config: dict[str, Any],
) -> None:
    curve = {"id": "pairs", "parameter": "paired_rows", "values": [10, 100, 300]}
    config["curves"] = [curve | {"methods": ["cdspp-bridge"]}]
    study = bridged(config, {"id": "cdspp-bridge"})
    runs = {c.benchmark: [(v.value, v.setting) for v in c.values] for c in study.curves}
    assert runs["digits"] == [(10, "pairs-10"), (100, "main")]
    # The main run shares words as well, so that it is no point of the curve.
    assert [name for _, name in runs["docs-to-code"]] == [
        *("pairs-10", "pairs-100", "pairs-300")
    ]
    where = "docs-to-code", "pairs-300", "cdspp-bridge"
    assert study.bridge(*where) == {"paired_rows": 300}


STATES = (
    *("none", "none-matched", "swapped-classes"),
    *("permuted-labels", "class-noise", "noise"),
    *("shuffled-columns", "shuffled-pairs"),
)


def state_methods(config: dict[str, Any], state: str) -> list[str]:
    """Return the methods that are fitted in a source state."""
    fits = load(config).fits("digits")
    return list(dict.fromkeys(f.method for f in fits if f.setting == state))


def test_every_method_with_a_source_runs_in_every_state(config: dict[str, Any]) -> None:
    study = load(config)
    assert study.states == STATES
    assert study.margin == 1
    for state in STATES[1:-2]:
        expected = ["cdspp-sup", "cdspp", "cdspp-pca"]
        assert state_methods(config, state) == expected
        assert study.settings[state].source == {"name": state}
        assert study.setting_tasks("docs-to-code", state) == ("docs_code",)
    assert study.settings["main"].source == {"name": "real"}


def test_a_slow_method_may_run_in_fewer_states(config: dict[str, Any]) -> None:
    config["methods"][1]["states"] = ["noise", "none"]
    study = load(config)
    assert study.methods["cdspp-sup"].states == ("none", "noise")
    assert study.methods["svm-t"].states == ()
    assert "cdspp-sup" in state_methods(config, "noise")
    assert "cdspp-sup" not in state_methods(config, "class-noise")
    config["methods"][1]["states"] = []
    assert load(config).methods["cdspp-sup"].states == ()


GRID = {"alpha": [1, 10]}


def test_methods_with_a_grid_select_of_it_in_every_state(
    config: dict[str, Any],
) -> None:
    for place in (1, 2, 4):  # cdspp-sup, cdspp, target-only
        config["methods"][place]["grid"] = GRID
    config["selection"] = {"trials": 3}
    study = load(config)
    names = [name for name, found in study.settings.items() if found.selects]
    assert names == ["selected", *(f"selected-{state}" for state in STATES[:-2])]
    assert study.setting_methods("digits", "selected") == (
        *("cdspp-sup", "cdspp"),
        "target-only",
    )
    # Without a source cdspp is target-only, with the same grid.
    assert study.setting_methods("digits", "selected-none") == ("cdspp-sup",)
    assert study.setting_methods("digits", "selected-noise") == ("cdspp-sup", "cdspp")
    assert study.settings["selected-noise"].source == {"name": "noise"}
    assert study.setting_trials("selected", "cdspp") == 3
    assert study.grid("cdspp", "selected") == {"alpha": (1, 10)}
    assert study.grid("cdspp", "main") == {}


def test_bridges_that_no_method_uses_are_one_note() -> None:
    [note] = [text for text in load(read_study("selection")).notes if "bridge" in text]
    parts = "paired_rows of digits, docs-to-code; shared_columns of docs-to-code"
    assert note.startswith(f"bridge: no method of the study uses {parts}. These do")


def test_with_two_classes_none_is_swapped(config: dict[str, Any]) -> None:
    study = load(config)
    two = {"a": 5, "b": 5}
    known = {"digits": StudyDataset("digits", "images", {"left": two, "right": two})}
    known["docs-to-code"] = study.datasets["docs-to-code"]
    for state, left in (("swapped-classes", ["docs-to-code"]), ("noise", [*known])):
        small = replace(study, datasets=known, states=(state,))
        found = with_settings({}, small, ()).settings[state].tasks
        assert sorted(found) == sorted(left)


def test_the_margin_is_that_of_the_configuration(config: dict[str, Any]) -> None:
    config["source_states"] = {"states": ["none"], "margin": 0.5}
    assert load(config).margin == 0.5
    assert plan_of(load(config), "digits").margin == 0.5


def method(config: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in config["methods"] if entry["id"] == name)


ALIKE: dict[str, dict[str, dict[str, Any]]] = {
    "as shipped": {},
    "options at their defaults": {"cdspp": {"options": {}}},
    "equal trials": {"cdspp": {"trials": 3}, "target-only": {"trials": 3}},
}
APART: dict[str, dict[str, dict[str, Any]]] = {
    "other options": {"cdspp": {"options": {"alpha": 5}}},
    "fewer trials": {"target-only": {"trials": 3}},
    "fewer tasks": {"target-only": {"tasks": 1}},
}


@pytest.mark.parametrize("changes", ALIKE.values(), ids=ALIKE)
def test_without_a_source_the_reference_is_target_only_and_not_fitted_twice(
    config: dict[str, Any], changes: dict[str, dict[str, Any]]
) -> None:
    for name, change in changes.items():
        method(config, name).update(change)
    config["benchmarks"] = config["benchmarks"][:1]  # a task is named by its domains
    assert state_methods(config, "none") == ["cdspp-sup", "cdspp-pca"]


@pytest.mark.parametrize("changes", APART.values(), ids=APART)
def test_where_target_only_is_another_fit_the_reference_is_fitted_without_a_source(
    config: dict[str, Any], changes: dict[str, dict[str, Any]]
) -> None:
    for name, change in changes.items():
        method(config, name).update(change)
    assert state_methods(config, "none") == ["cdspp-sup", "cdspp", "cdspp-pca"]


def test_without_target_only_the_reference_is_fitted_without_a_source(
    config: dict[str, Any],
) -> None:
    config["methods"] = [m for m in config["methods"] if m["id"] != "target-only"]
    assert "cdspp" in state_methods(config, "none")
    method(config, "cdspp")["states"] = ["noise"]
    assert "cdspp" not in state_methods(config, "none")


def test_blocks_keep_their_names_and_fits_their_trials_apart(
    config: dict[str, Any],
) -> None:
    config |= {"trials": 7, "block_size": 5}
    study = load(config)
    assert study.blocks(7) == ("1-5", "6-10")
    key = FitKey("digits", "main", "print_sketch", "cdspp", "6-10")
    assert [*study.fit_trials(key)] == [6, 7]


def test_all_tasks_are_all_pairs_of_domains(config: dict[str, Any]) -> None:
    config["benchmarks"][0] |= {"tasks": "all"}
    tasks = load(config).benchmarks["digits"].tasks
    assert len(tasks) == 16
    assert "print_print" in tasks


def test_a_setting_overrides_options_and_labels(config: dict[str, Any]) -> None:
    config["settings"] = [
        {"id": "alpha-1", "methods": ["cdspp"], "options": {"alpha": 1}},
        {"id": "labels-1", "methods": ["cdspp"], "labels": {"target": 1}},
    ]
    study = load(config)
    assert study.method_options("cdspp", "alpha-1") == {"alpha": 1, "max_iter": 5}
    assert study.method_options("cdspp", "main")["alpha"] == 10
    assert study.split_setting("alpha-1", "target") == "main"
    assert study.split_setting("labels-1", "target") == "labels-1"
    assert study.split_setting("labels-1", "source") == "main"
    assert study.split_counts("digits", "labels-1", "target") == (1, None)
    assert study.split_counts("digits", "labels-1", "source") == (20, None)


def test_the_order_of_options_does_not_matter(config: dict[str, Any]) -> None:
    before = load(config)
    for entry in (*config["views"], *config["methods"]):
        if "options" in entry:
            entry["options"] = dict(reversed(entry["options"].items()))
    config["benchmarks"][0]["labels"] = {"target": 3, "source": 20}
    after = load(config)
    for name, view in before.views.items():
        assert list(view.options.items()) == list(after.views[name].options.items())
    for name in before.methods:
        options = [study.method_options(name, "main") for study in (before, after)]
        assert list(options[0].items()) == list(options[1].items())
    assert plan_of(before, "digits") == plan_of(after, "digits")


def test_a_benchmark_may_leave_methods_out(config: dict[str, Any]) -> None:
    config["benchmarks"][1]["leave_out"] = ["cdspp-sup"]
    study = load(config)
    assert list(study.methods["cdspp-sup"].tasks) == ["digits"]
    assert list(study.methods["cdspp"].tasks) == ["digits", "docs-to-code"]


def test_a_slow_method_may_run_fewer_tasks(config: dict[str, Any]) -> None:
    config["methods"][1]["tasks"] = 1
    name = config["methods"][1]["id"]
    study = load(config)
    ran = {fit.task for fit in study.fits("digits") if fit.method == name}
    assert ran == {"print_sketch"}
    rows = {row.key: row.tasks for row in plan_of(study, "digits").rows}
    assert rows[name] == ("print_sketch",)
    assert rows["svm-t"] == ()
