"""Standard errors over trials and target rows: by hand, in simulation, at the edges."""

from __future__ import annotations

import numpy as np
import pytest

from cdspp.analysis.verdicts import PairedGain, Stratum, by_class, gain_of, two_way_gain

NAN = float("nan")


def gain(values: np.ndarray | list[list[float]]) -> PairedGain:
    return two_way_gain([Stratum(1.0, np.asarray(values, dtype=float))])


def simulated(
    rng: np.random.Generator, trials: int, rows: int, missing: float = 0.1
) -> np.ndarray:
    """Return differences that trials, rows and both together move around zero."""
    values = (
        0.03 * rng.standard_normal((trials, 1))
        + 0.3 * rng.standard_normal((1, rows))
        + 0.3 * rng.standard_normal((trials, rows))
    )
    values[rng.random(values.shape) < missing] = NAN
    return values


def test_a_gain_worked_by_hand() -> None:
    # Trial means 0 and 1, row means 1, 0 and 0.5, mean 0.5.
    found = gain([[1.0, -1.0, 0.0], [1.0, 1.0, 1.0]])
    assert found.gain == pytest.approx(0.5)
    assert (found.trials, found.losses) == (2, 0)
    of_trials = 0.5 / 2
    of_rows = 0.25 / 3
    # Residuals 0.5, -0.5, 0 and the same turned round: squares sum to 1, two are free.
    residual = 1.0 / 2 / 6
    variance = max(of_trials + of_rows - residual, of_trials, of_rows)
    assert found.error == pytest.approx(max(variance, (1 / 3) ** 2 / 2) ** 0.5)


def test_intervals_cover_other_rows_where_those_over_trials_do_not() -> None:
    rng = np.random.default_rng(0)
    covered = np.zeros(2)
    for _ in range(300):
        values = simulated(rng, 10, 60)
        for place, found in enumerate((gain(values), gain_of(np.nanmean(values, 1)))):
            covered[place] += found.low < 0 < found.high
    crossed, plain = covered / 300
    # Three standard errors of 300 draws are four points.
    assert crossed > 0.91
    assert plain < 0.8


def test_no_error_is_below_what_a_test_row_changes() -> None:
    found = gain(np.zeros((4, 10)))
    assert found.error == pytest.approx(0.1 / 2)
    assert found.low < 0 < found.high
    missing = np.zeros((4, 10))
    missing[:, 5:] = NAN
    assert gain(missing).error == pytest.approx(0.2 / 2)


def test_a_trial_that_a_stratum_lacks_is_left_out() -> None:
    rng = np.random.default_rng(1)
    first, second = simulated(rng, 5, 8, 0), simulated(rng, 5, 6, 0)
    second[2] = NAN
    kept = [0, 1, 3, 4]
    found = two_way_gain([Stratum(0.5, first), Stratum(0.5, second)])
    alone = two_way_gain([Stratum(0.5, first[kept]), Stratum(0.5, second[kept])])
    assert found == alone
    assert found.trials == 4
    expected = (first[kept].mean() + second[kept].mean()) / 2
    assert found.gain == pytest.approx(expected)


def test_classes_weigh_the_same_in_balanced_accuracy() -> None:
    values = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    found = two_way_gain(by_class(Stratum(1.0, values), np.array([0, 0, 0, 1])))
    assert found.gain == pytest.approx(((1 + 2 / 3) / 2 + 0) / 2)
    assert gain(values).gain == pytest.approx(5 / 8)


def test_a_class_without_a_test_row_in_a_trial_is_left_out() -> None:
    values = np.array([[1.0, 1.0, NAN], [1.0, 0.0, 1.0]])
    parts = by_class(Stratum(1.0, values), np.array([0, 1, 2]))
    assert [part.weight for part in parts] == [0.5, 0.5]
    assert two_way_gain(parts).gain == pytest.approx(0.75)
