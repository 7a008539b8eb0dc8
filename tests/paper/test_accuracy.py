"""The verdict rule, and the paper's numbers beside a study's."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from support.report_data import make_plan
from support.score_data import NAN, as_frame, cell_of, summary_of

from cdspp.analysis.summary import summarise
from cdspp.methods import method_class
from cdspp.paper.printed import Printed, compare_printed, printed_verdict, read_printed

MRC_TASKS = ("en_sp", "fr_sp", "gr_sp", "it_sp")


@pytest.fixture(scope="module")
def paper(repository: Path) -> Path:
    return repository / "resources" / "paper"


@pytest.fixture(scope="module")
def printed(paper: Path) -> Printed:
    return read_printed(paper)


@pytest.mark.parametrize(
    ("sd", "our_sd", "trials", "border"),
    [
        (0.0, 0.0, 10, 0.01),
        (0.02, 0.02, 10, 0.0178885),  # 2 sqrt(0.02^2 / 10 + 0.02^2 / 10)
        (0.02, 0.02, 3, 0.0263312),  # 2 sqrt(0.02^2 / 10 + 0.02^2 / 3)
        (NAN, 0.1, 10, 0.01),
        (0.1, NAN, 1, 0.01),
    ],
    ids=["one point", "two errors", "of 3 trials", "an average", "a single trial"],
)
def test_means_agree_up_to_one_point_or_two_standard_errors(
    sd: float, our_sd: float, trials: int, border: float
) -> None:
    for sign in (1, -1):
        inside, outside = 0.5 + sign * border, 0.5 + sign * (border + 1e-6)
        assert printed_verdict(0.5, sd, inside, our_sd, trials) == "agrees"
        assert printed_verdict(0.5, sd, outside, our_sd, trials) == "close"


@pytest.mark.parametrize(
    ("mean", "sd", "trials", "verdict"),
    [
        (0.6695, 0.0245, 10, "exact"),
        (0.6705, 0.0235, 10, "exact"),
        (0.67051, 0.024, 10, "agrees"),
        (0.67, 0.02451, 10, "agrees"),
        (0.67, 0.024, 9, "agrees"),
    ],
    ids=["lower border", "upper border", "mean", "deviation", "nine trials"],
)
def test_a_cell_is_exact_where_mean_and_deviation_round_to_print(
    mean: float, sd: float, trials: int, verdict: str
) -> None:
    assert printed_verdict(0.67, 0.024, mean, sd, trials) == verdict


def test_an_average_that_is_printed_without_a_deviation_is_exact_by_its_mean() -> None:
    assert printed_verdict(0.67, NAN, 0.6704, 0.1, 10) == "exact"


@pytest.mark.parametrize(
    ("ours", "sd", "verdict"),
    [
        (0.53, 0.0, "close"),
        (0.47, 0.0, "close"),
        (0.5301, 0.0, "differs"),
        (0.56, 0.1, "agrees"),  # a large deviation reaches beyond three points
        (NAN, 0.02, "not run"),
    ],
)
def test_means_are_close_up_to_three_points(
    ours: float, sd: float, verdict: str
) -> None:
    assert printed_verdict(0.5, sd, ours, sd, 10) == verdict


def test_every_printed_cell_is_read(printed: Printed) -> None:
    assert len(printed.cells) == 793
    cell = cell_of(printed.cells, "mrc", "SVM_t", "en_sp")
    assert (cell.printed_mean, cell.printed_sd) == pytest.approx((0.67, 0.024))
    average = cell_of(printed.cells, "mrc", "CDLS", "average")
    assert average.printed_mean == pytest.approx(0.694)
    assert math.isnan(average.printed_sd)
    assert (cell.supervised, average.supervised) == (True, False)


def test_a_cell_of_ours_stands_beside_the_printed_one(printed: Printed) -> None:
    summary = summary_of("nus-imagenet", {"cdspp": {"tags_images": [0.71, 0.69, 0.70]}})
    place = ("nus-imagenet", "CDSPP", "tags_images")
    cell = cell_of(compare_printed(printed, [summary]), *place)
    known = cell_of(printed.cells, *place)
    expected = (0.70, 0.01, 0.70 - known.printed_mean)
    assert (cell.mean, cell.sd, cell.difference) == pytest.approx(expected)
    verdict = printed_verdict(known.printed_mean, known.printed_sd, 0.70, 0.01, 3)
    assert (cell.trials, cell.verdict, cell.reason) == (3, verdict, "")


@pytest.mark.parametrize(
    ("method", "seeds", "trials", "verdict"),
    [
        ("cdspp", [0.1], 1, "differs"),
        ("pa", [0.1], 10, "inconclusive"),
        ("pa", [0.1, 0.1, 0.1], 4, "inconclusive"),
        ("pa", [0.1, 0.1, 0.02], 5, "inconclusive"),
        ("pa", [0.1, 0.1, 0.1], 5, "differs"),
    ],
)
def test_a_random_method_differs_where_three_seeds_of_five_trials_do(
    printed: Printed, method: str, seeds: list[float], trials: int, verdict: str
) -> None:
    name = method_class(method).display_name
    place = ("nus-imagenet", name, "tags_images")
    known = cell_of(printed.cells, *place).printed_mean
    settings = {
        f"seed-{seed}": {"methods": [method], "options": {"random_state": seed}}
        for seed in range(1, len(seeds))
    }
    values = {
        (setting, method): {"tags_images": [known - off] * trials}
        for setting, off in zip(("main", *settings), seeds, strict=True)
    }
    plan = make_plan(
        paper={"printed": "nus-imagenet"},
        tasks=["tags_images"],
        methods=[method],
        states=(),
        settings=[{"id": name, **entry} for name, entry in settings.items()],
        trials=trials,
    )
    cells = compare_printed(printed, [summarise(as_frame(values), plan)])
    assert cell_of(cells, *place).verdict == verdict


def test_the_average_over_tasks_is_compared_where_all_tasks_ran(
    printed: Printed,
) -> None:
    means = {task: 0.6 + place / 100 for place, task in enumerate(MRC_TASKS)}
    given = {"svm-t": {task: [mean, mean + 0.1] for task, mean in means.items()}}
    every, some = (
        summary_of("mrc", given),
        summary_of("mrc", given, tasks=MRC_TASKS[:2]),
    )
    cell = cell_of(compare_printed(printed, [every]), "mrc", "SVM_t", "average")
    assert (cell.mean, cell.verdict) == (pytest.approx(0.665), "agrees")
    cells = compare_printed(printed, [some])
    found = [cell_of(cells, "mrc", "SVM_t", t) for t in ("fr_sp", "average", "it_sp")]
    assert found[0].mean == pytest.approx(0.66)
    assert [cell.reason for cell in found] == [
        "",
        "some of its tasks are not in this study",
        "task is not in this study",
    ]


def test_what_was_not_run_says_why(printed: Printed) -> None:
    summary = summary_of("nus-imagenet", {"cdspp": {"tags_images": [NAN, NAN]}})
    cells = compare_printed(printed, [summary])
    for place, reason in {
        ("nus-imagenet", "CDSPP", "tags_images"): "no trial that counts",
        ("nus-imagenet", "TIT", "tags_images"): "method is not in this study",
        ("office-caltech", "TIT", "amazon_dslr"): "inputs not available to this stu",
    }.items():
        assert cell_of(cells, *place).reason.startswith(reason)
    assert set(cells["verdict"]) == {"not run"}


def test_benchmarks_that_reproduce_none_are_passed_over(printed: Printed) -> None:
    summary = summary_of(None, {"cdspp": {"tags_images": [0.7]}})
    assert set(compare_printed(printed, [summary])["verdict"]) == {"not run"}
