"""Seeded splits: reproducible, nested, and without labels of test samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cdspp.datasets.published import draw_published
from cdspp.stages.formats import LABEL_COLUMNS, SPLIT_COLUMNS, read_rows, write_rows
from cdspp.stages.splits import write_split

CLASSES = ["a", "b", "c"]
PLACES = np.random.default_rng(0).permutation(25)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    classes = np.repeat(["a", "b", "c"], [8, 5, 12])
    ids = [f"id{i:02d}" for i in range(len(classes))]
    path = tmp_path / "labels.parquet"
    write_rows(path, LABEL_COLUMNS, {"id": ids, "label": classes, "position": PLACES})
    return path


def draw(labels: Path, **changes: Any) -> pd.DataFrame:
    output = labels.with_name("split.parquet")
    options = {"dataset": "d", "domain": "x", "role": "target", "per_class": 2}
    options |= {"protocol": "seeded", "unlabelled": None, "classes": CLASSES}
    options |= {"block": "1-3", "seed": 0, **changes}
    write_split(labels=labels, output=output, **options)
    return pd.DataFrame(read_rows(output, SPLIT_COLUMNS))


def labelled(split: pd.DataFrame, trial: int) -> set[str]:
    return set(split["id"][(split["trial"] == trial) & split["label"].notna()])


def test_unlabelled_rows_carry_no_label(labels: Path) -> None:
    split = draw(labels)
    assert (split["label"].isna() == (split["role"] == "unlabelled")).all()


def test_each_class_gives_the_number_asked_for(labels: Path) -> None:
    first = draw(labels).query("trial == 1")
    assert first["label"].value_counts().to_dict() == {"a": 2, "b": 2, "c": 2}
    assert len(first) == 25


def test_fewer_labels_are_among_more_labels(labels: Path) -> None:
    few, many = draw(labels, per_class=1), draw(labels, per_class=3)
    for trial in (1, 2, 3):
        assert labelled(few, trial) < labelled(many, trial)


def test_a_trial_does_not_depend_on_its_block(labels: Path) -> None:
    together, alone = draw(labels), draw(labels, block="2-2")
    assert labelled(together, 2) == labelled(alone, 2)


def test_trials_seeds_and_roles_differ(labels: Path) -> None:
    split = draw(labels)
    assert labelled(split, 1) != labelled(split, 2)
    assert labelled(split, 1) != labelled(draw(labels, seed=1), 1)
    assert labelled(split, 1) != labelled(draw(labels, role="source"), 1)


def test_a_source_class_that_is_too_small_gives_all_it_has(labels: Path) -> None:
    split = draw(labels, role="source", per_class=10)
    assert set(split["role"]) == {"source"}
    assert sum(split["trial"] == 1) == 8 + 5 + 10


@pytest.mark.parametrize("protocol", ["seeded", "published"])
def test_a_number_of_unlabelled_samples_is_kept_per_class(
    labels: Path, protocol: str
) -> None:
    split = draw(labels, protocol=protocol, unlabelled=3)
    every = read_rows(labels, LABEL_COLUMNS)
    truth = split["id"].map(dict(zip(every["id"], every["label"], strict=True)))
    rest = split[split["role"] == "unlabelled"]
    assert rest.groupby(["trial", truth]).size().tolist() == [3] * 9


@pytest.mark.parametrize("protocol", ["seeded", "published"])
def test_more_labels_leave_the_same_unlabelled_samples(
    labels: Path, protocol: str
) -> None:
    few, many = (
        draw(labels, protocol=protocol, unlabelled=2, per_class=number)
        for number in (1, 3)
    )
    rests = [
        split[split["role"] == "unlabelled"]["id"].tolist() for split in (few, many)
    ]
    assert rests[0] == rests[1]


def test_published_splits_are_those_of_the_rule_in_published_order(
    labels: Path,
) -> None:
    every = read_rows(labels, LABEL_COLUMNS)
    order = np.argsort(every["position"])
    in_order = every["label"][order].tolist()
    split = draw(labels, protocol="published")
    for trial in (1, 2, 3):
        places, rest = draw_published(in_order, 2, trial, class_order=CLASSES)
        assert labelled(split, trial) == set(every["id"][order[places]])
        assert (split["trial"] == trial).sum() == len(places) + len(rest)
