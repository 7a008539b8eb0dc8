"""Each kind of check of a claim on a curve, on hand-made numbers."""

from __future__ import annotations

import math
from functools import partial

import pytest
from support.claim_data import along, check_of

from cdspp.analysis.transfer import TOO_FEW, Transfer
from cdspp.paper.evidence import CONTRADICTED, SUPPORTED, NotTestable

OPEN = Transfer.INCONCLUSIVE.word

FLAT = check_of("flat", method="cdspp", parameter="alpha", low=10, high=100)
RISING = check_of("trend", method="cdspp", parameter="labels")
GAIN = check_of("trend", method="cdspp", parameter="labels", rival="svm-t")


def test_means_within_a_point_are_flat_whatever_lies_outside_the_range() -> None:
    known = along("alpha", {0.1: 0.2, 10: 0.80, 30: 0.81, 100: 0.805, 1000: 0.3})
    assert FLAT(known) == (
        SUPPORTED,
        "CDSPP between 80.5 and 81.5 % for alpha = 10, 30, 100: 1.0 points apart, "
        "2 tasks, 5 trials.",
    )


def test_three_trials_settle_nothing_along_a_curve() -> None:
    for check, known in (
        (FLAT, along("alpha", {10: 0.80, 100: 0.80})),
        (RISING, along("labels", {1: 0.5, 3: 0.7})),
    ):
        known.curves[0].accuracy[..., 3:] = math.nan
        verdict, numbers = check(known)
        assert (verdict, verdict.reason) == (OPEN, TOO_FEW)
        assert numbers.endswith("2 tasks, 3 trials.")


def test_the_range_may_start_at_the_number_of_classes() -> None:
    known = along("n_components", {2: 0.3, 9: 0.7, 10: 0.8, 20: 0.8})
    check = check_of("flat", method="cdspp", parameter="n_components", low="classes")
    verdict, numbers = check(known)
    assert verdict == SUPPORTED
    assert "for d = 10, 20: 0.0 points apart" in numbers


def test_an_accuracy_that_ends_higher_than_it_begins_rises() -> None:
    known = along("labels", {1: 0.5, 3: 0.7, 5: 0.69, 7: 0.8})
    assert RISING(known) == (
        SUPPORTED,
        "CDSPP: 50.5 % at labels per class = 1, 80.5 % at 7; a change of 30.0 points "
        "(95 % interval 30.0 to 30.0), as claimed in 2 of 3 steps, 2 tasks, 5 trials.",
    )


def test_an_accuracy_that_falls_in_place_of_rising_is_contradicted() -> None:
    known = along("labels", {1: 0.7, 3: 0.5})
    verdict, numbers = RISING(known)
    assert verdict == CONTRADICTED
    assert "at 3; a change of −20.0 points" in numbers


def test_an_accuracy_that_ends_where_it_begins_leaves_it_open() -> None:
    known = along("labels", {1: 0.5, 3: 0.7, 5: 0.5})
    assert RISING(known).verdict == OPEN


def test_a_gain_over_a_rival_may_fall() -> None:
    known = along("labels", {1: 0.6, 5: 0.55, 9: 0.52}, svm_t=0.5)
    assert partial(GAIN, rises=False)(known) == (
        SUPPORTED,
        "Gain of CDSPP over SVM_t: 10.0 points at labels per class = 1, 2.0 points at "
        "9; a change of −8.0 points (95 % interval −8.0 to −8.0), as claimed in 2 of 2 "
        "steps, 2 tasks, 5 trials.",
    )
    assert GAIN(known).verdict == CONTRADICTED


def test_all_methods_along_a_curve_may_have_to_rise() -> None:
    rising = check_of("trend", parameter="labels")
    known = along("labels", {1: 0.5, 5: 0.6})
    assert rising(known).verdict == SUPPORTED
    known = along("labels", {1: 0.5, 5: 0.6}, svm_t=0.5)
    assert rising(known) == (
        OPEN,
        "Change from labels per class = 1 to 5: CDSPP +10.0, SVM_t +0.0 points; "
        "2 tasks, 5 trials.",
    )


