"""The verdict rule, and the paper's numbers beside a study's."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from support.printed_data import cell_of, summary_of

from cdspp.analysis.paper_accuracy import (
    Printed,
    compare_printed,
    printed_verdict,
    read_printed,
)
from cdspp.core.errors import DataError
from cdspp.datasets.catalogue import load_catalogue
from cdspp.methods import available, method_class

NAN = math.nan
MRC_TASKS = ("en_sp", "fr_sp", "gr_sp", "it_sp")


@pytest.fixture(scope="module")
def paper(repository: Path) -> Path:
    return repository / "resources" / "paper"


@pytest.fixture(scope="module")
def printed(paper: Path) -> Printed:
    return read_printed(paper)


@pytest.mark.parametrize(
    ("ours", "our_sd", "trials", "sd", "verdict"),
    [
        # Without deviations one point counts.
        (0.51, 0.0, 10, 0.0, "agrees"),
        (0.49, 0.0, 10, 0.0, "agrees"),
        (0.5101, 0.0, 10, 0.0, "close"),
        # Two standard errors: 2 sqrt(0.02^2 / 10 + 0.02^2 / 10) = 0.017889.
        (0.517888, 0.02, 10, 0.02, "agrees"),
        (0.482112, 0.02, 10, 0.02, "agrees"),
        (0.517890, 0.02, 10, 0.02, "close"),
        # With three trials of ours: 2 sqrt(0.02^2 / 10 + 0.02^2 / 3) = 0.026331.
        (0.526330, 0.02, 3, 0.02, "agrees"),
        (0.526333, 0.02, 3, 0.02, "close"),
        # Three points, the border itself among them.
        (0.53, 0.0, 10, 0.0, "close"),
        (0.47, 0.0, 10, 0.0, "close"),
        (0.5301, 0.0, 10, 0.0, "differs"),
        # A large deviation reaches beyond three points.
        (0.56, 0.1, 10, 0.1, "agrees"),
        # An average is printed without a deviation; a single trial has none.
        (0.51, 0.1, 10, NAN, "agrees"),
        (0.515, 0.1, 10, NAN, "close"),
        (0.515, NAN, 1, 0.1, "close"),
        (NAN, NAN, 0, 0.02, "not run"),
    ],
)
def test_the_rule_at_its_borders(
    ours: float, our_sd: float, trials: int, sd: float, verdict: str
) -> None:
    assert printed_verdict(0.5, sd, ours, our_sd, trials) == verdict


def test_exactly_two_standard_errors_agree() -> None:
    error = math.sqrt(0.03**2 / 10 + 0.04**2 / 10)
    assert printed_verdict(0.5, 0.03, 0.5 + 2 * error, 0.04, 10) == "agrees"


def test_every_printed_cell_is_read(printed: Printed) -> None:
    assert len(printed.cells) == 793
    cell = cell_of(printed.cells, "mrc", "SVM_t", "en_sp")
    assert (cell.printed_mean, cell.printed_sd, cell.supervised) == (
        pytest.approx(0.67),
        pytest.approx(0.024),
        True,
    )
    average = cell_of(printed.cells, "mrc", "CDLS", "average")
    assert average.printed_mean == pytest.approx(0.694)
    assert math.isnan(average.printed_sd)
    assert not average.supervised


def test_printed_names_are_those_of_the_classes(printed: Printed) -> None:
    names = {method_class(name).display_name for name in available()}
    assert set(printed.cells["method"]) == names - {"target-only"}


def test_every_task_is_one_of_the_data_set_and_has_its_own_cells(
    printed: Printed, paper: Path
) -> None:
    catalogue = load_catalogue(paper.parent / "datasets.yaml")
    entries = yaml.safe_load((paper / "benchmarks.yaml").read_text())
    for name, entry in entries.items():
        domains = catalogue[entry["dataset"]]["class_sizes"]
        tasks = set(entry["tasks"].values())
        assert {
            part for task in tasks - {"average"} for part in task.split("_")
        } <= set(domains)
        found = printed.cells[printed.cells["benchmark"] == name]["task"]
        assert tasks == set(found)


def test_the_paper_study_runs_every_printed_task(
    printed: Printed, repository: Path
) -> None:
    path = repository / "resources" / "studies" / "paper.yaml"
    study = yaml.safe_load(path.read_text())
    named = {entry["printed"]: entry["tasks"] for entry in study["benchmarks"]}
    assert set(named) == set(printed.benchmarks)
    for name, tasks in named.items():
        known = set(printed.benchmarks[name].tasks.values()) - {"average"}
        assert tasks == "all" or set(tasks) == known


def test_a_task_without_a_name_of_ours_is_refused(paper: Path, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    shutil.copytree(paper, folder)
    with (folder / "accuracy.csv").open("a") as stream:
        stream.write("mrc-tag2image,mrc,CDSPP,semi-supervised,EN->FR,70.0,1.0\n")
    with pytest.raises(DataError, match="got mrc, EN->FR"):
        read_printed(folder)


def test_a_cell_of_ours_stands_beside_the_printed_one(printed: Printed) -> None:
    values = [0.71, 0.69, 0.70]
    accuracies = {("tags_images", "cdspp"): values}
    summary = summary_of("nus-imagenet", ["tags_images"], accuracies, trials=3)
    cell = cell_of(
        compare_printed(printed, [summary]), "nus-imagenet", "CDSPP", "tags_images"
    )
    known = cell_of(printed.cells, "nus-imagenet", "CDSPP", "tags_images")
    assert cell.mean == pytest.approx(0.70)
    assert cell.sd == pytest.approx(0.01)
    assert cell.trials == 3
    assert cell.difference == pytest.approx(0.70 - known.printed_mean)
    assert cell.verdict == printed_verdict(
        known.printed_mean, known.printed_sd, 0.70, 0.01, 3
    )
    assert cell.reason == ""


def test_the_average_over_tasks_is_compared_where_all_tasks_ran(
    printed: Printed,
) -> None:
    accuracies = {
        (task, "svm-t"): [0.6 + place / 100, 0.7 + place / 100]
        for place, task in enumerate(MRC_TASKS)
    }
    every = summary_of("mrc", MRC_TASKS, accuracies, trials=2)
    cell = cell_of(compare_printed(printed, [every]), "mrc", "SVM_t", "average")
    assert cell.mean == pytest.approx(0.665)
    assert cell.verdict == "agrees"
    some = summary_of("mrc", MRC_TASKS[:2], accuracies, trials=2)
    cells = compare_printed(printed, [some])
    assert cell_of(cells, "mrc", "SVM_t", "fr_sp").mean == pytest.approx(0.66)
    reasons = {
        task: cell_of(cells, "mrc", "SVM_t", task).reason
        for task in ("average", "it_sp")
    }
    assert reasons == {
        "average": "some of its tasks are not in this study",
        "it_sp": "task is not in this study",
    }


def test_what_was_not_run_says_why(printed: Printed) -> None:
    accuracies = {("tags_images", "cdspp"): [NAN, NAN]}
    summary = summary_of("nus-imagenet", ["tags_images"], accuracies, trials=2)
    cells = compare_printed(printed, [summary])
    reasons = {
        key: cell_of(cells, *key).reason
        for key in [
            ("nus-imagenet", "CDSPP", "tags_images"),
            ("nus-imagenet", "TIT", "tags_images"),
            ("office-caltech", "TIT", "amazon_dslr"),
        ]
    }
    assert list(reasons.values()) == [
        "no trial that counts",
        "method is not in this study",
        "inputs not available to this study: SURF words and DeCAF6 of the "
        "Office-Caltech photographs",
    ]
    assert set(cells["verdict"]) == {"not run"}


def test_benchmarks_that_reproduce_none_are_passed_over(printed: Printed) -> None:
    summary = summary_of(None, ["tags_images"], {("tags_images", "cdspp"): [0.7]})
    assert set(compare_printed(printed, [summary])["verdict"]) == {"not run"}


@pytest.mark.parametrize(
    "names",
    [("nus-imagenet", "nus-imagenet"), ("office-31",)],
    ids=["twice", "unknown"],
)
def test_a_wrong_name_of_a_printed_benchmark_is_refused(
    printed: Printed, names: Sequence[str]
) -> None:
    accuracies = {("tags_images", "cdspp"): [0.7]}
    summaries = [summary_of(name, ["tags_images"], accuracies) for name in names]
    with pytest.raises(DataError, match=f"only once, got {names[0]}"):
        compare_printed(printed, summaries)
