"""The configuration: schema, cross-checks, and the study it becomes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.study_files import ROOT, load, read_study

from cdspp.core.errors import ConfigError
from cdspp.methods import available
from cdspp.study.plan import plan_of

FEW = ("svm-t", "cdspp-sup", "cdspp", "cdspp-pca", "target-only")


@pytest.fixture
def config() -> dict[str, Any]:
    """Return the configuration of the embedded study with few methods."""
    whole = yaml.safe_load((ROOT / "config.yaml").read_text())
    whole["methods"] = [m for m in whole["methods"] if m["id"] in FEW]
    for setting in whole["settings"]:
        setting["methods"] = ["cdspp"]
    return whole | {"curves": [], "deviations": []}


def faults(config: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        load(config)
    return str(caught.value)


def test_the_embedded_study_is_valid(config: dict[str, Any]) -> None:
    study = load(config)
    assert set(study.benchmarks) == {"digits", "docs-to-code"}
    assert study.blocks(10) == ("1-10",)
    assert len(list(study.fits("digits"))) == 4 * (5 + 2)


SHORTENED = {
    "embedded": {"hfa", "shfa", "stn", "ssan"},
    "office-caltech": {"stn", "ssan"},
    "paper": set(),
}


@pytest.mark.parametrize("name", SHORTENED)
def test_the_shipped_studies_run_every_method(name: str) -> None:
    whole = yaml.safe_load((ROOT / "config.yaml").read_text())
    study = load(whole if name == "embedded" else read_study(name))
    assert set(study.methods) == set(available())
    shortened = {m.identifier for m in study.methods.values() if m.shortened}
    assert shortened == SHORTENED[name]


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


def test_a_setting_whose_methods_never_run_is_refused(config: dict[str, Any]) -> None:
    config["methods"][2]["benchmarks"] = ["digits"]
    config["settings"][0]["benchmarks"] = ["docs-to-code"]
    assert "cdspp runs on digits alone, the setting on docs-to-code" in faults(config)


CHANGES: list[tuple[str, list[Any], Any, str]] = [
    ("a type", ["trials"], "ten", r"trials: 'ten' is not of type 'integer'"),
    ("a range", ["seed"], -1, r"seed: -1 is less than the minimum of 0"),
    (
        "a key",
        ["benchmarks", 0, "task"],
        [],
        r"unknown key 'task': did you mean 'tasks'",
    ),
    ("tasks", ["benchmarks", 0, "tasks"], "some", r"expected all or a list"),
    ("an id", ["methods", 0, "id"], "SVM_t", r"does not match"),
    ("an extractor", ["views", 1, "extractor"], "cn", r"'cn': did you mean 'cnn'"),
    ("a network", ["views", 1, "options", "network"], "alexnt", r"alexnet"),
    ("a layer option", ["views", 1, "options", "layr"], "fc6", r"did you mean 'layer'"),
    ("a view", ["views", 3, "view"], "tfid", r"'tfid': did you mean 'tfidf'"),
    ("a circle", ["views", 3, "view"], "tfidf-pca", r"in a circle"),
    ("a view of files", ["views", 2, "view"], "tfidf-pca", r"reads files, not a view"),
    ("a codebook", ["views", 0, "options", "codebook_domain"], "prnt", r"'print'"),
    ("a source view", ["benchmarks", 0, "source_view"], "sift", r"unknown name 'sift'"),
    ("a kind", ["benchmarks", 0, "source_view"], "tfidf", r"reads texts, but digits"),
    ("a data set", ["benchmarks", 0, "dataset"], "digit", r"did you mean 'digits'"),
    ("a domain", ["benchmarks", 1, "tasks"], ["docs_cod"], r"did you mean 'code'"),
    ("a showcase", ["benchmarks", 0, "showcase"], "print_photo", r"showcase: unknown"),
    ("labels", ["benchmarks", 0, "labels", "target"], 44, r"leave no test sample"),
    ("a method", ["methods", 2, "id"], "cdsp", r"'cdsp': did you mean 'cdspp"),
    ("an option", ["methods", 2, "options"], {"alhpa": 1}, r"did you mean 'alpha'"),
    (
        "a value",
        ["methods", 2, "options", "alpha"],
        -1.0,
        r"'alpha' parameter of CDSPP",
    ),
    ("trials", ["methods", 2, "trials"], 11, r"11 is more than the study's 10 trials"),
    ("its place", ["methods", 2, "benchmarks"], ["digit"], r"did you mean 'digits'"),
    (
        "a repeated id",
        ["methods", 1, "id"],
        "svm-t",
        r"'svm-t' is there more than once",
    ),
    ("a setting", ["settings", 0, "id"], "main", r"main is the name of the main run"),
    (
        "its method",
        ["settings", 0, "methods"],
        ["hfa"],
        r"settings\[0\].methods: unknown",
    ),
    ("a printed name", ["benchmarks", 0, "printed"], "mcr", r"did you mean 'mrc'"),
    ("its source", ["settings", 0, "source"], "nois", r"'nois' is not one of"),
    ("its labels", ["settings", 0, "labels"], {"target": 99}, r"settings\[0\].labels"),
    ("its options", ["settings", 0, "options"], {"max_itr": 1}, r"'max_iter'"),
    ("its benchmarks", ["settings", 0, "benchmarks"], ["digit"], r"'digits'"),
]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [change[1:] for change in CHANGES],
    ids=[change[0] for change in CHANGES],
)
def test_a_fault_is_named(
    config: dict[str, Any], path: list[Any], value: Any, message: str
) -> None:
    import re

    place = config
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert re.search(message, faults(config))


def test_a_setting_in_which_nothing_differs_is_refused(config: dict[str, Any]) -> None:
    del config["settings"][0]["source"]
    assert "nothing differs" in faults(config)


def test_a_missing_key_is_named(config: dict[str, Any]) -> None:
    del config["benchmarks"][0]["labels"]
    assert "benchmarks[0]: missing labels" in faults(config)


def test_every_fault_is_reported_at_once(config: dict[str, Any]) -> None:
    config["methods"][0]["id"] = "svmt"
    config["benchmarks"][1]["tasks"] = ["doc_code"]
    config["settings"][1]["methods"] = ["cdsp"]
    text = faults(config)
    assert text.startswith("3 faults in the configuration:")
    assert len(text.splitlines()) == 4


def test_a_folder_of_ones_own_is_a_data_set(
    config: dict[str, Any], tmp_path: Path
) -> None:
    for domain in ("left", "right"):
        for name in ("cat", "dog"):
            folder = tmp_path / domain / name
            folder.mkdir(parents=True)
            for i in range(3):
                (folder / f"{i}.txt").write_text("text")
    own = copy.deepcopy(config)
    own["datasets"] = [{"id": "pets", "folder": str(tmp_path)}]
    own["benchmarks"] = [
        own["benchmarks"][1]
        | {
            "id": "pets",
            "dataset": "pets",
            "tasks": ["left_right"],
            "labels": {"source": 2, "target": 1},
        }
    ]
    study = load(own)
    assert study.datasets["pets"].class_sizes["left"] == {"cat": 3, "dog": 3}
    own["datasets"][0]["folder"] = str(tmp_path / "nowhere")
    assert "no such folder" in faults(own)
