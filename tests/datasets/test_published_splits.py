"""The published splits: drawn again, compared with what the authors stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cdspp.core.errors import DataError
from cdspp.core.files import read_json
from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.published import (
    check_published_splits,
    draw_published,
    published_labels,
)

RESOURCES = Path(__file__).parents[2] / "resources"
CATALOGUE = load_catalogue(RESOURCES / "datasets.yaml")
SHIPPED = read_json(RESOURCES / "published-splits.json")
# How many masks the authors stored of a data set.
STORED = {"office-caltech-10": 80, "office-home": 80, "nus-imagenet": 20, "mrc": 50}


def domain_as(role: str, domain: str, dataset: str) -> dict[str, Any]:
    """Return what a check of a domain in its published order is given."""
    entry = CATALOGUE[dataset]
    return {
        "where": f"data set {dataset}, domain {domain} as {role}",
        "labels": np.array(published_labels(entry, domain)),
        "class_order": entry["classes"],
        "stored": SHIPPED[dataset][role][domain],
    }


AMAZON = domain_as("source", "amazon", "office-caltech-10")
TAGS = domain_as("source", "tags", "nus-imagenet")


# That they are the digests of the stored masks is tested where they are generated.
@pytest.mark.parametrize("dataset", STORED)
def test_class_sizes_alone_give_the_shipped_digests(dataset: str) -> None:
    entry, roles = CATALOGUE[dataset], SHIPPED[dataset]
    places = [(role, domain) for role in roles for domain in roles[role]]
    assert 10 * len(places) == STORED[dataset]
    for role, domain in places:
        assert roles[role][domain]["per_class"] == entry["protocol"][role]
        check_published_splits(**domain_as(role, domain, dataset))


LABELS, CLASSES = AMAZON["labels"], AMAZON["class_order"]
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "blocks swapped": (AMAZON, {"labels": LABELS[np.r_[92:174, :92, 174:958]]}),
    "one changed": (AMAZON, {"labels": np.r_[LABELS[:500], LABELS[:1], LABELS[501:]]}),
    "classes in another order": (AMAZON, {"class_order": [*CLASSES[1:], CLASSES[0]]}),
    "other sizes": (TAGS, {"labels": np.r_[TAGS["labels"][:-1], TAGS["labels"][:1]]}),
}


@pytest.mark.parametrize(("copy", "change"), CHANGES.values(), ids=CHANGES.keys())
def test_a_copy_that_is_ordered_or_labelled_differently_is_refused(
    copy: dict[str, Any], change: dict[str, Any]
) -> None:
    message = (
        f"{copy['where']}: .* trials drawn from its {len(copy['labels'])} .*order .*"
        "cannot be paired"
    )
    with pytest.raises(DataError, match=message):
        check_published_splits(**{**copy, **change})


def test_a_copy_without_one_sample_is_refused() -> None:
    with pytest.raises(DataError, match="957 samples are not the publ.* of 958"):
        check_published_splits(**{**AMAZON, "labels": LABELS[:-1]})


def test_of_classes_that_are_labelled_as_a_whole_the_order_does_not_matter() -> None:
    check_published_splits(**{**TAGS, "labels": TAGS["labels"][::-1]})


def test_unlabelled_texts_are_those_with_the_largest_of_the_same_numbers() -> None:
    entry = CATALOGUE["mrc"]
    labels = np.array(published_labels(entry, "sp"))
    stream = np.random.RandomState(4)
    smallest, largest = [], []
    for name in entry["classes"]:
        rows = np.flatnonzero(labels == name)
        numbers = stream.random_sample(len(rows))
        ranked = np.sort(numbers)
        smallest += rows[numbers <= ranked[9]].tolist()
        largest += rows[numbers >= ranked[-500]].tolist()
    labelled, unlabelled = draw_published(
        labels, 10, 4, class_order=entry["classes"], unlabelled=500
    )
    assert len(unlabelled) == 3000
    assert labelled.tolist() == sorted(smallest)
    assert unlabelled.tolist() == sorted(largest)


def test_a_short_class_gives_all_it_has_left_and_never_a_labelled_sample() -> None:
    drawn = draw_published(["a"] * 12, 10, 1, class_order=["a"], unlabelled=500)
    assert [len(rows) for rows in drawn] == [10, 2]
    assert sorted(np.concatenate(drawn)) == list(range(12))
