"""Keys of a study file, of the presets that it names, and defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.study_files import ROOT, load, load_own

from cdspp.core.errors import ConfigError
from cdspp.study.config import merge_files, merge_presets

PRESETS = ROOT / "resources/presets"
QUICK = {"study": "mine", "preset": "quick"}
DATA: dict[str, Any] = {
    "views": [{"id": "tfidf", "extractor": "text"}],
    "benchmarks": [
        {
            "id": "texts",
            "dataset": "docs-to-code",
            "source_view": "tfidf",
            "target_view": "tfidf",
            "tasks": ["docs_code"],
            "labels": {"source": 20, "target": 3},
        }
    ],
}
STATES = {
    *("none", "none-matched", "swapped-classes"),
    *("permuted-labels", "class-noise", "noise"),
    *("shuffled-columns", "shuffled-pairs"),
}


SECTIONS = ("views", "benchmarks", "methods", "settings", "curves", "deviations")


def layers(own: dict[str, Any]) -> dict[str, Any]:
    return merge_presets(own, ROOT)[0]


def test_mappings_are_merged_and_lists_replaced() -> None:
    own = {"source_states": {"margin": 2}, "methods": [{"id": "cdspp"}]}
    config = layers(QUICK | own)
    assert set(config["source_states"]["states"]) == STATES
    assert config["source_states"]["margin"] == 2
    assert config["methods"] == [{"id": "cdspp"}]


def test_config_yaml_is_whole_and_has_the_default_of_every_key_that_has_one(
    embedded: dict[str, Any],
) -> None:
    found = layers(embedded)
    assert found == embedded
    assert list(found) == list(embedded)
    assert layers({}).items() < embedded.items()


def test_a_study_without_a_preset_has_no_section_that_its_file_does_not_give() -> None:
    assert not {*SECTIONS} & layers({"study": "mine"}).keys()
    with pytest.raises(ConfigError) as refused:
        load_own({"study": "mine", "methods": [{"id": "cdspp"}]})
    message = str(refused.value)
    assert message.startswith("the configuration: missing views, benchmarks.")
    for file in [*PRESETS.glob("[!d]*.yaml"), Path("embedded")]:
        assert file.stem in message


def test_the_schema_lists_every_preset() -> None:
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    [alone, several] = schema["properties"]["preset"]["anyOf"]
    files = {file.stem for file in PRESETS.glob("*.yaml")} - {"default"}
    assert {*alone["enum"]} == {*several["items"]["enum"]} == files | {"embedded"}


def test_of_several_presets_the_last_wins() -> None:
    own = {"study": "mine", "preset": ["embedded", "quick"]}
    study = load_own(own)
    quick = yaml.safe_load((PRESETS / "quick.yaml").read_text())
    assert list(study.methods) == [entry["id"] for entry in quick["methods"]]
    assert set(study.benchmarks) == {"digits", "docs-to-code"}
    assert study.curves == ()
    turned = layers({**own, "preset": ["quick", "embedded"]})
    assert turned["curves"]


def test_a_role_is_by_default_that_of_a_method_that_there_is() -> None:
    study = load_own(QUICK | DATA)
    assert (study.reference, study.baseline) == ("cdspp", "svm-t")
    assert study.notes == ()
    study = load_own(QUICK | DATA | {"methods": ["svm-t", "cdls"]})
    assert (study.reference, study.baseline) == ("cdls", "svm-t")
    assert study.notes == (
        "reference: by default, cdls, the first semi-supervised method.",
    )
    with pytest.raises(ConfigError, match=r"reference: unknown name 'cdspp'"):
        load_own(QUICK | DATA | {"methods": ["svm-t", "cdls"], "reference": "cdspp"})


OWN = """
from cdspp import PCACoral

class Blind(PCACoral):
    uses_source = False

class Sighted:
    def fit(self, X, y, *, source):
        pass

    predict = fit
"""


def test_the_first_class_of_a_study_that_uses_the_source_leads_where_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_leads.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    places = ("Absent", "Blind", "Sighted", "Sighted")
    places = [*map("own_leads:{}".format, places), "sklearn.svm:SVC", 3]
    entries = [{"id": f"m{k}", "class": place} for k, place in enumerate(places)]
    entries[2]["kind"] = "target-only"
    study = QUICK | {"preset": ["embedded", "quick"]}
    for own, leading in (
        ({"add": entries}, "m3"),
        ({"methods": ["cdspp", *entries]}, "m3"),
        ({"methods": entries[4:], "add": entries[:3]}, None),
        ({"add": entries[:3]}, "cdspp"),
        ({"add": entries, "reference": "cdspp"}, "cdspp"),
    ):
        config, notes = merge_presets(study | own, ROOT)
        assert config.get("reference") == leading
        note = "reference: by default, the study's own class m3."
        assert (note in notes) == (leading == "m3")


def test_fewer_trials_of_a_study_are_those_of_its_methods_and_runs(
    embedded: dict[str, Any],
) -> None:
    study = load(embedded | {"trials": 2})
    assert {method.trials for method in study.methods.values()} == {1, 2}
    assert {curve.n_trials for curve in study.curves} == {2}
    keys = [key for name in study.benchmarks for key in study.fits(name)]
    assert {max(study.fit_trials(key)) for key in keys} == {2}


def test_the_quick_preset_has_few_methods_all_states_and_nothing_else() -> None:
    study = load_own(QUICK | DATA)
    assert study.trials == 5
    assert set(study.states) == STATES
    assert set(study.settings) == {"main", *STATES}
    assert study.curves == ()
    assert study.notes == ()
    assert len(study.methods) == 6


def test_a_study_file_wins_over_the_preset() -> None:
    own = {"trials": 2, "methods": [{"id": "svm-t"}, {"id": "cdspp"}]}
    study = load_own(QUICK | DATA | own)
    assert (study.trials, list(study.methods)) == (2, ["svm-t", "cdspp"])
    assert set(study.states) == STATES
    assert merge_presets(QUICK | own, ROOT)[1] == [
        "The study replaces trials, methods of the preset quick."
    ]


def test_a_study_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^nix.yaml: .*study file\. cdspp init"):
        merge_files(["nix.yaml"])


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(ConfigError, match="preset: .*'quik': did you mean 'quick'"):
        load_own({"preset": ["embedded", "quik"]})


def test_added_methods_stand_beside_those_that_are_there() -> None:
    own = QUICK | {"add": [{"id": "pa"}, {"id": "cdspp", "options": {"alpha": 1.0}}]}
    config = layers(own)
    names = [entry["id"] for entry in config["methods"]]
    assert names == [m["id"] for m in layers(QUICK)["methods"]] + ["pa"]
    assert {"id": "cdspp", "options": {"alpha": 1.0}} in config["methods"]
    assert "add" not in config
    assert layers({**config, **own}) == config  # as jobs read it again


def test_a_method_may_be_given_by_its_name_alone() -> None:
    own = {"methods": ["svm-t", {"id": "cdspp"}], "add": ["pa"]}
    config = layers(own)
    assert config["methods"] == [{"id": name} for name in ("svm-t", "cdspp", "pa")]
    with pytest.raises(ConfigError, match=r"methods.0..id: unknown name 'cdsp'"):
        load_own(QUICK | DATA | {"methods": ["cdsp"]})
