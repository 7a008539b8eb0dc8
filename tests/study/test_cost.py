"""Sizes and costs of a study, known before anything runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.study_files import load, read_study

from cdspp.core.names import trials_of_block
from cdspp.methods import method_class
from cdspp.study.cost import (
    FEWEST_MB,
    FEWEST_MINUTES,
    cell_cost,
    fit_cost,
    forecast_text,
    job_cost,
    problem_size,
)
from cdspp.study.model import FitGroup, Study


@pytest.fixture(scope="module")
def paper() -> Study:
    return load(read_study("paper"))


def group_of(study: Study, benchmark: str, method: str) -> FitGroup:
    """Return the group that makes the main run of a method."""
    return next(
        group
        for group in study.fit_groups()
        if group.benchmark == benchmark
        and method in group.methods
        and "main" in group.settings
    )


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


def test_more_trials_ask_for_more_time_and_no_more_memory(paper: Study) -> None:
    group = group_of(paper, "office-home-vgg16-resnet50", "cdspp")
    one, many = (
        job_cost(paper, group, "art_clipart", "cdspp", trials) for trials in (1, 500)
    )
    assert many.minutes > one.minutes >= FEWEST_MINUTES
    assert many.megabytes == one.megabytes >= FEWEST_MB


def test_a_job_asks_for_the_time_of_all_its_settings_and_the_memory_of_one(
    paper: Study,
) -> None:
    group = group_of(paper, "office-home-vgg16-resnet50", "cdspp")
    assert {"main", "swapped-classes", "noise"} <= set(group.settings)
    alone = replace(group, settings=("main",))
    cell = ("art_clipart", "cdspp", 500)
    whole, part = (job_cost(paper, each, *cell) for each in (group, alone))
    assert whole.minutes > 3 * part.minutes
    assert whole.megabytes == part.megabytes


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


def test_the_forecast_counts_every_job_and_fit_of_the_study(paper: Study) -> None:
    lines = forecast_text(paper).splitlines()
    blocks = [fit.block for name in paper.benchmarks for fit in paper.fits(name)]
    fits = sum(len(trials_of_block(block)) for block in blocks)
    jobs = sum(
        len(group.methods) * len(group.tasks) * len(group.blocks)
        for group in paper.fit_groups()
    )
    assert jobs < len(blocks)
    total = next(line.split() for line in lines if line.startswith("all"))
    assert [int(total[1]), int(total[2])] == [jobs, fits]
    assert float(total[3]) == pytest.approx(
        sum(float(line.split()[3]) for line in lines[1 : lines.index("") - 1]), abs=0.1
    )
