"""Sections of config.yaml shrink to what a study has; its own sections never do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.study_files import load_own

from cdspp.core.errors import ConfigError

METHODS = [{"id": "svm-t"}, {"id": "cdls"}]
TEXTS = {
    "id": "texts",
    "dataset": "docs-to-code",
    "source_view": "tfidf-pca",
    "target_view": "tfidf-pca",
    "tasks": ["docs_code"],
    "labels": {"source": 20, "target": 3},
}
LEFT_OUT = "left out what this study has no methods, benchmarks or tasks for"


def test_fewer_methods_shrink_the_sections_of_config_yaml() -> None:
    study = load_own({"methods": METHODS})
    assert [curve.identifier for curve in study.curves] == ["labels"]
    assert study.curves[0].methods == ("svm-t",)
    assert not [name for name in study.settings if "deviation" in name]
    assert not {"class-noise-wide", "alpha-1"} & set(study.settings)
    assert study.notes == (
        f"settings: {LEFT_OUT}: class-noise-narrow, class-noise-wide, "
        "class-noise-positive.",
        f"curves: {LEFT_OUT}: dimension, alpha, tau, rounds, pairs; of labels: "
        "cdspp-sup, cdspp, shared-columns-plus, paired-map-plus, target-only.",
        f"deviations: {LEFT_OUT}: no-centring, plain-means, select-over-all, "
        "final-fit, unit-eigenvectors, dama-unit-eigenvectors.",
        "reference: no method of the study is named; it is cdls, the first "
        "semi-supervised method.",
    )
    assert (study.reference, study.baseline) == ("cdls", "svm-t")


def test_a_copy_of_config_yaml_with_fewer_methods_shrinks_likewise(
    embedded: dict[str, Any],
) -> None:
    study = load_own(embedded | {"methods": METHODS})
    assert study.curves[0].methods == ("svm-t",)


def test_benchmarks_of_ones_own_keep_what_is_inherited() -> None:
    study = load_own({"benchmarks": [TEXTS]})
    assert len(study.curves) == 5
    assert study.curves[0].tasks == {"texts": ("docs_code",)}
    assert study.notes == ()


@pytest.mark.parametrize(
    ("section", "entry"),
    [
        ("settings", {"id": "a", "methods": ["cdsp"], "options": {"alpha": 1}}),
        ("settings", {"id": "a", "methods": ["hfa"], "options": {"C": 1}}),
        ("deviations", {"id": "no-centring"}),
        ("deviations", {"id": "no-centering"}),
        (
            "curves",
            {"id": "a", "methods": ["hfa"], "parameter": "labels", "values": [1, 3]},
        ),
    ],
)
def test_a_section_of_ones_own_must_name_what_the_study_has(
    section: str, entry: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=rf"{section}\[0\]\.(methods|id): unknown"):
        load_own({"methods": METHODS, section: [entry]})


@pytest.fixture
def base(embedded: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Return what a config.yaml of other content starts from."""
    slow = {"id": "hfa", "benchmarks": ["digits"]}
    some = {"id": "cdspp", "benchmarks": ["digits", "texts"], "states": ["none"]}
    some |= {"source_view": {"digits": "sift-words", "texts": "tfidf"}, "trials": 9}
    named = {"id": "tit", "tasks": ["print_sketch", "docs_code"]}
    return embedded | {"methods": [{"id": "svm-t"}, slow, some, named]}


def load_on(base: dict[str, Any], own: dict[str, Any], folder: Path) -> Any:
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(base))
    return load_own(own, file)


def test_inherited_methods_shrink_to_the_benchmarks_and_states(
    base: dict[str, Any], tmp_path: Path
) -> None:
    inherited = {"settings": [], "curves": [], "deviations": []}
    own = {"benchmarks": [TEXTS], "trials": 3, "source_states": {"states": ["noise"]}}
    study = load_on(base | inherited, own, tmp_path)
    assert list(study.methods) == ["svm-t", "cdspp", "tit"]
    cdspp = study.methods["cdspp"]
    assert (cdspp.trials, cdspp.states) == (3, ())
    assert cdspp.source_views == {"texts": "tfidf"}
    assert study.notes == (
        f"methods: {LEFT_OUT}: hfa; of cdspp: digits; of tit: print_sketch.",
    )


def test_what_rests_on_a_method_that_falls_away_does_too(
    base: dict[str, Any], tmp_path: Path
) -> None:
    setting = {"id": "soft", "methods": ["hfa", "tit"], "labels": {"target": 1}}
    changes = {"settings": [setting], "curves": [], "deviations": []}
    study = load_on(base | changes, {"benchmarks": [TEXTS]}, tmp_path)
    assert study.settings["soft"].methods == ("tit",)


def test_entries_without_a_benchmark_or_task_fall_away(
    base: dict[str, Any], tmp_path: Path
) -> None:
    common = {"methods": ["cdspp"], "labels": {"target": 1}}
    settings = [
        {"id": "elsewhere", **common, "benchmarks": ["digits"]},
        {"id": "other-task", **common, "tasks": ["print_sketch"]},
        {"id": "both", **common, "benchmarks": ["digits", "texts"], "tasks": 1},
    ]
    changes = {"settings": settings, "curves": [], "deviations": []}
    study = load_on(base | changes, {"benchmarks": [TEXTS]}, tmp_path)
    assert study.settings["both"].tasks == {"texts": ("docs_code",)}
    assert not {"elsewhere", "other-task"} & set(study.settings)
    assert study.notes[1:] == (
        f"settings: {LEFT_OUT}: elsewhere, other-task; of both: digits.",
    )


def test_a_method_that_a_benchmark_leaves_out_is_not_kept_for_it() -> None:
    benchmark = TEXTS | {"leave_out": ["cdspp", "dama-plus"]}
    study = load_own({"benchmarks": [benchmark]})
    kept = {curve.identifier: curve.methods for curve in study.curves}
    assert kept == {
        "labels": ("svm-t", "cdspp-sup", "target-only"),
        "tau": ("ddacl",),
    }
    assert not [name for name in study.settings if "deviation" in name]


def test_a_misspelt_method_fails_wherever_it_is_inherited_from(
    base: dict[str, Any], tmp_path: Path
) -> None:
    setting = {"id": "a", "methods": ["cdpss"], "labels": {"target": 1}}
    with pytest.raises(ConfigError, match="'cdpss'"):
        load_on(base | {"settings": [setting]}, {"methods": METHODS}, tmp_path)


def test_inherited_runs_have_no_more_trials_than_the_study() -> None:
    study = load_own({"trials": 2})
    assert study.settings["class-noise-wide"].trials == 2
    assert study.notes == ()


def test_choices_shrink_to_the_methods_that_are_there(
    base: dict[str, Any], tmp_path: Path
) -> None:
    changes = {"choices": [{"id": "unit-rows"}, {"id": "z-scored-source"}]}
    changes |= {"settings": [], "curves": [], "deviations": []}
    study = load_on(base | changes, {"methods": [{"id": "cdspp"}]}, tmp_path)
    kept = {s.methods for s in study.settings.values() if s.guest}
    assert kept <= {("cdspp",)}


def test_views_of_ones_own_need_benchmarks_of_ones_own() -> None:
    with pytest.raises(ConfigError) as caught:
        load_own({"views": [{"id": "tfidf", "extractor": "text"}]})
    assert str(caught.value).startswith("4 faults")
    remedy = "give benchmarks of your own with your views, or add the views of config"
    assert str(caught.value).count(remedy) == 2
