"""Faults of a configuration: each is named, with what was meant."""

from __future__ import annotations

import copy
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.core.errors import ConfigError

CURVES: list[dict[str, Any]] = [
    {"id": "labels", "parameter": "labels", "values": [5, 1, 3], "methods": ["cdspp"]},
    {"id": "alpha", "parameter": "alpha", "values": [0.1, 5], "methods": ["cdspp"]},
]

DIGITS: dict[str, Any] = {
    **{"id": "digits", "dataset": "digits", "labels": {"source": 20, "target": 3}},
    **{"source_view": "sift-words", "target_view": "alexnet-pca"},
    "tasks": ["print_photo", "print+sketch_photo"],
}


def part_of(whole: Any, key: str) -> Any:
    """Return an entry by its id, or a value by its key."""
    if isinstance(whole, list):
        return next(entry for entry in whole if entry["id"] == key)
    return whole[key]


def put(config: dict[str, Any], path: str, value: Any) -> None:
    """Put a value at a place, such as ``methods.cdspp.options``."""
    *way, last = path.split(".")
    reduce(part_of, way, config)[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("trials", "ten", "trials: expected a whole number, got 'ten'"),
        ("study", "features", "study: all studies share a folder of this name"),
        ("benchmarks.digits.task", [], "unknown key 'task': did you mean 'tasks'"),
        ("methods.svm-t.id", "SVM_t", "does not match"),
        ("views.alexnet-fc6.extractor", "cn", "'cn': did you mean 'cnn'"),
        ("views.alexnet-fc6.options.layr", "fc6", "did you mean 'layer'"),
        ("views.tfidf-pca.view", "tfid", "'tfid': did you mean 'tfidf'"),
        ("views.tfidf-pca.view", "tfidf-pca", "in a circle"),
        ("views.tfidf.view", "tfidf-pca", "reads files, .*view"),
        ("views.sift-words.options.codebook_domain", "prnt", "'print'"),
        ("views.sift-words.options", {}, "needs the option codebook_domain, one of "),
        ("benchmarks.digits.source_view", "tfidf", "reads texts, but digits"),
        ("benchmarks.digits.dataset", "digit", "did you mean 'digits'"),
        ("benchmarks.docs-to-code.tasks", ["docs_cod"], "did you mean 'code'"),
        ("benchmarks.digits.showcase", "print_photo", "showcase: unknown"),
        ("benchmarks.digits.tasks", ["print+sketsh_photo"], "did you mean 'sketch'"),
        ("benchmarks.digits.tasks", ["print+photo_photo"], "name every source once"),
        ("benchmarks", [DIGITS | {"tasks": ["print+sketch_photo"]}], "with one source"),
        ("settings.hiss.source", {"name": "noise", "domain": "prnt"}, "mean 'print'"),
        ("benchmarks.digits.labels.target", 44, "test sample"),
        ("benchmarks.digits.labels.source", 1000, r"largest, \w+ in \w+, has \d+\."),
        ("benchmarks.digits.leave_out", ["hffa"], "'hffa': did you mean 'hfa'"),
        ("benchmarks.digits.printed", "mcr", "did you mean 'mrc'"),
        ("methods.cdspp.id", "cdsp", "'cdsp': did you mean 'cdspp"),
        ("benchmarks.digits.bridge", {"view": "tfidf"}, "is shared; give shared"),
        ("benchmarks.digits.bridge.paired_rows", 101, "101 requested, but digits has"),
        ("benchmarks.digits.bridge.shared_columns", "same-names", "sift-words .*names"),
        ("benchmarks.docs-to-code.bridge.view", "sift-words", "view: visual-words re"),
        ("benchmarks.docs-to-code.bridge.view", "tfidf-pca", r"tfidf-pca \(pca\) have"),
        ("methods.cdspp.bridges", ["paired_rows"], r"'paired_rows'\. Known: none\."),
        ("methods", [{"id": "shared-columns", "benchmarks": ["digits"]}], "uses share"),
        ("curves.labels.parameter", "paired_rows", "cdspp.* paired_rows; leave"),
        ("methods.cdspp.options.alpha", -1.0, "'alpha' parameter of CDSPP"),
        ("methods.cdspp.options.alpha", True, "alpha: expected a number, got True"),
        ("methods.cdspp.benchmarks", ["digit"], "did you mean 'digits'"),
        ("methods.cdspp.tasks", ["print_scetch"], "did you mean 'print_sketch'"),
        ("methods.cdspp.source_view", "sift", r"source_view: unknown name 'sift'"),
        ("methods.cdspp.source_view", "tfidf", r"\]\.source_view: .*reads texts, but"),
        ("methods.cdspp.prior_file", "test-shares", "cdspp .*option prior"),
        ("methods.cdspp-sup.id", "svm-t", "'svm-t' occurs more than once"),
        ("settings.hiss.id", "main", "two runs .*main"),
        ("settings.hiss.methods", ["hfa"], r"settings\[0\].methods: unknown"),
        ("settings.hiss.source.name", "nois", "'nois' is not one of"),
        ("settings.hiss.id", "noise", "two runs .* noise"),
        ("settings.hiss.id", "none", "source_states.*runs"),
        ("source_states", {"margin": 1}, "source_states: missing states"),
        ("methods.svm-t.states", ["none"], "svm-t .*source; remove.*key"),
        ("methods.svm-t.row_without_source", True, "svm-t .*control none; remove.*key"),
        ("settings.hiss.options", {"max_itr": 1}, "'max_iter'"),
        ("settings", [{"id": "same", "methods": ["cdspp"]}], "equals the main setting"),
        ("curves.labels.parameter", "alhpa", "no option 'alhpa'"),
        ("curves.alpha.values", [-1, 1], "'alpha' param"),
        ("curves.labels.values", [0.5, 1], "number.*labels, got 0.5"),
        ("curves.labels.tasks", ["print_photo"], "unknown name 'print_photo'"),
        ("settings.hiss.id", "alpha-5", "two runs would be named alpha-5"),
        ("deviations", [{"id": "no-centering"}], "'no-centring'"),
        ("deviations", [{"id": "no-centring", "tasks": "x"}], "a whole number or a"),
        ("choices", [{"id": "protocol-weight"}], "methods: unknown name 'cdls"),
    ],
)
def test_a_fault_is_named(
    config: dict[str, Any], path: str, value: Any, message: str
) -> None:
    config |= {"curves": copy.deepcopy(CURVES)}
    put(config, path, value)
    with pytest.raises(ConfigError, match=message):
        load(config)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "views.surf.options.name",
            "surff",
            "published features: unknown name 'surff': did you mean 'surf'",
        ),
        ("benchmarks.nus-imagenet.target_view", "tags", "tags .*published.* images"),
        (
            "views.words-pca.options.n_components",
            {"en": 9, "fr": 9, "gr": 9, "it": 9},
            "n_components of view words-pca .*value.* sp",
        ),
        ("views.words.extractor", "text", "reads texts, .*mrc.*features"),
        ("benchmarks.mrc.labels.unlabelled", 730, r"730 .* sp, class C15 \(737\)"),
    ],
)
def test_a_fault_of_published_data_is_named(
    path: str, value: Any, message: str
) -> None:
    paper = read_study("paper")
    put(paper, path, value)
    with pytest.raises(ConfigError, match=message):
        load(paper)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("claims.features.check", "faeture", r"claims\[1\].check: 'faeture' .*as-good"),
        ("claims.features.options", {}, r"claims\[1\].options: missing state"),
    ],
)
def test_a_fault_of_a_claim_is_named(path: str, value: Any, message: str) -> None:
    noise = read_study("noise-sources")
    put(noise, path, value)
    with pytest.raises(ConfigError, match=message):
        load(noise)


