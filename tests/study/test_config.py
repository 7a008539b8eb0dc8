"""The configuration: schema, cross-checks, and the study it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.methods import available
from cdspp.study.plan import plan_of


def test_the_embedded_study_is_valid(config: dict[str, Any]) -> None:
    study = load(config)
    assert set(study.benchmarks) == {"digits", "docs-to-code"}
    assert study.blocks(10) == ("1-10",)
    assert len(list(study.fits("digits"))) == 4 * (5 + 2)


SHORTENED = {
    "embedded": set(),
    "office-caltech": {"stn", "ssan"},
    "paper": set(),
    "printed": set(),
}


@pytest.mark.parametrize("name", SHORTENED)
def test_the_shipped_studies_run_every_method(
    name: str, embedded: dict[str, Any]
) -> None:
    study = load(embedded if name == "embedded" else read_study(name))
    assert set(study.methods) >= set(available()) - {"cdspp-pca"}
    shortened = {m.identifier for m in study.methods.values() if m.shortened}
    assert shortened == SHORTENED[name]


def test_a_method_may_have_source_features_of_its_own() -> None:
    study = load(read_study("paper"))
    for method, view in {"dama-sup": "surf-zscore", "dama": "surf"}.items():
        assert study.source_view("office-caltech", "main", method) == view
    assert study.source_view("mrc", "main", "dama-sup") == "words-pca"
    without = study.choices["z-scored-source"]
    assert study.source_view("office-caltech", without, "dama-sup") == "surf"
    features = study.feature_names()
    assert ("office-caltech-10", "dslr", "surf-zscore") in features
    assert ("mrc", "en", "surf-zscore") not in features


def test_only_a_method_that_names_it_is_told_the_test_shares() -> None:
    study = load(read_study("paper"))
    told = {name for name in study.methods if study.prior_file("main", name)}
    assert told == {"shfa"}
    assert study.prior_file(study.choices["test-shares"], "shfa") is None


def test_an_unfinished_block_ends_at_the_last_trial(config: dict[str, Any]) -> None:
    config |= {"trials": 7, "block_size": 5}
    assert load(config).blocks(7) == ("1-5", "6-7")


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


def test_a_method_runs_on_the_benchmarks_that_it_names(config: dict[str, Any]) -> None:
    config["methods"][2]["benchmarks"] = ["digits"]
    study = load(config)
    ran = {fit.method for fit in study.fits("docs-to-code")}
    assert ran == {"svm-t", "cdspp-sup", "cdspp-pca", "target-only"}


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


def test_a_folder_of_ones_own_is_a_data_set(
    config: dict[str, Any], tmp_path: Path
) -> None:
    for domain in ("left", "right"):
        for name in ("cat", "dog"):
            folder = tmp_path / domain / name
            folder.mkdir(parents=True)
            for i in range(3):
                (folder / f"{i}.txt").write_text("text")
    pets = {"id": "pets", "dataset": "pets", "tasks": ["left_right"]}
    pets |= {"labels": {"source": 2, "target": 1}}
    config["datasets"] = [{"id": "pets", "folder": str(tmp_path)}]
    config["benchmarks"] = [config["benchmarks"][1] | pets]
    study = load(config)
    assert study.datasets["pets"].class_sizes["left"] == {"cat": 3, "dog": 3}
