"""Keys of a study file, of a preset and of config.yaml, and which of them hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.study_files import ROOT, load_own

from cdspp import SourceDomain
from cdspp.analysis.compare import usual_methods
from cdspp.analysis.hold_outs import Problem
from cdspp.core.errors import ConfigError
from cdspp.core.scaling import fit_scaling
from cdspp.study.layers import Layers, layered, merge_files

PRESETS = ROOT / "resources/presets"
QUICK = {"study": "mine", "preset": "quick"}
STATES = {
    *("none", "none-matched", "swapped-classes"),
    *("permuted-labels", "class-noise", "noise"),
    *("shuffled-columns", "shuffled-pairs"),
}


def layers(own: dict[str, Any], base: Path | None = ROOT / "config.yaml") -> Layers:
    return layered(own, base=base, presets=PRESETS)


def test_mappings_are_merged_and_lists_replaced() -> None:
    own = {"source_states": {"margin": 2}, "methods": [{"id": "cdspp"}]}
    config = layers(own).config
    assert set(config["source_states"]["states"]) == STATES
    assert config["source_states"]["margin"] == 2
    assert config["methods"] == [{"id": "cdspp"}]


def test_what_a_study_does_not_give_or_copies_is_inherited(
    embedded: dict[str, Any],
) -> None:
    own = {"study": "mine", "methods": [], "curves": embedded["curves"]}
    assert {"settings", "curves", "views"} < layers(own).inherited
    assert not {"study", "methods"} & layers(own).inherited


def test_without_a_study_file_config_yaml_is_the_study() -> None:
    assert layers({}).inherited == frozenset()
    assert layers({"study": "mine"}, None) == Layers({"study": "mine"})


def test_a_config_yaml_of_the_folder_is_the_first_study_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("{study: here, trials: 3, seed: 7}")

    def beside(own: dict[str, Any], base: Path | None) -> Layers:
        return layered(own, base=base, presets=PRESETS, beside="config.yaml")

    found = beside({"study": "mine", "trials": 4}, ROOT / "config.yaml")
    held = [found.config[key] for key in ("study", "trials", "seed")]
    assert held == ["mine", 4, 7]
    assert {"methods", "settings"} < found.inherited
    [note] = found.notes
    assert note == "The study inherits from config.yaml in this folder."
    assert beside({}, Path("config.yaml")).notes == ()
    assert beside({}, None).config == {}


def test_a_config_yaml_of_the_folder_lies_below_the_preset_of_a_study_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = ROOT / "config.yaml"
    Path("config.yaml").write_text(base.read_text())  # as in a clone

    def beside(own: dict[str, Any]) -> Layers:
        return layered(own, base=base, presets=PRESETS, beside="config.yaml")

    assert beside(QUICK)[:2] == layers(QUICK)[:2]
    Path("config.yaml").write_text("{preset: quick, trials: 3, methods: [svm-t]}")
    config = beside({"study": "mine"}).config
    assert (config["trials"], config["methods"]) == (3, [{"id": "svm-t"}])
    assert beside({"preset": "quick"}).config["trials"] == 5


def test_the_quick_preset_has_few_methods_all_states_and_nothing_else() -> None:
    study = load_own(QUICK)
    assert study.trials == 5
    assert set(study.states) == STATES
    assert set(study.settings) == {"main", *STATES}
    assert study.curves == ()
    assert study.notes == ()
    assert len(study.methods) == 6


def test_the_quick_preset_has_the_methods_of_compare_at_the_size_of_a_task() -> None:
    codes = np.concatenate([np.arange(30) % 10, np.full(420, -1)])
    source = SourceDomain(np.zeros((200, 200)), np.zeros(200))
    X = np.zeros((450, 50))
    problem = Problem(X, codes, np.arange(10), source, fit_scaling("none", X))
    quick = yaml.safe_load((PRESETS / "quick.yaml").read_text())
    usual = {*usual_methods(problem), "cdspp-pca"}
    assert {m["id"] for m in quick["methods"]} == usual


def test_a_study_file_wins_over_the_preset() -> None:
    own = {"trials": 2, "methods": [{"id": "svm-t"}, {"id": "cdspp"}]}
    study = load_own(QUICK | own)
    assert (study.trials, list(study.methods)) == (2, ["svm-t", "cdspp"])
    assert set(study.states) == STATES
    assert layers(QUICK | own).notes == (
        "The study replaces trials, methods of the preset quick.",
    )


def test_source_states_are_switched_off_as_other_sections_are() -> None:
    study = load_own(QUICK | {"source_states": []})
    assert study.states == ()
    assert set(study.settings) == {"main"}


def test_a_study_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^nix.yaml: .*study file\. cdspp init"):
        merge_files(["nix.yaml"])


def test_keys_that_lack_in_one_place_are_one_fault() -> None:
    with pytest.raises(ConfigError) as refused:
        load_own({"study": "mine", "benchmarks": [{"id": "m"}]})
    assert str(refused.value) == (
        "1 fault in the configuration:\n"
        "  - benchmarks[0]: missing dataset, source_view, target_view, tasks, labels."
    )


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(ConfigError, match=r"preset: 'quik' is not one of \['quick'\]"):
        load_own({"preset": "quik"})
    with pytest.raises(ConfigError, match="preset: 3 is not one of"):
        load_own({"preset": 3})


def test_added_methods_stand_beside_those_that_are_there() -> None:
    own = QUICK | {"add": [{"id": "pa"}, {"id": "cdspp", "options": {"alpha": 1.0}}]}
    config = layers(own).config
    names = [entry["id"] for entry in config["methods"]]
    assert names == [m["id"] for m in layers(QUICK).config["methods"]] + ["pa"]
    assert {"id": "cdspp", "options": {"alpha": 1.0}} in config["methods"]
    assert "add" not in config
    assert layers({**config, **own}).config == config  # as jobs read it again


def test_a_method_may_be_given_by_its_name_alone() -> None:
    config = layers({"methods": ["svm-t", {"id": "cdspp"}], "add": ["pa"]}).config
    assert config["methods"] == [{"id": name} for name in ("svm-t", "cdspp", "pa")]
    with pytest.raises(ConfigError, match=r"methods.0..id: unknown name 'cdsp'"):
        load_own({"methods": ["cdsp"]})


def test_added_methods_that_are_no_list_are_named() -> None:
    with pytest.raises(ConfigError, match="add: 'pa' is not of type 'array'"):
        load_own(QUICK | {"add": "pa"})
