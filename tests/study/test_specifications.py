"""The specification of every kind of file has all that its writer reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from itertools import chain
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.core.records import DEFAULTS, Specification
from cdspp.methods import method_class
from cdspp.stages import data, features, splits, subspace
from cdspp.stages.fit import Fit
from cdspp.stages.trials import source_features
from cdspp.study.files import files_after_fits, files_before_fits, files_of_fit
from cdspp.study.model import Study
from cdspp.study.specifications import Specifications

STUDIES = ("bridges", "printed")  # have all kinds of files, with the embedded one
# Arguments that the path of a file, its inputs or the machine give.
OF_PATH = {"output", "domain", "block", "role", "gpus", "files", "index_path", "name"}
WRITERS: dict[str, Callable[..., Any]] = {
    "data": data.prepare_dataset,
    "labels": data.write_labels,
    "codebooks": features.build_codebook,
    "features": features.extract_view,
    "pairs": splits.write_pairs,
    "splits": splits.write_split,
    "test-shares": splits.write_test_shares,
    "subspace": subspace.write_subspace,
}
# Options that are recorded only: packages and content that determine the samples.
RECORDED = {"data": {"name", "module", "versions", "fingerprint"}}
NO_OPTION = {"catalogue"}  # the library's own file, of which the fingerprint tells
INPUTS = {
    "data": set(),
    "labels": {"index"},
    "codebooks": {"index"},
    "features": {"index", "fetched", "weights", "codebook", "view"},
    "pairs": {"index"},
    "splits": {"labels"},
    "test-shares": {"labels", "split"},
}


def kind_of(file: str) -> str:
    parts = file.split("/")
    if parts[0] == "data" or parts[1] in WRITERS:
        return parts[0] if parts[0] == "data" else parts[1]
    return "pairs" if "pairs" in parts else parts[2]


@pytest.fixture(scope="module")
def found() -> dict[str, list[Specification]]:
    """Return the specifications of some studies, by the kind of file."""
    by_kind: dict[str, list[Specification]] = {}
    for study in (load(read_study(name)) for name in STUDIES):
        collect(study, by_kind)
    return by_kind


def collect(study: Study, by_kind: dict[str, list[Specification]]) -> None:
    specifications = Specifications(study)
    files = chain(*files_before_fits(study).values())
    for file in (*files, *files_after_fits(study)["subspaces"]):
        by_kind.setdefault(kind_of(file), []).append(specifications.of(file))


@pytest.mark.parametrize("kind", [*WRITERS])
def test_a_writer_receives_all_that_it_reads(
    found: dict[str, list[Specification]], kind: str, embedded: dict[str, Any]
) -> None:
    if kind == "codebooks":
        collect(load(embedded), found)
    writer = {*signature(WRITERS[kind]).parameters} - OF_PATH - NO_OPTION
    for each in found[kind]:
        options = {*each.arguments} - RECORDED.get(kind, set())
        assert options | (writer & {*each.inputs}) == writer
        assert RECORDED.get(kind, set()) <= {*each.options}
        assert each.code
        if kind in INPUTS:
            assert {*each.inputs} <= INPUTS[kind]
            assert bool(each.inputs) == bool(INPUTS[kind])


def test_a_fit_receives_all_that_it_reads(embedded: dict[str, Any]) -> None:
    of_study = {"predictions", "made_of"}
    names = {field.name for field in fields(Fit)} - of_study
    codes = set()
    study = load(embedded)
    specifications = Specifications(study)
    for key in study.fit_keys("digits"):
        made_of = specifications.of_fit(key)
        assert {*made_of.arguments} == names
        assert len(source_features(made_of.inputs)) == 1
        assert {"target_features", "source_split", "target_split"} < {*made_of.inputs}
        codes.add(made_of.code)
    modules = {method_class(name).__module__ for name in study.methods}
    assert len(codes) >= len(modules)


def test_scores_follow_each_fit_and_every_label(embedded: dict[str, Any]) -> None:
    def scores() -> Specification:
        return Specifications(load(embedded)).of("results/embedded/scores/digits.npz")

    before = scores()
    assert {*before.inputs} == {*load(embedded).roles("digits")["target"]}
    embedded["methods"][0].setdefault("options", {})["C"] = 3.0
    assert before.options != scores().options


# A change of the study, and the kinds of files that it is written in.
CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], set[str]]] = {
    "seed": (lambda config: config.update(seed=7), {"splits", "pairs", "fits"}),
    "threads": (
        lambda config: config.update(numeric_threads=2),
        {"codebooks", "features", "fits", "subspace"},
    ),
    "overlap": (
        lambda config: config["benchmarks"][0].update(overlap="keep"),
        {"fits", "subspace"},
    ),
    "labels": (
        lambda config: config["benchmarks"][0].update(
            labels={"source": 9, "target": 3}
        ),
        {"splits"},
    ),
}


@pytest.mark.parametrize("change", [*CHANGES])
def test_a_change_of_the_study_is_in_the_files_that_it_concerns(
    embedded: dict[str, Any], change: str
) -> None:
    before = contents(load(embedded))
    edit, kinds = CHANGES[change]
    edit(embedded)
    after = contents(load(embedded))
    assert {kind for kind in before if before[kind] != after[kind]} == kinds


def contents(study: Study) -> dict[str, list[Any]]:
    """Return options, files of the user and code by kind, without paths."""
    by_kind: dict[str, list[Specification]] = {}
    collect(study, by_kind)
    keys = [*study.fit_keys("digits")]
    by_kind["fits"] = [Specifications(study).of_fit(key) for key in keys]
    return {
        kind: [each._replace(inputs={}) for each in found]
        for kind, found in by_kind.items()
    }


def test_inputs_of_a_fit_are_files_of_which_there_is_a_specification(
    embedded: dict[str, Any],
) -> None:
    study = load(embedded)
    specifications = Specifications(study)
    known = {*chain(*files_before_fits(study).values())}
    for key in study.fits("digits"):
        assert {*files_of_fit(study, key).values()} <= known
    for file in known:
        assert {*specifications.of(file).inputs.values()} <= known


def test_another_option_of_a_view_has_another_path(embedded: dict[str, Any]) -> None:
    before = load(embedded)
    view = next(each for each in embedded["views"] if each["extractor"] == "pca")
    view["options"] = {"energy": 0.61}
    after = load(embedded)
    changed = {
        name
        for name in before.views
        if before.view_names[name] != after.view_names[name]
    }
    assert changed == {view["id"]}
    assert (
        DEFAULTS
        in Specifications(after)
        .of(next(f for f in files_before_fits(after)["features"] if view["id"] in f))
        .options
    )
