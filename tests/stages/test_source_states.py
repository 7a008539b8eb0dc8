"""The sources that stand in place of the real one: what each keeps and takes away."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cdspp.core.errors import DataError
from cdspp.core.names import CLASS_NOISE, NO_SOURCE, REAL, SIZE_MATCHED
from cdspp.methods.base import SourceDomain
from cdspp.stages.source_states import BRIDGE_STATES, STATES, SourceState, derangement

AXES = (0, "digits", "print_photo", 3)
NAMES = np.array(["ant", "bee", "cat", "dog"], dtype=object)
SIZES = (2, 5, 3, 6)
DRAWN = [name for name in STATES if name not in (REAL, NO_SOURCE)]
OF_SOURCE = [name for name in DRAWN if name != SIZE_MATCHED]
LABELLED = SourceDomain(np.arange(14.0).reshape(7, 2), NAMES[[0, 0, 1, 3, 3, 3, 3]])
OWN_ROWS = ["class-noise", "noise"]
OWN_LABELS = ["swapped-classes", "permuted-labels"]


def real_source() -> SourceDomain:
    """Return a source of classes of several sizes, in no order."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(NAMES, SIZES))
    X = rng.gamma(2.0, size=(len(y), 7)) * rng.uniform(0.1, 10, (len(y), 1))
    return SourceDomain(X, y)


def drawn(name: str, *axes: str | int, spread: float = 1.0) -> SourceDomain:
    source = SourceState(name, spread).of(real_source(), LABELLED, *(axes or AXES))
    assert source is not None
    return source


def rows(source: SourceDomain) -> np.ndarray:
    return np.asarray(source.X)


