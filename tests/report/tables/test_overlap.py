"""Test samples that are labelled in the source as well: counted, and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.report_data import make_plan
from support.result_files import write_block

from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.published import draw_published, published_labels
from cdspp.report.tables.contents import build_overlap_table, count_overlap, read_splits
from cdspp.report.tables.table import to_latex, to_markdown

TASKS = ("web_web", "shop_web")
PLAN = make_plan(benchmark="photographs", tasks=TASKS, overlap="keep").of_data()
Rows = Sequence[tuple[int, str, str]]

# Trial 1: two of three test samples are labelled in the source; trial 2: one of two.
SOURCE = [(1, "a", "source"), (1, "b", "source"), (1, "c", "source")]
SOURCE += [(2, "a", "source"), (2, "x", "source")]
TARGET = [(1, "a", "unlabelled"), (1, "b", "unlabelled"), (1, "d", "unlabelled")]
TARGET += [(1, "c", "labelled")]
TARGET += [(2, "a", "unlabelled"), (2, "b", "unlabelled"), (2, "x", "labelled")]
ELSEWHERE = [(1, "s", "source"), (2, "d", "source"), (2, "b", "source")]


def frame(rows: Rows) -> pd.DataFrame:
    """Return rows of trial, id and role as splits are read."""
    return pd.DataFrame(rows, columns=["trial", "id", "role"])


def count(source: Rows, target: Rows, task: str) -> Any:
    """Count the overlap of one task."""
    names = zip(("source", "target"), task.split("_"), strict=True)
    splits = dict(zip(names, map(frame, (source, target)), strict=True))
    (found,) = count_overlap(splits, replace(PLAN, tasks=(task,))).itertuples()
    return found


@pytest.fixture
def splits(tmp_path: Path) -> list[Path]:
    """Write the splits of two sources and a target, the target's in two blocks."""
    blocks = {
        ("source", "web", "1-2"): SOURCE,
        ("source", "shop", "1-2"): ELSEWHERE,
        ("target", "web", "1-1"): TARGET[:4],
        ("target", "web", "2-2"): TARGET[4:],
    }
    for place, rows in blocks.items():
        write_block(tmp_path / "splits", *place, [(*row, "") for row in rows])
    return [tmp_path / "splits" / r / d / f"{name}.parquet" for r, d, name in blocks]


def office_caltech(repository: Path, domain: str) -> tuple[Rows, Rows]:
    """Return the published splits of a domain as source and as target."""
    catalogue = load_catalogue(repository / "resources" / "datasets.yaml")
    entry = catalogue["office-caltech-10"]
    labels = published_labels(entry, domain)
    sides: dict[str, list[tuple[int, str, str]]] = {"source": [], "target": []}
    for role, rows in sides.items():
        for trial in range(1, 11):
            parts = draw_published(
                labels, entry["protocol"][role], trial, class_order=entry["classes"]
            )
            names = ("source",) if role == "source" else ("labelled", "unlabelled")
            for name, part in zip(names, parts, strict=False):
                rows += [(trial, f"{domain}-{row}", name) for row in part]
    return sides["source"], sides["target"]


def test_a_test_sample_may_be_labelled_in_any_of_several_sources() -> None:
    sources = {"web": frame(SOURCE), "shop": frame(ELSEWHERE)}
    splits = {("source", name): rows for name, rows in sources.items()}
    splits["target", "here"] = frame(TARGET)
    plan = replace(PLAN, tasks=("shop+web_here", "shop_here"))
    both, one = count_overlap(splits, plan).itertuples()
    assert (both.shared_samples, one.shared_samples) == (2.0, 0.5)


@pytest.mark.parametrize(
    ("domain", "tested", "percent"),
    [
        ("dslr", 127, 93),
        ("webcam", 265, 64),
        ("amazon", 928, 18),
        ("caltech", 1093, 16),
    ],
)
def test_published_tasks_within_one_domain_share_most_or_some_test_samples(
    repository: Path, domain: str, tested: int, percent: int
) -> None:
    source, target = office_caltech(repository, domain)
    found = count(source, target, f"{domain}_{domain}")
    assert found.within_domain
    assert (found.trials, found.test_samples) == (10, tested)
    assert round(100 * found.share) == percent


def test_test_samples_are_compared_with_the_source_of_the_same_trial() -> None:
    found = count(SOURCE, TARGET, "web_web")
    assert (found.test_samples, found.shared_samples) == (2.5, 1.5)
    assert (found.lowest_share, found.highest_share) == (1 / 2, 2 / 3)


def test_the_same_id_in_another_domain_is_the_same_sample() -> None:
    found = count(ELSEWHERE, TARGET, "shop_web")
    assert (found.lowest_share, found.highest_share) == (0, 1 / 2)


def test_the_table_shows_mean_and_range_and_marks_tasks_within_one_domain(
    splits: list[Path],
) -> None:
    table = build_overlap_table(count_overlap(read_splits(splits, 2), PLAN), PLAN)
    lines = [line for line in to_markdown(table).splitlines() if line[:1] == "|"]
    assert lines[2:] == [
        "| web → web [within one domain] | 2.5 | 1.5 | 58.3 | 50.0 | 66.7 |",
        "| shop → web | 2.5 | 0.5 | 25.0 | 0.0 | 50.0 |",
    ]
    first, second = table.data.itertuples()
    assert (first.within_domain, second.within_domain) == (True, False)
    assert first.trials == 2
    assert first.share == pytest.approx((2 / 3 + 1 / 2) / 2)
    marked = r"web $\rightarrow$ web {\scriptsize within one domain}"
    assert marked in to_latex(table)


def test_without_shared_samples_the_caption_says_all() -> None:
    splits = {("source", "shop"): frame(SOURCE), ("target", "web"): frame(ELSEWHERE)}
    splits["target", "web"]["role"] = "unlabelled"
    splits["source", "shop"]["id"] += "s"
    plan = replace(PLAN, tasks=("shop_web",))
    table = build_overlap_table(count_overlap(splits, plan), plan)
    assert table.caption.startswith("No test sample")
    assert not table.lines
    assert len(table.data) == 1
