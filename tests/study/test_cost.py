"""Sizes and costs of a study, known before anything runs."""

from __future__ import annotations

import pytest
from support.study_files import load, read_study

from cdspp.methods import method_class
from cdspp.study.cost import (
    cell_cost,
    fit_cost,
    problem_size,
)
from cdspp.study.model import Study


@pytest.fixture(scope="module")
def paper() -> Study:
    return load(read_study("paper"))


@pytest.mark.parametrize(
    ("benchmark", "task", "source", "target"),
    [
        ("office-caltech", "caltech_amazon", (200, 800), (30, 928, 4096)),
        ("office-caltech", "dslr_webcam", (147, 800), (30, 265, 4096)),
        ("mrc", "en_sp", (600, 1131), (60, 3000, 807)),
        ("nus-imagenet", "tags_images", (800, 64), (24, 800, 4096)),
        ("office-home-vgg16-resnet50", "art_clipart", (1271, 4096), (195, 4170, 2048)),
    ],
)
def test_the_sizes_of_the_paper_are_known_without_data(
    paper: Study,
    benchmark: str,
    task: str,
    source: tuple[int, int],
    target: tuple[int, int, int],
) -> None:
    size = problem_size(paper, benchmark, "main", task, "dama-sup")
    assert (size.n_source, size.d_source) == source
    assert (size.n_labelled, size.n_unlabelled, size.d_target) == target


def test_widths_follow_from_the_options_of_extractors() -> None:
    cell = ("photographs", "main", "amazon_webcam", "cdspp")
    size = problem_size(load(read_study("office-caltech")), *cell)
    assert (size.d_source, size.d_target) == (800, 4096)


def test_a_view_scaled_by_principal_components_has_at_most_50() -> None:
    config = read_study("office-caltech")
    for view in config["views"]:
        view["scale"] = "pca"
    size = problem_size(load(config), "photographs", "main", "amazon_webcam", "cdspp")
    assert (size.d_source, size.d_target) == (50, 50)


def test_without_a_source_the_labelled_target_rows_serve(paper: Study) -> None:
    size = problem_size(paper, "mrc", "none", "en_sp", "dama")
    assert (size.n_source, size.d_source) == (size.n_labelled, size.d_target)
    noise = problem_size(paper, "mrc", "noise", "en_sp", "dama")
    assert noise == problem_size(paper, "mrc", "main", "en_sp", "dama")


def test_fewer_iterations_cost_less() -> None:
    study = load(read_study("office-caltech"))
    short, whole = (
        cell_cost(study, "photographs", "main", "amazon_webcam", name).seconds
        for name in ("ssan", "stn")
    )
    size = problem_size(study, "photographs", "main", "amazon_webcam", "ssan")
    assert short == pytest.approx(fit_cost(method_class("ssan"), size).seconds / 10)
    assert whole == pytest.approx(fit_cost(method_class("stn"), size).seconds / 3)


@pytest.mark.parametrize("name", ["ssan", "stn"])
def test_narrower_networks_cost_less(name: str) -> None:
    config = read_study("paper")
    cell = ("office-home-vgg16-resnet50", "main", "art_clipart", name)
    usual = cell_cost(load(config), *cell)
    entry = next(entry for entry in config["methods"] if entry["id"] == name)
    entry["options"] = {"n_components": 32}
    narrow = cell_cost(load(config), *cell)
    assert narrow.seconds < 0.9 * usual.seconds
    assert narrow.megabytes < usual.megabytes - 30
    entry["options"] = {"n_components": 32, "max_iter": 30}
    assert cell_cost(load(config), *cell).seconds < narrow.seconds / 9
