"""The published splits: drawn again, compared with what the authors stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cdspp.core.artifacts import read_json
from cdspp.core.errors import DataError
from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.published import published_labels
from cdspp.datasets.published_splits import (
    check_published_splits,
    draw_published,
    masks_digest,
    packed_digest,
)

# Data set: the authors' file, and how many masks it holds.
STORED = {
    "office-caltech-10": ("office10-dataSplits.mat", 80),
    "office-home": ("officeHome-dataSplits.mat", 80),
    "nus-imagenet": ("tag2image-dataSplits.mat", 20),
    "mrc": ("text-dataSplits.mat", 50),
}
VARIABLES = {"source": "sourceDataSplits", "target": "dataSplits"}


@pytest.fixture(scope="module")
def catalogue(repository: Path) -> dict[str, dict[str, Any]]:
    return load_catalogue(repository / "resources" / "datasets.yaml")


@pytest.fixture(scope="module")
def shipped(repository: Path) -> dict[str, Any]:
    return read_json(repository / "resources" / "published-splits.json")


@pytest.fixture(scope="module")
def amazon(catalogue: dict[str, Any], shipped: dict[str, Any]) -> dict[str, Any]:
    """Return what a check of the Amazon photographs as a source is given."""
    entry = catalogue["office-caltech-10"]
    return {
        "dataset": "office-caltech-10",
        "domain": "amazon",
        "role": "source",
        "labels": np.array(published_labels(entry, "amazon")),
        "class_order": entry["classes"],
        "expected": shipped,
    }


@pytest.mark.parametrize("dataset", STORED)
def test_every_stored_mask_is_drawn_again(
    dataset: str, catalogue: dict[str, Any], mirror_folder: Path
) -> None:
    from scipy.io import loadmat

    name, expected_masks = STORED[dataset]
    content, entry = loadmat(mirror_folder / "cdspp-hda" / name), catalogue[dataset]
    masks = 0
    for role, variable in VARIABLES.items():
        for trial, cells in enumerate(content[variable].ravel(), 1):
            for domain, cell in zip(entry["class_sizes"], cells.ravel(), strict=False):
                if not cell.size:
                    continue
                rows, _ = draw_published(
                    published_labels(entry, domain),
                    entry["protocol"][role],
                    trial,
                    class_order=entry["classes"],
                )
                assert np.array_equal(rows, np.flatnonzero(cell)), (role, trial, domain)
                masks += 1
    assert masks == expected_masks


@pytest.mark.parametrize("dataset", STORED)
def test_class_sizes_alone_give_the_shipped_digests(
    dataset: str, catalogue: dict[str, Any], shipped: dict[str, Any]
) -> None:
    entry = catalogue[dataset]
    places = [(r, domain) for r in VARIABLES for domain in shipped[dataset][r]]
    assert 10 * len(places) == STORED[dataset][1]
    for role, domain in places:
        labels = published_labels(entry, domain)
        known = shipped[dataset][role][domain]
        digest = masks_digest(labels, entry["protocol"][role], entry["classes"])
        expected = {"per_class": entry["protocol"][role], "n": len(labels)}
        assert known == {**expected, "sha256": digest}


def test_a_copy_in_the_published_order_passes(amazon: dict[str, Any]) -> None:
    check_published_splits(**amazon)


def swapped_blocks(labels: np.ndarray) -> np.ndarray:
    first, second, rest = np.split(labels, [92, 92 + 82])
    return np.concatenate([second, first, rest])


def swapped_neighbours(labels: np.ndarray) -> np.ndarray:
    places = np.arange(len(labels))
    places[[91, 92]] = 92, 91
    return labels[places]


def one_changed(labels: np.ndarray) -> np.ndarray:
    changed = labels.copy()
    changed[500] = labels[0]
    return changed


REFUSED = (
    "office-caltech-10, domain amazon as source: .* ten trials from 958 .*"
    "order or the labels of this copy differ .* cannot be paired"
)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("labels", swapped_blocks, REFUSED),
        ("labels", swapped_neighbours, REFUSED),
        ("labels", one_changed, REFUSED),
        ("labels", lambda y: y[:-1], "there are 957 samples, and 958 in the published"),
        ("class_order", lambda names: [*names[1:], names[0]], REFUSED),
    ],
)
def test_a_copy_that_is_ordered_or_labelled_differently_is_refused(
    amazon: dict[str, Any], key: str, change: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        check_published_splits(**{**amazon, key: change(amazon[key])})


def test_imagenet_images_sorted_by_class_are_refused(
    catalogue: dict[str, Any], shipped: dict[str, Any]
) -> None:
    entry = catalogue["nus-imagenet"]
    labels = sorted(published_labels(entry, "images"))
    place = {"dataset": "nus-imagenet", "domain": "images", "role": "target"}
    with pytest.raises(DataError, match="cannot be paired"):
        check_published_splits(
            **place, labels=labels, class_order=entry["classes"], expected=shipped
        )


def test_classes_that_are_labelled_as_a_whole_prove_their_sizes_alone(
    catalogue: dict[str, Any], shipped: dict[str, Any]
) -> None:
    entry = catalogue["nus-imagenet"]
    labels = published_labels(entry, "tags")
    place = {"dataset": "nus-imagenet", "domain": "tags", "role": "source"}
    place |= {"class_order": entry["classes"], "expected": shipped}
    check_published_splits(**place, labels=labels[::-1])
    with pytest.raises(DataError, match="cannot be paired"):
        check_published_splits(**place, labels=[*labels[:-1], labels[0]])


def test_a_domain_without_published_splits_is_named_with_those_that_have_them(
    amazon: dict[str, Any],
) -> None:
    other = {"dataset": "mrc", "domain": "fr", "role": "target"}
    with pytest.raises(
        DataError, match="mrc: .*for fr as target, .* source en, fr, gr, it; target sp"
    ):
        check_published_splits(**{**amazon, **other})
    with pytest.raises(DataError, match="digits: .* data sets mrc, nus-imagenet, off"):
        check_published_splits(**{**amazon, "dataset": "digits"})


def test_a_class_that_is_labelled_as_a_whole_takes_nothing_from_the_stream() -> None:
    big = ["big"] * 30
    alone, _ = draw_published(big, 3, 1, class_order=["big"])
    labelled, unlabelled = draw_published(
        ["small"] * 3 + big, 3, 1, class_order=["small", "big"]
    )
    assert labelled.tolist() == [0, 1, 2, *(alone + 3)]
    assert unlabelled.min() == 3


def test_without_a_number_every_other_sample_is_unlabelled() -> None:
    labels = ["b", "a"] * 20
    drawn = draw_published(labels, 3, 2, class_order=["a", "b"])
    assert [len(rows) for rows in drawn] == [6, 34]
    assert sorted(np.concatenate(drawn)) == list(range(40))
    assert all((np.diff(rows) > 0).all() for rows in drawn)


def test_unlabelled_texts_are_those_with_the_largest_of_the_same_numbers(
    catalogue: dict[str, Any],
) -> None:
    entry = catalogue["mrc"]
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


def test_an_unknown_label_is_named() -> None:
    with pytest.raises(DataError, match="expected labels among a, b, got 'c'"):
        draw_published(["a", "c"], 1, 1, class_order=["a", "b"])


def test_the_digest_tells_trials_and_samples_apart() -> None:
    masks = np.eye(3, 9, dtype=bool)
    digests = {packed_digest(m) for m in (masks, masks[::-1], masks[:, ::-1])}
    assert len(digests) == 3
    assert packed_digest(masks.astype(np.uint8)) in digests
