"""Sizes and costs of a study, known before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.core.discovery import defaults_of
from cdspp.core.names import FitKey
from cdspp.methods import available, method_class
from cdspp.methods.cost import Cost, Size, fit_cost
from cdspp.study.fit_jobs import cell_cost, problem_size
from cdspp.study.model import Study


def size_of(study: Study, *cell: str) -> Size:
    """Return the size of a problem, by benchmark, setting, task and method."""
    return problem_size(study, FitKey(*cell, "1-1"))


def cost_of(study: Study, *cell: str) -> Cost:
    return cell_cost(study, FitKey(*cell, "1-1"))


@pytest.fixture(scope="module")
def paper() -> Study:
    return load(read_study("paper"))


@pytest.mark.parametrize(
    ("benchmark", "task", "source", "target"),
    [
        ("office-caltech", "caltech_amazon", (200, 800), (30, 928, 4096)),
        ("mrc", "en_sp", (600, 1131), (60, 3000, 807)),
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
    size = size_of(paper, benchmark, "main", task, "dama-sup")
    assert (size.n_source, size.d_source) == source
    assert (size.n_labelled, size.n_unlabelled, size.d_target) == target


def test_a_view_scaled_by_principal_components_has_at_most_50() -> None:
    config = read_study("office-caltech")
    for view in config["views"]:
        view["scale"] = "pca"
    size = size_of(load(config), "photographs", "main", "amazon_webcam", "cdspp")
    assert (size.d_source, size.d_target) == (50, 50)


def test_bags_of_words_are_counted_by_the_words_that_a_row_has(
    embedded: dict[str, Any],
) -> None:
    study = load(embedded)
    cell = ("docs-to-code", "main", "docs_code", "shared-columns-plus")
    size = size_of(study, *cell)
    assert size.density == 0.01
    dense = fit_cost(method_class(cell[-1]), replace(size, density=1.0))
    sparse = cost_of(study, *cell)
    assert sparse.seconds < dense.seconds / 50
    assert sparse.megabytes < dense.megabytes / 2
    assert size_of(study, *cell[:-1], "cdspp").density == 1.0


def test_without_a_source_the_labelled_target_rows_serve(paper: Study) -> None:
    size = size_of(paper, "mrc", "none", "en_sp", "dama")
    assert (size.n_source, size.d_source) == (size.n_labelled, size.d_target)
    noise = size_of(paper, "mrc", "noise", "en_sp", "dama")
    assert noise == size_of(paper, "mrc", "main", "en_sp", "dama")


# Three source rows a class of 50 features, two labelled target rows and an unlabelled
# one of 60: seconds and megabytes measured on one thread.
MEASURED = [
    ("cdspp", 1000, 2.6, 330),
    ("dama", 4000, 12.0, 899),
    ("svm-t", 1000, 35.7, 11_685),
    ("cdls-sup", 1000, 30.1, 8122),
]


@pytest.mark.parametrize(("name", "n_classes", "seconds", "megabytes"), MEASURED)
def test_many_classes_are_counted(
    name: str, n_classes: int, seconds: float, megabytes: float
) -> None:
    n = n_classes
    cost = fit_cost(method_class(name), Size("", n, 3 * n, 50, 2 * n, n, 60))
    assert seconds / 2 < cost.seconds < 2 * seconds
    assert megabytes / 2 < cost.megabytes < 2 * megabytes


# Median processor seconds of the trials of the two studies of methods that came after
# the paper, over all source states of one size, of reference cases of that size, and of
# larger synthetic rows. Those of a network include a second that torch takes to load.
DIGITS = Size("", 10, 200, 200, 30, 394, 50)
SURF = Size("", 10, 200, 800, 30, 127, 1024)
DECAF6 = Size("", 10, 200, 800, 30, 127, 4096)
LARGER = Size("", 10, 1000, 800, 30, 1970, 1024)
HUNDRED = Size("", 100, 1000, 300, 500, 2000, 200)
NEWER = [
    ("coot", DIGITS, 0.17),
    ("coot", DECAF6, 9.5),
    ("coot", Size("", 10, 200, 4096, 30, 127, 4096), 241.0),
    ("semi-relaxed-fgw", DIGITS, 0.65),
    ("semi-relaxed-fgw", LARGER, 60.6),
    ("kpg-rl", DIGITS, 0.08),
    ("kpg-rl", LARGER, 1.5),
    ("kpg-rl linear", LARGER, 1.5),
    ("kpg-rl-gw", DIGITS, 0.17),
    ("kpg-rl-gw", LARGER, 6.5),
    ("ucoot", SURF, 6.0),
    ("nn-t", DIGITS, 1.4),
    ("nn-t", Size("", 10, 200, 800, 30, 928, 4096), 3.0),
    ("easy-adapt-plus", SURF, 0.17),
    ("easy-adapt-plus", HUNDRED, 2.7),
    ("pa", DIGITS, 0.41),
    ("pa", LARGER, 7.1),
]


@pytest.mark.parametrize(("name", "size", "seconds"), NEWER)
def test_a_fit_costs_as_much_as_forecast(name: str, size: Size, seconds: float) -> None:
    identifier, *machine = name.split()
    options = {"classifier": machine[0]} if machine else {}
    forecast = fit_cost(method_class(identifier), size, options).seconds
    assert seconds / 2 < forecast < 2 * seconds


ITERATIVE = [n for n in available() if defaults_of(method_class(n)).get("max_iter")]


@pytest.mark.parametrize("name", ITERATIVE)
def test_half_the_iterations_take_half_the_time(name: str) -> None:
    method = method_class(name)
    options = {"max_iter": defaults_of(method)["max_iter"] / 2}
    whole = fit_cost(method, SURF).seconds
    assert fit_cost(method, SURF, options).seconds == pytest.approx(whole / 2)


@pytest.mark.parametrize("name", available())
def test_twice_the_rows_cost_no_less_and_nothing_is_free(name: str) -> None:
    sizes = [Size("made", 10, n, 80, 30, n, 100) for n in (200, 2000, 4000)]
    seconds, megabytes = zip(*map(method_class(name).cost, sizes), strict=True)
    assert 0 < seconds[0] <= seconds[1] <= seconds[2]
    assert 0 <= megabytes[0] <= megabytes[1] <= megabytes[2]
