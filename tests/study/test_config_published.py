"""Studies of published data: what the schema and the cross-checks find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.study_files import ROOT, load, read_study

from cdspp.core.errors import ConfigError


@pytest.fixture
def paper() -> dict[str, Any]:
    return read_study("paper")


@pytest.mark.parametrize("path", sorted((ROOT / "resources/studies").glob("*.yaml")))
def test_every_shipped_study_is_without_faults(path: Path) -> None:
    study = load(read_study(path.stem))
    assert study.name == path.stem


def test_the_paper_has_its_tasks_and_sizes(paper: dict[str, Any]) -> None:
    study = load(paper)
    numbers = {name: len(entry.tasks) for name, entry in study.benchmarks.items()}
    assert list(numbers.values()) == [16, 4, 1, 16, 16]
    assert study.split_counts("mrc", "main", "source") == (100, None)
    assert study.split_counts("mrc", "main", "target") == (10, 500)
    assert {entry.protocol for entry in study.benchmarks.values()} == {"published"}


def test_options_given_by_domain_are_those_of_the_domain(paper: dict[str, Any]) -> None:
    view = load(paper).views["words-pca"]
    assert view.domain_options("gr") == {"n_components": 1417}


def test_what_a_view_needs_fetched_depends_on_the_view_and_the_domain() -> None:
    study = load(read_study("office-caltech"))
    dataset = study.datasets["office-caltech-10"]
    assert dataset.resource(study.views["googlenet"], "dslr") == "googlenet-dslr"
    assert dataset.resource(study.views["alexnet-fc6"], "dslr") == "images"
    assert (
        study.datasets["digits"].resource(study.views["alexnet-fc6"], "print") is None
    )


def test_a_setting_may_run_some_tasks_only() -> None:
    study = load(read_study("office-caltech"))
    assert study.setting_tasks("surf-googlenet", "no-overlap") == (
        "dslr_dslr",
        "webcam_webcam",
    )
    assert study.overlap("surf-googlenet", "no-overlap") == "exclude"
    assert study.overlap("surf-googlenet", "placebo") == "keep"


def view(config: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in config["views"] if entry["id"] == name)


def benchmark(config: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in config["benchmarks"] if entry["id"] == name)


def misspell(config: dict[str, Any]) -> None:
    view(config, "surf")["options"]["name"] = "surff"


def forget_the_name(config: dict[str, Any]) -> None:
    del view(config, "surf")["options"]


def take_a_view_of_another_domain(config: dict[str, Any]) -> None:
    benchmark(config, "nus-imagenet")["target_view"] = "tags"


def forget_a_domain(config: dict[str, Any]) -> None:
    del view(config, "words-pca")["options"]["n_components"]["sp"]


def ask_for_too_much_of_a_domain(config: dict[str, Any]) -> None:
    view(config, "words-pca")["options"]["n_components"]["sp"] = 0


def read_files_that_there_are_not(config: dict[str, Any]) -> None:
    config["views"].append({"id": "text", "extractor": "text"})
    benchmark(config, "mrc")["target_view"] = "text"


def leave_too_few_others(config: dict[str, Any]) -> None:
    benchmark(config, "mrc")["labels"]["unlabelled"] = 730


def name_a_task_that_is_not_there(config: dict[str, Any]) -> None:
    config["settings"][0]["tasks"] = ["caltech_amazn"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (misspell, "published view: unknown name 'surff': did you mean 'surf'"),
        (forget_the_name, "name must be the name of a published view, got None"),
        (take_a_view_of_another_domain, "tags is not published for domain images"),
        (
            forget_a_domain,
            "n_components of view words-pca names no value for domain sp",
        ),
        (ask_for_too_much_of_a_domain, "n_components must be an integer of 1 or more"),
        (read_files_that_there_are_not, "text reads texts, but mrc holds features"),
        (
            leave_too_few_others,
            r"leave fewer than 730 others in domain sp, class C15 \(737\)",
        ),
        (
            name_a_task_that_is_not_there,
            "'caltech_amazn': did you mean 'caltech_amazon'",
        ),
    ],
)
def test_a_fault_is_named(paper: dict[str, Any], spoil: Any, message: str) -> None:
    spoil(paper)
    with pytest.raises(ConfigError, match=message):
        load(paper)
