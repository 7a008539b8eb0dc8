"""The verdict rule, and the paper's numbers beside a study's."""

from __future__ import annotations

import csv
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from cdspp.report.tables.display_name import (
    build_printed_tables,
    printed_tables,
    write_printed,
)
from support.report_data import make_layout

from cdspp.analysis.paper_accuracy import (
    Printed,
    PrintedCell,
    compare_printed,
    printed_verdict,
    read_printed,
)
from cdspp.analysis.summary import Summary, summarise
from cdspp.core.artifacts import SCORE_COLUMNS, write_rows
from cdspp.core.errors import DataError
from cdspp.datasets.catalogue import load_catalogue
from cdspp.methods import available, method_class
from cdspp.report.tables.table import Table

NAN = math.nan
MRC_TASKS = ("en_sp", "fr_sp", "gr_sp", "it_sp")
Accuracies = Mapping[tuple[str, str], Sequence[float]]


@pytest.fixture(scope="module")
def paper(repository: Path) -> Path:
    return repository / "resources" / "paper"


@pytest.fixture(scope="module")
def printed(paper: Path) -> Printed:
    return read_printed(paper)


def rows_of(accuracies: Accuracies) -> dict[str, Any]:
    """Return score columns with these accuracies by (task, method), trial by trial."""
    records = [
        ("main", task, method, trial, 1, "ok", 420, value, value)
        for (task, method), values in accuracies.items()
        for trial, value in enumerate(values, start=1)
    ]
    columns = zip(*records, strict=True)
    names = tuple(SCORE_COLUMNS)
    return {n: np.asarray(v) for n, v in zip(names, columns, strict=True)}


def layout_of(name: str, tasks: Sequence[str], **options: Any) -> dict[str, Any]:
    methods = ("svm-t", "cdspp")
    layout = make_layout(
        benchmark="ours", tasks=tasks, methods=methods, controls=(), **options
    )
    return layout | {"printed": name}


def summary_of(
    name: str, tasks: Sequence[str], accuracies: Accuracies, **options: Any
) -> Summary:
    return summarise(rows_of(accuracies), layout_of(name, tasks, **options))


def cell_of(cells: Sequence[PrintedCell], *wanted: str) -> PrintedCell:
    [found] = [c for c in cells if (c.benchmark, c.method, c.task) == wanted]
    return found


def table_of(printed: Printed, cells: Sequence[PrintedCell]) -> Table:
    [table] = build_printed_tables(printed, cells)
    return table


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
    assert (cell.mean, cell.sd, cell.supervised) == (
        pytest.approx(0.67),
        pytest.approx(0.024),
        True,
    )
    average = cell_of(printed.cells, "mrc", "CDLS", "average")
    assert average.mean == pytest.approx(0.694)
    assert math.isnan(average.sd)
    assert not average.supervised


def test_printed_names_are_those_of_the_classes(printed: Printed) -> None:
    names = {method_class(name).display_name for name in available()}
    assert {cell.method for cell in printed.cells} == names - {"target-only"}


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
        assert tasks == {c.task for c in printed.cells if c.benchmark == name}


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
    assert cell.ours == pytest.approx(0.70)
    assert cell.our_sd == pytest.approx(0.01)
    assert cell.our_trials == 3
    assert cell.difference == pytest.approx(0.70 - known.mean)
    assert cell.verdict == printed_verdict(known.mean, known.sd, 0.70, 0.01, 3)
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
    assert cell.ours == pytest.approx(0.665)
    assert cell.verdict == "agrees"
    some = summary_of("mrc", MRC_TASKS[:2], accuracies, trials=2)
    cells = compare_printed(printed, [some])
    assert cell_of(cells, "mrc", "SVM_t", "fr_sp").ours == pytest.approx(0.66)
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
    assert {cell.verdict for cell in cells} == {"not run"}


def test_benchmarks_that_reproduce_none_are_passed_over(printed: Printed) -> None:
    layout = make_layout(tasks=["tags_images"], methods=["cdspp"], controls=())
    summary = summarise(rows_of({("tags_images", "cdspp"): [0.7]}), layout)
    assert {c.verdict for c in compare_printed(printed, [summary])} == {"not run"}


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


def test_the_table_shows_what_was_compared_and_counts_the_rest(
    printed: Printed,
) -> None:
    known = cell_of(printed.cells, "nus-imagenet", "CDSPP", "tags_images").mean
    accuracies = {
        ("tags_images", "svm-t"): [known] * 2,
        ("tags_images", "cdspp"): [known - 0.02],
    }
    summary = summary_of(
        "nus-imagenet", ["tags_images"], accuracies, trials=2, shortened={"cdspp": 1}
    )
    table = table_of(printed, compare_printed(printed, [summary]))
    block = [
        li for li in table.lines if li.block == "NUS-WIDE tags to ImageNet pictures"
    ]
    texts = [[cell.text for cell in line.cells] for line in block]
    assert [text[1] for text in texts] == ["SVM_t*", "CDSPP†", "–"]
    assert texts[1][3] == "close"
    assert texts[1][6] == "−2.0"
    assert block[1].cells[5].note == "1 trial"
    assert texts[2][3] == "not run, 14 cells: method is not in this study"
    assert "Cells compared: 2 of 793; agrees: " in table.caption


def test_what_was_not_run_has_one_line_that_says_why(printed: Printed) -> None:
    table = table_of(printed, compare_printed(printed, []))
    texts = [[cell.text for cell in line.cells] for line in table.lines]
    assert len(texts) == len(printed.benchmarks)
    found = {text[0]: text[3] for text in texts}["Office-Caltech, SURF to DeCAF6"]
    assert found.startswith("not run, 255 cells: inputs not available")
    assert "None of the 793 printed cells could be compared" in table.caption


def test_the_files_hold_every_printed_cell(paper: Path, tmp_path: Path) -> None:
    layout = layout_of("nus-imagenet", ["tags_images"], trials=1)
    scores = tmp_path / "ours.parquet"
    write_rows(scores, SCORE_COLUMNS, rows_of({("tags_images", "cdspp"): [0.7]}))
    [name] = printed_tables()
    outputs = [tmp_path / f"{name}.{suffix}" for suffix in ("csv", "md", "tex")]
    write_printed(scores=[scores], layouts=[layout], paper=paper, outputs=outputs)
    with outputs[0].open(newline="") as stream:
        records = list(csv.DictReader(stream))
    assert len(records) == 793
    [record] = [r for r in records if r["mean"]]
    assert (record["method"], record["mean"], record["trials"]) == ("CDSPP", "0.7", "1")
    assert "two standard errors" in outputs[1].read_text()
    assert r"\toprule" in outputs[2].read_text()