def labels(source: SourceDomain) -> np.ndarray:
    return np.asarray(source.y)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_a_derangement_leaves_nothing_in_place(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        found = derangement(n, rng)
        assert sorted(found) == list(range(n))
        assert not np.any(found == np.arange(n))


@pytest.mark.parametrize(
    ("bridge", "state", "said"),
    [
        ({"shared_columns": [(0, 1)]}, "shuffled-columns", "at least two columns"),
        (
            {"paired_rows": (np.ones((1, 3)), np.ones((1, 2)))},
            "shuffled-pairs",
            "at least two pairs",
        ),
        ({}, "swapped-classes", "at least two source classes"),
    ],
)
def test_a_state_without_two_parts_to_exchange_is_named(
    bridge: dict[str, Any], state: str, said: str
) -> None:
    source = SourceDomain(np.ones((2, 3)), [0, 0], **bridge)
    labelled = SourceDomain(np.ones((2, 2)), [0, 0])
    with pytest.raises(DataError, match=f"{state} needs {said}.* 1. Leave"):
        SourceState(state).of(source, labelled, 0, "b", "s_t", 1)


def test_every_derangement_of_four_is_equally_likely() -> None:
    every = [p for p in permutations(range(4)) if all(p[i] != i for i in range(4))]
    assert len(every) == 9
    rng = np.random.default_rng(0)
    counts = Counter(tuple(map(int, derangement(4, rng))) for _ in range(9000))
    assert set(counts) == set(every)
    assert stats.chisquare(list(counts.values())).pvalue > 0.01


def test_a_state_of_one_source_leaves_the_others_as_they_are() -> None:
    axes = (0, "digits", "print+sketch_photo", 3)
    both = [real_source(), real_source()]
    for place, domain in enumerate(("print", "sketch")):
        state = SourceState("permuted-labels", domain=domain)
        found = state.of_all(both, LABELLED, axes)
        assert found[1 - place] is both[1 - place]
        assert labels(found[place]).tolist() != labels(both[place]).tolist()
        left = SourceState(NO_SOURCE, domain=domain).of_all(both, LABELLED, axes)
        assert left == [both[1 - place]]
    assert SourceState(NO_SOURCE).of_all(both, LABELLED, axes) == []
    first, second = SourceState("noise").of_all(both, LABELLED, axes)
    assert not np.array_equal(rows(first), rows(second))
    np.testing.assert_array_equal(rows(first), rows(drawn("noise", *axes)))


@pytest.mark.parametrize("name", DRAWN)
def test_equal_axes_give_equal_draws_and_others_do_not(name: str) -> None:
    first, again = drawn(name), drawn(name)
    np.testing.assert_array_equal(rows(first), rows(again))
    np.testing.assert_array_equal(labels(first), labels(again))
    others = [drawn(name, *AXES[:3], trial) for trial in range(4, 9)]
    assert any(
        not np.array_equal(rows(first), rows(other))
        or not np.array_equal(labels(first), labels(other))
        for other in others
    )


@pytest.mark.parametrize("name", OF_SOURCE)
def test_classes_keep_their_sizes_and_rows_their_width(name: str) -> None:
    source = drawn(name)
    assert rows(source).shape == rows(real_source()).shape
    assert set(labels(source)) == set(NAMES)
    if name == "swapped-classes":
        # A class takes the rows, and so the size, of another.
        assert sorted(Counter(labels(source)).values()) == sorted(SIZES)
    else:
        assert Counter(labels(source)) == dict(zip(NAMES, SIZES, strict=True))


def test_a_matched_none_repeats_labelled_rows_to_the_class_sizes_of_the_source() -> (
    None
):
    source = drawn(SIZE_MATCHED)
    # No labelled row of the class cat; bees 5 for 1, ants 2 for 2, dogs 6 for 4.
    assert Counter(labels(source)) == {"ant": 2, "bee": 5, "dog": 6}
    known = dict(zip(map(tuple, rows(LABELLED)), labels(LABELLED), strict=True))
    found = Counter(map(tuple, rows(source)))
    for row, label in zip(rows(source), labels(source), strict=True):
        assert known[tuple(row)] == label
    dogs = [number for row, number in found.items() if known[row] == "dog"]
    assert sorted(dogs) == [1, 1, 2, 2]


def test_a_matched_none_needs_a_class_in_common() -> None:
    strangers = SourceDomain(np.eye(2), np.array(["emu", "fox"], dtype=object))
    with pytest.raises(DataError, match="target row"):
        SourceState(SIZE_MATCHED).of(real_source(), strangers, *AXES)


@pytest.mark.parametrize("name", OWN_ROWS)
def test_noise_keeps_the_labels_in_their_places(name: str) -> None:
    np.testing.assert_array_equal(labels(drawn(name)), labels(real_source()))
    assert not np.any(rows(drawn(name)) == rows(real_source()))


@pytest.mark.parametrize("name", OWN_LABELS)
def test_other_labels_leave_the_rows_as_they_are(name: str) -> None:
    np.testing.assert_array_equal(rows(drawn(name)), rows(real_source()))
    assert not np.array_equal(labels(drawn(name)), labels(real_source()))


def test_swapped_classes_keep_the_rows_of_a_class_together() -> None:
    before, after = labels(real_source()), labels(drawn("swapped-classes"))
    pairs = set(zip(before, after, strict=True))
    assert len(pairs) == len(NAMES)
    assert {new for _, new in pairs} == set(NAMES)
    assert all(old != new for old, new in pairs)


def test_permuted_labels_tear_the_rows_of_a_class_apart() -> None:
    before, after = labels(real_source()), labels(drawn("permuted-labels"))
    assert len(set(zip(before, after, strict=True))) > len(NAMES)


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("absolute", [False, True])
def test_rows_of_class_noise_are_as_long_as_those_they_replace(
    spread: float, absolute: bool
) -> None:
    source = SourceState("class-noise", spread, absolute).of(
        real_source(), LABELLED, *AXES
    )
    assert source is not None
    found, expected = (
        np.linalg.norm(X, axis=1) for X in (rows(source), rows(real_source()))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert absolute == bool((rows(source) >= 0).all())


def test_rows_of_class_noise_lie_around_one_centre_a_class() -> None:
    still = rows(drawn("class-noise", spread=0.0))
    directions = still / np.linalg.norm(still, axis=1)[:, None]
    alike = directions @ directions.T > 1 - 1e-12
    y = labels(real_source())
    np.testing.assert_array_equal(alike, y[:, None] == y)


def test_a_row_of_zeros_is_replaced_by_one() -> None:
    zeros = SourceDomain(np.zeros((2, 3)), [0, 1])
    source = SourceState("class-noise").of(zeros, LABELLED, 0)
    assert source is not None
    np.testing.assert_array_equal(rows(source), np.zeros((2, 3)))


def test_noise_is_half_normal_without_classes() -> None:
    source = SourceDomain(np.zeros((200, 100)), np.arange(200) % 4)
    found = SourceState("noise").of(source, LABELLED, *AXES)
    assert found is not None
    assert stats.kstest(rows(found).ravel(), stats.halfnorm.cdf).pvalue > 0.01
    means = [rows(found)[labels(found) == code].mean(axis=0) for code in range(4)]
    # 50 rows of standard deviation 0.6 a mean; a factor of two is never reached.
    assert np.std(means, axis=0).mean() < 2 * 0.6 / 50**0.5


@pytest.mark.parametrize("name", STATES)
def test_no_state_changes_the_real_source(name: str) -> None:
    source, untouched = real_source(), real_source()
    for absolute in {False, name == CLASS_NOISE}:
        for _ in range(2):
            found = SourceState(name, absolute=absolute).of(source, LABELLED, *AXES)
            if found is not None and found is not source:
                assert found.X is not source.X or found.y is not source.y
    np.testing.assert_array_equal(rows(source), rows(untouched))
    np.testing.assert_array_equal(labels(source), labels(untouched))


def bridged() -> SourceDomain:
    rng = np.random.default_rng(0)
    return SourceDomain(
        rng.normal(size=(8, 3)),
        np.arange(8) % 2,
        shared_columns=[(0, 4), (2, 1), (1, 3)],
        paired_rows=(rng.normal(size=(6, 3)), rng.normal(size=(6, 5))),
    )


OWN = SourceDomain(np.arange(20.0).reshape(4, 5), np.array([0, 1, 0, 1]))


@pytest.mark.parametrize("name", BRIDGE_STATES)
def test_a_shuffled_bridge_leaves_no_partner_in_its_place(name: str) -> None:
    source = bridged()
    found = SourceState(name).of(source, OWN, 1, "b", "t", 2)
    assert found.X is source.X
    assert found.y is source.y
    columns = name == "shuffled-columns"
    assert (found.shared_columns == source.shared_columns) is not columns
    same = np.all(found.paired_rows[1] == source.paired_rows[1], axis=1)
    assert same.tolist() == [columns] * 6
    ours, theirs = zip(*found.shared_columns, strict=True)
    assert ours == (0, 2, 1)
    assert sorted(theirs) == [1, 3, 4]
    for (_, before), after in zip(source.shared_columns, theirs, strict=True):
        assert (before == after) is not columns
    rows = [row.tobytes() for row in found.paired_rows[1]]
    assert sorted(rows) == sorted(row.tobytes() for row in source.paired_rows[1])


@pytest.mark.parametrize("name", ["none", "none-matched"])
def test_without_a_source_the_target_shares_with_itself(name: str) -> None:
    source = bridged()
    found = SourceState(name).of(source, OWN, 1, "b", "t", 2)
    assert found.X.shape[1] == 5
    assert found.shared_columns == [(4, 4), (1, 1), (3, 3)]
    for part in found.paired_rows:
        np.testing.assert_array_equal(part, source.paired_rows[1])


@pytest.mark.parametrize("name", ["real", "permuted-labels", "noise"])
def test_other_states_leave_the_bridge_as_it_is(name: str) -> None:
    source = bridged()
    found = SourceState(name).of(source, OWN, 1, "b", "t", 2)
    assert found.shared_columns == source.shared_columns
    assert found.paired_rows is source.paired_rows
