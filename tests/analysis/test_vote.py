"""The vote on planted arrays: weights, estimates by rows, the gain of the source."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from cdspp.analysis import vote
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.vote import (
    accuracy,
    bounds_of,
    class_shares,
    correctness,
    held_out_votes,
    mean_accuracy,
    of_the_rest,
    row_means,
    sharers,
    shrunk_gains,
    source_gain,
    vote_codes,
    weights,
    weights_of_others,
)

CODES = np.arange(12) % 3


def predictions(rate: float, seed: int, codes: np.ndarray = CODES) -> np.ndarray:
    """Return labels of four repeats, right at a rate; half of the rows are held out."""
    rng = np.random.default_rng(seed)
    wrong = (codes + rng.integers(1, 3, (4, len(codes)))) % 3
    found = np.where(rng.random((4, len(codes))) < rate, codes, wrong)
    found[::2, ::2] = found[1::2, 1::2] = -1
    return found


@pytest.fixture
def predicted() -> dict[str, np.ndarray]:
    return {"good": predictions(0.9, 0), "poor": predictions(0.5, 1)}


def correct_of(predicted: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: correctness(each, CODES) for name, each in predicted.items()}


def test_gains_shrink_by_ten_pseudo_rows(predicted: dict[str, np.ndarray]) -> None:
    correct = correct_of(predicted)
    d = row_means(correct["good"]) - row_means(correct["poor"])
    v = (12 * np.var(d) + 10 * 0.2) / 22
    expected = d.mean() * 0.1**2 / (0.1**2 + 2 * v / 12)
    found = shrunk_gains(correct, "poor")
    assert found["good"] == pytest.approx(expected)
    assert found["poor"] == 0.0
    w = weights(found)
    assert w["good"] / w["poor"] == pytest.approx(np.exp(expected / 0.07))


def test_the_weights_of_a_row_do_not_depend_on_its_own_label(
    predicted: dict[str, np.ndarray],
) -> None:
    sharing = dict.fromkeys(predicted, 1)
    correct = correct_of(predicted)
    by_row = weights_of_others(correct, "poor", sharing)
    changed = {name: each.copy() for name, each in correct.items()}
    changed["good"][:, 5] = np.where(np.isnan(changed["good"][:, 5]), np.nan, 0.0)
    again = weights_of_others(changed, "poor", sharing)
    np.testing.assert_allclose(by_row[5], again[5])
    assert (abs(by_row - again).max(axis=1) > 0).sum() >= 10
    kept = {name: np.delete(each, 5, axis=1) for name, each in correct.items()}
    np.testing.assert_allclose(
        by_row[5], [*weights(shrunk_gains(kept, "poor")).values()]
    )


def test_a_duplicated_candidate_changes_nothing(
    predicted: dict[str, np.ndarray],
) -> None:
    twice = {**predicted, "copy": predicted["poor"].copy()}
    votes = []
    for each in (predicted, twice):
        correct = correct_of(each)
        sharing = sharers({name: [part] for name, part in each.items()})
        w = np.array([*weights(shrunk_gains(correct, "good"), sharing).values()])
        rows = np.array([part[1] for part in each.values()])
        by_row = weights_of_others(correct, "good", sharing)
        votes.append((*vote_codes(rows, w, 3), held_out_votes(each, by_row, 3)))
    for one, other in zip(*votes, strict=True):
        np.testing.assert_allclose(one, other)


def test_a_row_gets_the_class_with_the_most_weight() -> None:
    rows = np.array([[0, 1, 2, -1], [1, 1, 0, -1], [1, 0, 0, -1]])
    codes, shares = vote_codes(rows, np.array([0.5, 0.3, 0.2]), 3)
    assert codes.tolist() == [0, 1, 0, -1]  # a tie goes to the first class
    np.testing.assert_allclose(shares[1], [0.2, 0.8, 0.0])
    by_row = np.array([[0.1, 0.6, 0.3], *[[0.8, 0.1, 0.1]] * 3])
    assert vote_codes(rows, by_row, 3)[0].tolist() == [1, 1, 2, -1]


def test_an_accuracy_has_the_class_shares_expected_and_an_interval_inside_bounds() -> (
    None
):
    correct = np.array([1.0, 1, 1, 1, 0.5, 0.5, np.nan, 0])
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    shares = np.array([0.8, 0.2, 0.0])
    assert mean_accuracy(correct, codes, shares) == pytest.approx(0.8 + 0.2 * 0.5)
    n = 1 / (0.8**2 / 4 + 0.2**2 / 2) / 2  # fits of hold-outs share rows
    found = accuracy(correct, codes, shares)
    assert found == pytest.approx(
        beta(0.9 * n + 0.5, 0.1 * n + 0.5).ppf([0.5, 0.1, 0.9])
    )
    few, many = (accuracy(np.ones(n), np.zeros(n, int), np.ones(1)) for n in (3, 30))
    assert few.low < many.low < many.value < many.high < 1
    # A class that was never tested is left out; nothing tested is no number.
    untested = np.where(codes == 2, np.nan, correct)
    assert mean_accuracy(untested, codes, np.ones(3)) == pytest.approx(0.75)
    assert np.isnan(accuracy(np.full(8, np.nan), codes, np.ones(3)).value)


def test_class_shares_are_those_of_the_votes_labels() -> None:
    found = class_shares(np.array([0, 0, 0, 2]), np.array([0, 1, 2]), 3)
    assert found.tolist() == [0.75, 0.0, 0.25]
    none = class_shares(np.empty(0, int), np.array([0, 1, 1, 2]), 3)
    assert none.tolist() == [0.25, 0.5, 0.25]


def gain(differing: int, known: int, right: int, rate: float) -> vote.SourceGain:
    """Return the gain on 100 rows, of which `known` differing ones have a label."""
    first, second, truth = np.zeros(100, int), np.zeros(100, int), np.full(100, -1)
    second[:differing] = 1
    truth[:known] = 1
    truth[:right] = 0
    codes = np.zeros(40, int)
    with_source = np.zeros((1, 40), int)
    without = np.where(np.arange(40) < 40 * rate, 1, 0)[None]
    held_out = with_source, without
    return source_gain((first, second), truth, held_out, codes, np.ones(1))


def test_the_gain_of_the_source_is_bounded_by_the_rows_that_differ() -> None:
    found = gain(10, 0, 0, 0.5)
    assert 0 < found.low < found.gain <= found.high <= 0.1
    assert (found.differing, found.verdict) == (0.1, Transfer.POSITIVE)
    nothing_known = gain(10, 0, 0, 0.0)
    assert nothing_known.gain == 0
    assert -0.1 <= nothing_known.low < -0.05
    assert nothing_known.verdict == Transfer.INCONCLUSIVE
    assert gain(1, 0, 0, 0.5).verdict == Transfer.NO_EFFECT
    assert gain(0, 0, 0, 0.5)[:4] == (0, 0, 0, 0)


def test_labels_of_all_differing_rows_make_the_gain_exact() -> None:
    assert gain(6, 6, 3, 0.5) == (0.0, 0.0, 0.0, 0.06, 0.0)
    assert gain(6, 6, 3, 0.5).verdict == Transfer.NO_EFFECT
    worse = gain(10, 10, 1, 0.5)
    assert worse[:3] == pytest.approx((-0.08, -0.08, -0.08))
    assert worse.verdict == Transfer.NEGATIVE
    some = gain(10, 6, 6, 0.0)
    assert 0.02 <= some.low < some.gain == pytest.approx(0.06)
    assert some.high <= 0.1


def test_known_labels_bound_the_accuracy_and_leave_that_of_the_other_rows() -> None:
    known = np.array([True] * 10 + [False] * 10)
    bounds = bounds_of(known, 100)
    assert bounds == (0.1, 0.9)
    correct, codes, shares = np.ones(12), np.zeros(12, int), np.ones(1)
    free, bound = (accuracy(correct, codes, shares, each) for each in ((0, 1), bounds))
    assert bound.low < free.low < 0.9
    assert bound.value < bound.high <= 0.9 < free.value
    whole = vote.Estimate(0.8, 0.7, 0.9)
    assert of_the_rest(whole, known, 100) == pytest.approx((0.875, 0.75, 1.0))
    assert of_the_rest(whole, known[:0], 100) == pytest.approx(whole)
