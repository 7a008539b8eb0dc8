"""Known values of intervals, gains and the paired test."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from cdspp.analysis.resampling import (
    block_interval,
    bootstrap_interval,
    paired_gain,
    paired_test,
)

NAN = float("nan")


def against_zero(*differences: float) -> float:
    """Test a row with these differences from its rival."""
    return paired_test(differences, np.zeros(len(differences)))


def test_the_bootstrap_interval_of_two_values_ends_at_them() -> None:
    # Half of all resamples of (0, 1) mix both; a quarter each are (0, 0) and (1, 1).
    assert bootstrap_interval([0.0, 1.0]) == (0.0, 1.0)


def test_the_bootstrap_interval_is_near_the_normal_one_for_many_trials() -> None:
    values = np.random.default_rng(1).normal(0.8, 0.05, size=400)
    low, high = bootstrap_interval(values)
    half = 1.96 * values.std(ddof=1) / math.sqrt(400)
    assert low == pytest.approx(values.mean() - half, abs=3e-4)
    assert high == pytest.approx(values.mean() + half, abs=3e-4)


def test_the_bootstrap_interval_of_ten_trials_is_that_of_scipy() -> None:
    values = np.random.default_rng(5).normal(0.8, 0.05, size=10)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", random_state=1
    ).confidence_interval
    assert bootstrap_interval(values) == pytest.approx(tuple(theirs), abs=1.5e-3)


def test_the_bootstrap_interval_is_the_same_each_time_and_moves_with_the_seed() -> None:
    values = [0.1, 0.4, 0.35, 0.8, 0.7]
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)
    wide, narrow = bootstrap_interval(values), bootstrap_interval(values, level=0.5)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_single_trial_has_no_interval() -> None:
    assert all(math.isnan(end) for end in bootstrap_interval([0.5]))


def test_two_blocks_are_drawn_whole_and_the_larger_one_weighs_more() -> None:
    # Resamples of the blocks (0, 0) and (1): a quarter is 0, half 1/3, a quarter 1.
    blocks = [[0.0, 0.0], [1.0]]
    assert block_interval(blocks, level=0.95) == (0.0, 1.0)
    assert block_interval(blocks, level=0.4) == pytest.approx((1 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("level", "ends"), [(0.95, (0, 6)), (0.9, (1, 5)), (0.6, (2, 4)), (0.2, (3, 3))]
)
def test_the_means_of_three_blocks_have_the_trinomial_distribution(
    level: float, ends: tuple[float, float]
) -> None:
    # Means 0 to 6 of three draws from 0, 3, 6: in 1, 3, 6, 7, 6, 3, 1 of 27 cases.
    assert block_interval([[0.0], [3.0], [6.0]], level=level) == pytest.approx(ends)


def test_more_values_in_every_block_are_no_more_blocks() -> None:
    few = block_interval([[0.1], [0.4], [0.2]])
    many = block_interval([[0.1] * 50, [0.4] * 50, [0.2] * 50])
    assert many == pytest.approx(few)
    pooled = bootstrap_interval([0.1] * 50 + [0.4] * 50 + [0.2] * 50)
    assert pooled[1] - pooled[0] < (few[1] - few[0]) / 4


@pytest.mark.parametrize("blocks", [[], [[0.1, 0.2, 0.3]], [[0.1], [NAN, NAN], []]])
def test_fewer_than_two_blocks_have_no_interval(blocks: list[list[float]]) -> None:
    assert all(math.isnan(end) for end in block_interval(blocks))


def test_missing_values_of_a_block_are_left_out() -> None:
    assert block_interval([[0.0, NAN, 0.0], [1.0]]) == block_interval([[0, 0], [1]])


def test_a_gain_pairs_equal_trials_and_counts_losses() -> None:
    gain = paired_gain([0.9, 0.8, NAN, 0.7, 0.5], [0.8, 0.9, 0.1, 0.5, 0.5])
    assert gain.gain == pytest.approx(0.2 / 4)
    assert (gain.losses, gain.trials) == (1, 4)


def test_pairing_removes_what_the_trials_share() -> None:
    luck = np.random.default_rng(2).normal(0, 0.2, size=10)
    gain = paired_gain(0.55 + luck, 0.5 + luck)
    assert gain.gain == pytest.approx(0.05)
    assert gain.high - gain.low < 1e-9


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ((1, 2, 3), 2 / 8),  # only +++ and --- reach 6
        ((1, 1, 1, 1), 2 / 16),
        ((3, 1), 2 / 4),
        ((1, 2, -1), 6 / 8),  # sums ±4, ±2, ±2, 0, 0: six are at least 2 away
        ((1, 2, -3), 1),  # the observed sum is zero
        ((0, 0, 0), 1),
        ((0, 5), 1),  # zeros have no sign: +5 and -5 are equally far
        ((0.1, 0.2, -0.3), 1),  # not quite zero in floating point
        ((0.1, 0.2, -0.1), 6 / 8),  # equal sums that differ by rounding
    ],
)
def test_p_is_the_share_of_sign_patterns_as_far_from_zero(
    differences: tuple[float, ...], p: float
) -> None:
    assert against_zero(*differences) == pytest.approx(p)


@pytest.mark.parametrize("n_trials", [5, 10])
def test_p_is_that_of_scipys_permutation_test(n_trials: int) -> None:
    rng = np.random.default_rng(n_trials)
    values, rival = rng.normal(0.81, 0.02, n_trials), rng.normal(0.8, 0.02, n_trials)
    theirs = scipy.stats.permutation_test(
        (values, rival),
        lambda a, b: np.mean(a - b),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    assert paired_test(values, rival) == pytest.approx(theirs.pvalue)
    assert paired_test(rival, values) == pytest.approx(theirs.pvalue)


def test_many_trials_are_tested_by_drawn_patterns_with_the_observed_one() -> None:
    assert against_zero(*[1.0] * 40) == 1 / 10_001
    rng = np.random.default_rng(3)
    difference = rng.normal(0.1, 0.3, size=60)
    z = difference.sum() / math.sqrt((difference**2).sum())
    normal = 2 * scipy.stats.norm.sf(abs(z))
    assert against_zero(*difference) == pytest.approx(normal, abs=0.01)
    assert against_zero(*difference) == against_zero(*difference)


def test_sixteen_trials_are_still_exact() -> None:
    assert against_zero(*range(1, 17)) == 2 / 2**16


def test_p_needs_two_trials_that_both_rows_have() -> None:
    assert paired_test([1, NAN, 2, 3, 4], [0, 5, 0, 0, NAN]) == 0.25
    assert math.isnan(paired_test([1.0, NAN], [0.0, 0.0]))
    assert math.isnan(paired_test([], []))