def test_a_trend_may_have_a_range_and_a_least_change() -> None:
    known = along("n_components", {2: 0.3, 6: 0.7, 10: 0.8, 20: 0.1})
    below = check_of(
        "trend", method="cdspp", parameter="n_components", high="classes", least=3
    )
    verdict, numbers = below(known)
    assert verdict == SUPPORTED
    assert "30.5 % at d = 2, 80.5 % at 10;" in numbers
    little = along("n_components", {2: 0.79, 10: 0.8})
    assert below(little).verdict == CONTRADICTED


def test_a_gain_may_be_over_the_average_of_the_other_methods() -> None:
    over = check_of(
        "trend", method="cdspp", parameter="labels", rival="others", rises=False
    )
    known = along("labels", {1: 0.6, 5: 0.55}, dama=0.5, cdls=0.4, svm_t=0.9)
    verdict, numbers = over(known)
    assert verdict == SUPPORTED
    assert numbers.startswith(
        "Gain of CDSPP over the average of 2 others: 15.0 points at labels per "
    )
    with pytest.raises(NotTestable, match="no other method"):
        over(along("labels", {1: 0.6, 5: 0.55}, svm_t=0.9))


def test_a_curve_peaks_in_a_range_where_its_best_value_does() -> None:
    peak = check_of("peak", method="cdspp", parameter="alpha", low=10, high=100)
    verdict, numbers = peak(along("alpha", {1: 0.5, 10: 0.6, 100: 0.7, 1000: 0.6}))
    assert verdict == SUPPORTED
    assert numbers.startswith(
        "CDSPP: best 70.5 % at alpha = 100, and outside the range 60.5 % at alpha = "
    )
    assert peak(along("alpha", {1: 0.8, 10: 0.6})).verdict == CONTRADICTED
    assert peak(along("alpha", {1: 0.6, 10: 0.6})).verdict == OPEN
    for levels in ({10: 0.6, 100: 0.6}, {0.1: 0.5, 1: 0.6}):
        with pytest.raises(NotTestable, match="side the range from 10 to 100"):
            peak(along("alpha", levels))


def test_a_method_is_best_along_a_curve_where_it_is_at_every_value() -> None:
    best = check_of("along", method="cdspp", parameter="labels")
    known = along(
        "labels",
        {1: 0.6, 5: 0.7, 9: 0.5},
        dama=0.55,
        cdls=0.4,
        svm_t=0.9,
        target_only=0.9,
    )
    assert best(known).verdict == CONTRADICTED
    verdict, numbers = partial(best, high=5)(known)
    assert (verdict, numbers) == (
        SUPPORTED,
        "At labels per class = 1: CDSPP +5.0 over DAMA; 5: CDSPP +15.0 over DAMA "
        "points; 2 tasks, 5 trials.",
    )
    other = check_of(
        "along", method=["dama", "svm-t"], parameter="labels", rival="cdspp", low=9
    )
    assert other(known).verdict == SUPPORTED
    with pytest.raises(NotTestable, match="no value from 20"):
        partial(best, low=20)(known)
    known.curves[0].accuracy[:, 0, 2] = math.nan  # a task lacks the last value
    assert best(known).verdict == SUPPORTED


def test_methods_may_differ_less_at_the_end_of_a_curve() -> None:
    shrinks = check_of("spread", parameter="labels", rises=False)
    nearer = along("labels", {1: 0.9, 5: 0.6}, dama=0.5, cdls=0.55)
    assert shrinks(nearer).verdict == SUPPORTED
    farther = along("labels", {1: 0.6, 5: 0.9}, dama=0.5, cdls=0.55)
    assert shrinks(farther).verdict == CONTRADICTED
    with pytest.raises(NotTestable, match="fewer than three methods"):
        shrinks(along("labels", {1: 0.9, 5: 0.6}, dama=0.5, svm_t=0.5))


def test_values_that_a_task_lacks_and_trials_that_a_value_lacks_are_left_out() -> None:
    known = along("labels", {1: 0.5, 3: 0.6, 5: 0.1})
    (curve,) = known.curves
    curve.accuracy[0, 1, 2] = math.nan
    _, numbers = RISING(known)
    assert "60.5 % at 3; a change" in numbers
    curve.accuracy[0, 0, 0, 3:] = math.nan
    curve.accuracy[0, 0, 1, :2] = math.nan
    assert RISING(known).numbers.endswith("2 tasks, 1 trial.")
    curve.accuracy[0, 0, 1, 2] = math.nan
    with pytest.raises(NotTestable, match="trial.*value"):
        RISING(known)
