"""Known values of Student's t on values and on paired differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cdspp.analysis.verdicts import gain_of, mean_interval, paired_gain

SEEDS = range(4)


def two_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    both = rng.uniform(0.5, 0.9, int(rng.integers(3, 12)))
    return both + rng.normal(0.01, 0.03, both.size), both


def test_a_gain_worked_by_hand() -> None:
    # Differences 1, 2, 3, 4, 5: mean 3, variance 2.5, standard error sqrt(0.5). The
    # tables give t = 2.776 for 95 % and 2.132 for 90 % with four degrees of freedom.
    gain = paired_gain([3, 5, 7, 9, 11], [2, 3, 4, 5, 6])
    assert (gain.gain, gain.trials, gain.losses) == (3.0, 5, 0)
    assert gain.error == pytest.approx(math.sqrt(0.5))
    half = 2.776445 * math.sqrt(0.5)
    assert (gain.low, gain.high) == pytest.approx((3 - half, 3 + half), abs=1e-6)
    half = 2.131847 * math.sqrt(0.5)
    assert gain.interval(0.9) == pytest.approx((3 - half, 3 + half), abs=1e-6)


def test_a_p_value_worked_by_hand() -> None:
    # Two trials have one degree of freedom: Cauchy, 1/2 - arctan(t) / pi above t.
    gain = gain_of([0.1, 0.3])
    assert gain.error == pytest.approx(0.1)
    assert gain.p_above == pytest.approx(0.5 - math.atan(2) / math.pi)
    assert gain.p_below == pytest.approx(0.5 + math.atan(2) / math.pi)


@pytest.mark.parametrize("seed", SEEDS)
def test_p_values_and_intervals_are_those_of_scipy(seed: int) -> None:
    values, comparator = two_rows(seed)
    gain = paired_gain(values, comparator)
    above = stats.ttest_rel(values, comparator, alternative="greater")
    below = stats.ttest_rel(values, comparator, alternative="less")
    assert gain.p_above == pytest.approx(above.pvalue, rel=1e-9)
    assert gain.p_below == pytest.approx(below.pvalue, rel=1e-9)
    for level in (0.9, 0.95):
        expected = stats.ttest_rel(values, comparator).confidence_interval(level)
        assert gain.interval(level) == pytest.approx(tuple(expected), rel=1e-9)
    assert (gain.low, gain.high) == gain.interval(0.95)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_other_way_round_everything_turns_its_sign(seed: int) -> None:
    values, comparator = two_rows(seed)
    gain, back = paired_gain(values, comparator), paired_gain(comparator, values)
    assert back.gain == pytest.approx(-gain.gain)
    assert (back.low, back.high) == pytest.approx((-gain.high, -gain.low))
    assert back.p_above == pytest.approx(gain.p_below)
    assert gain.losses + back.losses == gain.trials


def test_a_trial_that_either_row_lacks_is_left_out() -> None:
    nan, inf = math.nan, math.inf
    gain = paired_gain([0.5, nan, 0.7, 0.6, inf], [0.4, 0.4, nan, 0.4, 0.4])
    assert gain == paired_gain([0.5, 0.6], [0.4, 0.4])
    assert gain.trials == 2


def test_losses_are_the_trials_that_the_rival_wins() -> None:
    third = 0.1 + 0.2  # not 0.3, but for rounding
    assert paired_gain([0.5, 0.4, 0.3], [0.4, 0.5, third]).losses == 1


@pytest.mark.parametrize("trials", [0, 1])
def test_fewer_than_two_trials_say_nothing(trials: int) -> None:
    gain = gain_of([0.2] * trials)
    assert gain.trials == trials
    assert math.isnan(gain.gain) == (trials == 0)
    for number in (gain.error, gain.low, gain.high, gain.p_above, gain.p_below):
        assert math.isnan(number)
    assert math.isnan(gain.quantile(0.9))


@pytest.mark.parametrize(
    ("difference", "above", "below"), [(0.1, 0, 1), (0.0, 1, 1), (-0.1, 1, 0)]
)
def test_equal_differences_leave_no_doubt(
    difference: float, above: float, below: float
) -> None:
    gain = paired_gain(np.full(5, 0.3) + difference, np.full(5, 0.3))
    assert gain.error == pytest.approx(0, abs=1e-15)
    assert (gain.low, gain.high) == pytest.approx((difference, difference))
    assert (gain.p_above, gain.p_below) == (above, below)


def test_the_interval_of_a_mean_is_that_of_the_t_distribution() -> None:
    values = [0.61, 0.64, 0.58, math.nan, 0.66]
    expected = stats.ttest_1samp(values, 0, nan_policy="omit").confidence_interval(0.9)
    assert mean_interval(values, 0.9) == pytest.approx(tuple(expected))
    assert all(math.isnan(end) for end in mean_interval([0.6]))
    assert mean_interval([0.9, 1.0, 1.0])[1] == 1.0


def test_rows_that_never_tell_rivals_apart_resolve_no_more_than_one_of_them() -> None:
    gain = gain_of([0.0] * 15, resolution=1 / 30)
    assert gain.error == 1 / 30
    assert gain.low < -0.07
    assert gain.high > 0.07
    assert gain.p_above == gain.p_below == 0.5
    wide = gain_of([0.1, -0.1] * 4, resolution=1 / 30)
    assert wide == gain_of([0.1, -0.1] * 4)
    # A failed trial stays a failed one, however fine the rows are.
    assert np.isnan(gain_of([], resolution=0.1).gain)
