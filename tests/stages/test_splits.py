"""Seeded splits: reproducible, nested, and without labels of test samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cdspp.core.artifacts import LABEL_COLUMNS, SPLIT_COLUMNS, read_rows, write_rows
from cdspp.core.errors import DataError
from cdspp.datasets.published_splits import draw_published
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


def draw(labels: Path, **changes: Any) -> dict[str, np.ndarray]:
    output = labels.with_name("split.parquet")
    options = {"dataset": "d", "domain": "x", "role": "target", "per_class": 2}
    options |= {"protocol": "seeded", "unlabelled": None, "classes": CLASSES}
    options |= {"block": "1-3", "seed": 0, **changes}
    write_split(labels=labels, output=output, **options)
    return read_rows(output, SPLIT_COLUMNS)


def labelled(split: dict[str, np.ndarray], trial: int) -> set[str]:
    given = (split["trial"] == trial) & np.array(
        [label is not None for label in split["label"]]
    )
    return set(split["id"][given])


def test_unlabelled_rows_carry_no_label(labels: Path) -> None:
    split = draw(labels)
    for role, label in zip(split["role"], split["label"], strict=True):
        assert (label is None) == (role == "unlabelled")


def test_each_class_gives_the_number_asked_for(labels: Path) -> None:
    split = draw(labels)
    first = split["trial"] == 1
    names, counts = np.unique(
        [label for label in split["label"][first] if label], return_counts=True
    )
    assert names.tolist() == ["a", "b", "c"]
    assert counts.tolist() == [2, 2, 2]
    assert first.sum() == 25


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


def test_a_target_class_without_test_samples_is_refused(labels: Path) -> None:
    with pytest.raises(
        DataError, match=r"5 labelled .* leave no test sample in b \(5\)"
    ):
        draw(labels, per_class=5)


@pytest.mark.parametrize("protocol", ["seeded", "published"])
def test_a_number_of_unlabelled_samples_is_kept_per_class(
    labels: Path, protocol: str
) -> None:
    split = draw(labels, protocol=protocol, unlabelled=3)
    every = read_rows(labels, LABEL_COLUMNS)
    truth = dict(zip(every["id"], every["label"], strict=True))
    for trial in (1, 2, 3):
        rest = (split["trial"] == trial) & (split["role"] == "unlabelled")
        names = [truth[i] for i in split["id"][rest]]
        assert sorted(names) == ["a"] * 3 + ["b"] * 3 + ["c"] * 3


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


def test_a_published_split_has_no_other_seed_and_the_same_rows_for_both_roles(
    labels: Path,
) -> None:
    split = draw(labels, protocol="published")
    again = draw(labels, protocol="published", seed=5)
    source = draw(labels, protocol="published", role="source")
    assert labelled(split, 2) == labelled(again, 2) == labelled(source, 2)
