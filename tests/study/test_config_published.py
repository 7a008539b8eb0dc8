"""Studies of published data: what the schema and the cross-checks find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.study_files import ROOT, load, load_own, read_study


@pytest.fixture
def paper() -> dict[str, Any]:
    return read_study("paper")


@pytest.mark.parametrize("path", sorted((ROOT / "resources/studies").glob("*.yaml")))
def test_every_shipped_study_is_without_faults(path: Path) -> None:
    study = load_own(yaml.safe_load(path.read_text()))
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
    assert study.overlap("surf-googlenet", "noise") == "keep"