def test_a_row_without_a_source_needs_the_state_without_one(
    config: dict[str, Any],
) -> None:
    put(config, "source_states.states", ["none", "noise"])
    put(config, "methods.cdspp.row_without_source", True)
    load(config)
    put(config, "methods.cdspp.states", ["noise"])
    with pytest.raises(ConfigError, match="cdspp .*control none; remove.*key"):
        load(config)


def test_a_setting_whose_methods_never_run_is_refused(config: dict[str, Any]) -> None:
    put(config, "methods.cdspp.benchmarks", ["digits"])
    put(config, "settings.hiss.benchmarks", ["docs-to-code"])
    message = "cdspp .*digits.*, .*setting.* docs-to-code"
    with pytest.raises(ConfigError, match=message):
        load(config)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"reference": "cdsp"}, "reference: unknown name 'cdsp': did you mean 'cdspp'"),
        ({"reference": "svm-t"}, "reference: svm-t .*source; name.*method"),
    ],
)
def test_a_role_is_that_of_a_method_of_the_study(
    embedded: dict[str, Any], own: dict[str, str], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        load(embedded | own)


def test_a_number_of_labels_that_some_class_meets_is_allowed(
    config: dict[str, Any],
) -> None:
    study = load(config)
    sizes = study.datasets["docs-to-code"].class_sizes["docs"].values()
    put(config, "benchmarks.docs-to-code.labels.source", min(sizes) + 1)
    assert load(config).benchmarks["docs-to-code"].labels["source"] <= max(sizes)
    put(config, "benchmarks.docs-to-code.labels.source", max(sizes) + 1)
    with pytest.raises(ConfigError, match=f"in docs, has {max(sizes)}"):
        load(config)


def test_a_grid_holds_options_of_a_method_that_predicts_other_rows(
    config: dict[str, Any],
) -> None:
    put(config, "methods.cdspp.grid", {"alpha": [1, -1]})
    config["methods"].append({"id": "pa", "grid": {"mu": [1, 10]}})
    with pytest.raises(ConfigError, match=r"methods\[2\]\.grid: .*alpha") as refused:
        load(config)
    assert "selection predicts held-out rows" in str(refused.value)


def test_settings_of_selected_options_have_their_names_alone(
    config: dict[str, Any],
) -> None:
    put(config, "settings.wide.id", "selected-noise")
    load(config)
    put(config, "methods.cdspp.grid", {"alpha": [1, 10]})
    with pytest.raises(ConfigError, match="two runs .* selected-noise"):
        load(config)


def test_weights_that_are_not_there_are_named_once(
    config: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "weights.pth"
    put(config, "views.alexnet-fc6.options.weights", str(path))
    second = copy.deepcopy(part_of(config["views"], "alexnet-fc6"))
    config["views"].append(second | {"id": "alexnet-again"})
    message = r"the configuration: views\[1\]\.options\.weights: no"
    with pytest.raises(ConfigError, match=message):
        load(config)
    path.touch()
    load(config)
