"""The extractor of published features: rows in index order, or a clear error."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.published_files import (
    CLASSES,
    LABELS,
    N_ROWS,
    TRIPLET_ROWS,
    mat_storage,
    write_mat,
    write_triplets,
    write_words,
)

from cdspp.core.errors import ConfigError, DataError
from cdspp.features.published import Published

SURF = "Office-Caltech SURF"
SHUFFLED = [4, 0, 5, 2, 1, 3]


def in_order(positions: list[int]) -> list[str]:
    """Return the classes of the samples at these places."""
    return [LABELS[position] for position in positions]


def test_rows_come_in_the_order_of_the_positions(tmp_path: Path) -> None:
    _, storage, expected = write_mat(tmp_path, SURF)
    labels = in_order(SHUFFLED)
    X = Published(name="surf").read(tmp_path, storage, CLASSES, labels, SHUFFLED)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, expected[SHUFFLED])


def test_sparse_rows_stay_sparse_in_the_order_of_the_positions(tmp_path: Path) -> None:
    _, storage = write_words(tmp_path)
    labels = in_order(SHUFFLED)
    X = Published(name="words").read(tmp_path, storage, CLASSES, labels, SHUFFLED)
    assert (X.format, X.dtype) == ("csr", np.float32)
    np.testing.assert_array_equal(X.toarray(), np.array(TRIPLET_ROWS)[SHUFFLED])


def test_some_rows_can_be_taken_of_a_file_of_known_length(tmp_path: Path) -> None:
    _, storage = write_triplets(tmp_path)
    places = [3, 1]
    X = Published(name="words").read(
        tmp_path, storage, CLASSES, in_order(places), places
    )
    np.testing.assert_array_equal(X.toarray(), np.array(TRIPLET_ROWS)[places])


def test_a_file_with_more_rows_than_samples_is_refused(tmp_path: Path) -> None:
    _, storage, _ = write_mat(tmp_path, SURF)
    places = list(range(N_ROWS - 1))
    with pytest.raises(DataError, match="published.mat: 6 rows for 5 samples; .*order"):
        Published(name="surf").read(tmp_path, storage, CLASSES, LABELS[:-1], places)


def test_a_file_with_fewer_rows_than_samples_is_refused(tmp_path: Path) -> None:
    _, storage, _ = write_mat(tmp_path, SURF)
    places, labels = list(range(N_ROWS + 1)), [*LABELS, "plum"]
    with pytest.raises(DataError, match="6 rows for 7 samples"):
        Published(name="surf").read(tmp_path, storage, CLASSES, labels, places)


@pytest.mark.parametrize(
    ("labels", "first", "runs"),
    [
        (
            ["pear", "pear", "pear", "apple", "apple", "plum"],
            "4 of 6 labels differ, the first in row 1: apple, expected pear",
            "Found 2 x apple, 3 x pear, 1 x plum; "
            "expected 3 x pear, 2 x apple, 1 x plum",
        ),
        (
            ["apple", "apple", "pear", "plum", "pear", "plum"],
            "1 of 6 labels differ, the first in row 4: pear, expected plum",
            "expected 2 x apple, 1 x pear, 1 x plum, 1 x pear, 1 x plum",
        ),
    ],
    ids=["blocks swapped", "one label changed"],
)
def test_a_copy_ordered_or_labelled_differently_is_refused(
    labels: list[str], first: str, runs: str, tmp_path: Path
) -> None:
    _, storage, _ = write_mat(tmp_path, SURF)
    given = [labels[place] for place in SHUFFLED]
    with pytest.raises(DataError) as caught:
        Published(name="surf").read(tmp_path, storage, CLASSES, given, SHUFFLED)
    message = str(caught.value)
    assert first in message
    assert runs in message
    assert "ordered or labelled differently" in message
    assert "cannot be paired with the published trials" in message


def test_many_runs_of_labels_are_cut_short(tmp_path: Path) -> None:
    lines = [f"{CLASSES[number % 2]} 1:1" for number in range(12)]
    _, storage = write_words(tmp_path, lines)
    with pytest.raises(DataError, match="Found 1 x apple, .* and 4 more runs; exp"):
        Published(name="w").read(tmp_path, storage, CLASSES, ["plum"] * 12, range(12))


def test_the_record_tells_the_storage_and_the_digest_of_the_file(
    tmp_path: Path,
) -> None:
    path, storage, _ = write_mat(tmp_path, SURF)
    record = Published(name="surf").record(tmp_path, storage)
    assert record["storage"] == storage
    assert record["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert str(tmp_path) not in str(record)


def test_the_versions_of_what_reads_are_recorded() -> None:
    assert set(Published(name="surf").versions()) == {"numpy", "scipy"}


@pytest.mark.parametrize("options", [{}, {"name": ""}, {"name": 3}])
def test_the_name_of_a_view_is_needed(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="name must be the name of a published view"):
        Published(**options)


SIZES = [12, 21, 12, 13, 10, 24, 22, 12, 8, 23]
OFFICE = ["backpack", "bike", "calculator", "headphones", "keyboard"]
OFFICE += ["laptop", "monitor", "mouse", "mug", "projector"]


def test_the_published_dslr_features_are_the_samples_of_the_index(
    mirror_folder: Path,
) -> None:
    storage = mat_storage({"X": "fts", "labels": "labels", "label_base": 1}, width=800)
    storage["file"] = "surf/dslr.mat"
    labels = [c for c, n in zip(OFFICE, SIZES, strict=True) for _ in range(n)]
    folder = mirror_folder / "office-caltech-10"
    extractor = Published(name="surf")
    X = extractor.read(folder, storage, OFFICE, labels, range(157))
    back = list(range(156, -1, -1))
    turned = extractor.read(folder, storage, OFFICE, labels[::-1], back)
    np.testing.assert_array_equal(turned[::-1], X)
    with pytest.raises(DataError, match="the first in row 1: backpack, expected proj"):
        extractor.read(folder, storage, OFFICE, labels[::-1], range(157))
