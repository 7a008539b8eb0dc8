"""What jobs ask a scheduler for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.study_files import load, read_study

from cdspp.study.fit_jobs import (
    FEWEST_MB,
    FEWEST_MINUTES,
    UNGROUPED_SECONDS,
    FitRule,
    fit_request,
    fit_rules,
    runs_ungrouped,
    view_request,
)
from cdspp.study.model import Study

PLACE, TASK = "office-home-vgg16-resnet50", "art_clipart"


@pytest.fixture(scope="module")
def paper() -> Study:
    return load(read_study("paper"))


@pytest.fixture(scope="module")
def groups(paper: Study) -> list[FitRule]:
    """Return what jobs make together; to find it for the paper takes seconds."""
    return list(fit_rules(paper))


def group_of(groups: list[FitRule], method: str) -> FitRule:
    """Return the group that makes the main run of a method."""
    wanted = PLACE, "main", method
    return next(
        group
        for group in groups
        if wanted
        in {(cell.benchmark, cell.setting, cell.method) for cell in group.fits}
    )


def test_more_trials_ask_for_more_time_and_no_more_memory(
    paper: Study, groups: list[FitRule]
) -> None:
    group = group_of(groups, "cdspp")
    one, many = (fit_request(paper, group, TASK, f"1-{n}") for n in (1, 500))
    assert many.minutes > one.minutes >= FEWEST_MINUTES
    assert many.megabytes == one.megabytes >= FEWEST_MB


def test_a_job_asks_for_the_time_of_all_its_runs_and_the_memory_of_one(
    paper: Study, groups: list[FitRule]
) -> None:
    group = group_of(groups, "cdspp")
    states = {member.setting for member in group.fits}
    assert {"main", "swapped-classes", "noise"} <= states
    main = next(cell for cell in group.fits if cell.setting == "main")
    alone = replace(group, fits=(main,))
    whole, part = (fit_request(paper, each, TASK, "1-500") for each in (group, alone))
    minutes = [asked.minutes - FEWEST_MINUTES for asked in (whole, part)]
    assert minutes[0] > 3 * minutes[1] > 0
    assert whole.megabytes == part.megabytes


def test_a_second_attempt_gets_twice_the_time_and_memory(
    paper: Study, groups: list[FitRule]
) -> None:
    group = group_of(groups, "ssan")
    first, second = (fit_request(paper, group, TASK, "1-5", n) for n in (1, 2))
    assert second == (2 * first.megabytes, 2 * first.minutes, first.gpus)


def test_only_networks_ask_for_the_gpus_of_the_study(
    paper: Study, groups: list[FitRule]
) -> None:
    with_gpus = replace(paper, gpus=1)
    asked = {
        method: [
            fit_request(study, group_of(groups, method), TASK, "1-5").gpus
            for study in (paper, with_gpus)
        ]
        for method in ("ssan", "stn", "cdspp", "dama")
    }
    assert asked == {"ssan": [0, 1], "stn": [0, 1], "cdspp": [0, 0], "dama": [0, 0]}


def test_long_jobs_and_networks_travel_alone(
    paper: Study, groups: list[FitRule]
) -> None:
    together = [group for group in groups if not runs_ungrouped(paper, group)]
    assert together
    for group in together:
        assert not {"ssan", "stn"} & set(group.methods)
        for task in group.tasks:
            asked = fit_request(paper, group, task, group.blocks[0])
            assert asked.minutes <= FEWEST_MINUTES + 1 + 3 * UNGROUPED_SECONDS / 60


@pytest.mark.parametrize("view", ["sift-words", "alexnet-fc6"])
def test_a_view_asks_by_its_rows_and_its_extractor(
    config: dict[str, Any], view: str
) -> None:
    study = replace(load(config), gpus=2)
    dataset, domain = "digits", "photo"
    asked = view_request(study, dataset, domain, view)
    assert FEWEST_MINUTES < asked.minutes < 60
    assert FEWEST_MB <= asked.megabytes < 4000
    assert asked.gpus == (2 if view == "alexnet-fc6" else 0)
    sizes = study.datasets[dataset].class_sizes
    more = {domain: {name: 100 * n for name, n in sizes[domain].items()}}
    large = replace(study.datasets[dataset], class_sizes={**sizes, **more})
    other = replace(study, datasets={**study.datasets, dataset: large})
    assert view_request(other, dataset, domain, view).minutes > asked.minutes
