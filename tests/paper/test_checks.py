"""Each kind of check of a claim, on hand-made numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.claim_data import LUCK, Check, along, check_of, evidence, times

from cdspp.analysis.transfer import TOO_FEW, Transfer
from cdspp.paper.evidence import CONTRADICTED, SUPPORTED, Evidence, NotTestable, Times

OPEN = Transfer.INCONCLUSIVE.word
SUPERIOR = check_of("superior", method="cdspp", rival="svm-t")
BEST = check_of("best", method="cdspp")
FLAT = check_of("flat", method="cdspp", parameter="alpha", low=10, high=100)
GAIN = check_of("trend", method="cdspp", parameter="labels", rival="svm-t")
RIVALS = ("dama", "cdls", "stn", "ssan")
CHEAPEST = check_of("cheaper", method="cdspp", rival=RIVALS)


NAN = math.nan


@pytest.mark.parametrize(
    ("cdspp", "svm", "word", "part"),
    [
        (0.8 + LUCK, [[0.7] * 5, [0.85] * 5], SUPPORTED, "3.0 points (95 % interval "),
        (0.8 + LUCK, 0.8, OPEN, ": a gain of 0.5 points (95 % interval −"),
        (0.7 + LUCK, 0.8, CONTRADICTED, ": a gain of −9.5 points (95 % interval −"),
        ([0.9] + [0.8] * 5, [NAN] + [0.7] * 5, SUPPORTED, "CDSPP 80.0 %, SVM_t 70.0"),
        ([0.8] * 4, 0.9, TOO_FEW, "better on 0 of 2 tasks, 4 trials."),
        ([0.8] * 4, 0.7, TOO_FEW, "better on 2 of 2 tasks, 4 trials."),
        (0.8, [0.7] + [NAN] * 4, TOO_FEW, "10.0 points, better on 2 of 2 tasks, 1 t"),
    ],
    ids=["above", "includes", "below", "common trials", "four", "four too", "one"],
)
def test_a_method_is_superior_where_the_interval_lies_above_zero(
    cdspp: Any, svm: Any, word: str, part: str
) -> None:
    trials = len(cdspp) if isinstance(cdspp, list) else 5
    verdict, numbers = SUPERIOR(evidence({"cdspp": cdspp, "svm-t": svm}, trials=trials))
    assert (verdict.reason if word == TOO_FEW else verdict) == word
    assert part in numbers


def test_a_method_is_the_best_where_it_beats_the_best_complete_row() -> None:
    values = {
        "svm-t": 0.99,
        "cdls": 0.75,
        "ddacl": 0.79,
        "ssan": 0.95,
        "pa": [0.70, *[math.nan] * 4],
        "cdspp": 0.8 + LUCK / 10,
        "cdspp-pca": 0.97,
    }
    check = check_of("best", method="cdspp", apart=("cdspp-pca",))
    verdict, numbers = check(evidence(values, shortened=["ssan"]))
    assert verdict == SUPPORTED
    assert numbers.startswith("CDSPP 80.1 %; best of 2 others DDACL, 79.0 %: a gain of")
    assert numbers.endswith(
        "Left out: SSAN (shortened, −14.9), PA (1 of 5 trials, +10.0)."
    )


@pytest.mark.parametrize(("best", "word"), [(0.8, OPEN), (0.9, CONTRADICTED)])
def test_a_method_that_another_equals_or_beats_is_not_the_best(
    best: float, word: str
) -> None:
    values = {"cdls": 0.5, "ddacl": best, "cdspp": 0.8 + LUCK}
    assert BEST(evidence(values)).verdict == word


PAIR = {"method": "cdspp", "rival": "svm-t"}


def test_a_gain_may_have_to_be_large() -> None:
    known = evidence({"cdspp": 0.8 + LUCK / 10, "svm-t": 0.76, "dama": 0.7})
    assert check_of("superior", **PAIR, least=3)(known).verdict == SUPPORTED
    assert check_of("superior", **PAIR, least=5)(known).verdict == CONTRADICTED
    both = check_of("superior", method=["cdspp", "dama"], rival="svm-t")
    verdict, numbers = both(known)
    assert verdict == CONTRADICTED
    assert "CDSPP 80.1 %" in numbers
    assert "DAMA 70.0 %" in numbers


@pytest.mark.parametrize(
    ("level", "word"), [(0.78, SUPPORTED), (0.7, CONTRADICTED), (0.8, OPEN)]
)
def test_a_gain_within_a_range_is_inside_with_its_interval(
    level: float, word: str
) -> None:
    known = evidence({"cdspp": 0.8 + LUCK / 2, "svm-t": level})
    assert check_of("within", **PAIR, low=0, high=5)(known).verdict == word


@pytest.mark.parametrize(
    ("level", "word"), [(0.82, SUPPORTED), (0.78, CONTRADICTED), (0.8, OPEN)]
)
def test_no_better_is_worse_or_equal_within_a_point(level: float, word: str) -> None:
    known = evidence({"cdspp": 0.8 + LUCK, "svm-t": level})
    assert check_of("no-better", **PAIR)(known).verdict == word


def test_equal_accuracies_are_no_better_but_a_certain_half_point_is() -> None:
    known = evidence({"cdspp": 0.8 + LUCK / 10, "svm-t": 0.8 + LUCK / 10})
    assert check_of("no-better", **PAIR)(known).verdict == SUPPORTED
    known = evidence({"cdspp": 0.8 + LUCK / 10, "svm-t": 0.795 + LUCK / 10})
    assert check_of("no-better", **PAIR)(known).verdict == CONTRADICTED


def test_a_method_is_best_on_a_share_of_the_tasks() -> None:
    values = {"cdspp": [[0.8] * 5, [0.6] * 5], "dama": 0.7, "cdspp-pca": 0.9}
    half = check_of("best-on-tasks", method="cdspp", share=0.5, apart=["cdspp-pca"])
    verdict, numbers = half(evidence(values))
    assert (verdict, numbers) == (
        SUPPORTED,
        "CDSPP has the highest mean of 2 rows on 1 of 2 tasks, 5 trials.",
    )
    most = check_of("best-on-tasks", method="cdspp", share=0.51, apart=["cdspp-pca"])
    assert most(evidence(values)).verdict == CONTRADICTED
    single = evidence(values)
    single = replace(
        single,
        summary=replace(single.summary, plan=replace(single.plan, tasks=("a_b",))),
    )
    with pytest.raises(NotTestable, match="has one task"):
        half(single)
    with pytest.raises(NotTestable, match="CDSPP or all other rows"):
        half(evidence({"cdspp": 0.8}))


def test_accuracy_varies_where_most_methods_do() -> None:
    known = {"cdspp": 0.8 + 2 * LUCK, "dama": 0.7 + 2 * LUCK, "svm-t": 0.6}
    verdict, numbers = check_of("variation")(evidence(known))
    assert verdict == SUPPORTED
    assert numbers.endswith(
        "from 0.0 points (SVM_t) to 2.2 (CDSPP); above 1.0 for 2 of 3 methods."
    )
    assert check_of("variation")(evidence({"cdspp": 0.8})).verdict == CONTRADICTED


def test_a_gain_is_the_largest_of_several_benchmarks() -> None:
    largest = check_of("largest-gain", **PAIR, over=["mrc"])
    ours = evidence({"cdspp": 0.8 + LUCK / 10, "svm-t": 0.7})
    other = replace(evidence({"cdspp": 0.8 + LUCK / 10, "svm-t": 0.75}), printed="mrc")
    texts = replace(other.plan, title="Texts")
    other = replace(other, summary=replace(other.summary, plan=texts))
    both = replace(ours, others=[other])
    verdict, numbers = largest(both)
    assert (verdict, numbers) == (SUPPORTED, "Gains: Digits +10.1, Texts +5.1 points.")
    larger = replace(evidence({"cdspp": 0.8, "svm-t": 0.1}), printed="nus-imagenet")
    assert largest(replace(ours, others=[other, larger])).verdict == SUPPORTED
    smaller = replace(other, printed=None, others=[replace(ours, printed="mrc")])
    assert largest(smaller).verdict == CONTRADICTED
    with pytest.raises(NotTestable, match="compare with"):
        largest(ours)


def by_iteration(*levels: float) -> Evidence:
    """Return the evidence of CDSPP with these accuracies by iteration."""
    known = evidence({"cdspp": levels[-1]})
    values = np.array(levels) + LUCK[:, None] / 10
    later = np.full((len(values), 1), math.nan)  # of other methods
    values = np.hstack([values, later])
    values = np.broadcast_to(values, (1, 2, *values.shape))
    steps = np.arange(1, len(levels) + 2)
    summary = replace(known.summary, iterations=steps, by_iteration=values)
    return replace(known, summary=summary)


def test_accuracy_settles_where_it_rises_and_then_stays() -> None:
    plateau = check_of("plateau", method="cdspp", iteration=3)
    verdict, numbers = plateau(by_iteration(0.7, 0.76, 0.79, 0.785, 0.79))
    assert verdict == SUPPORTED
    assert numbers.startswith("CDSPP by iteration: 70.0, 76.1, 79.0")
    assert plateau(by_iteration(0.7, 0.76, 0.79, 0.82)).verdict == CONTRADICTED
    assert plateau(by_iteration(0.79, 0.76, 0.70, 0.70)).verdict == CONTRADICTED
    with pytest.raises(NotTestable, match="no iteration 3"):
        plateau(by_iteration(0.7, 0.8))


def test_the_cheapest_takes_less_than_every_whole_comparator() -> None:
    seconds = {"dama": 20.0, "cdls": 35.0, "svm-t": 1.0, "stn": 5.0, "cdspp": 10.0}
    assert CHEAPEST(times(seconds, shortened=["stn"])) == (
        SUPPORTED,
        "CDSPP 10 s; cheapest and most expensive of 2 comparators: DAMA (2 ×), "
        "CDLS (3.5 ×); 5 trials. Left out, shortened: STN (0.5 ×).",
    )


def test_cheaper_comparators_are_named() -> None:
    seconds = {"dama": 5.0, "cdls": 35.0, "cdspp": 10.0}
    numbers = "CDSPP 10 s; cheaper of 2 comparators: DAMA (0.5 ×); 5 trials."
    assert CHEAPEST(times(seconds)) == (CONTRADICTED, numbers)


def test_several_methods_may_have_to_be_cheaper_than_several() -> None:
    check = check_of("cheaper", method=["dama", "cdls"], rival=["stn", "ssan"])
    seconds = {"dama": 5.0, "cdls": 35.0, "stn": 70.0, "ssan": 350.0}
    assert check(times(seconds)) == (
        SUPPORTED,
        "Most expensive of 2 methods CDLS 35 s; cheapest and most expensive of 2 "
        "comparators: STN (2 ×), SSAN (10 ×); 5 trials.",
    )
    assert check(times(seconds | {"stn": 10.0})).verdict == CONTRADICTED


def test_a_method_that_has_a_time_is_not_unfinished() -> None:
    check = check_of("unfinished", method="shfa")
    assert check(times({"shfa": 5.0})) == (CONTRADICTED, "SHFA 5 s.")
    with pytest.raises(NotTestable, match="SHFA does not run on Digits"):
        check(times({"dama": 5.0}))


def test_the_seconds_of_four_trials_settle_nothing() -> None:
    verdict, numbers = CHEAPEST(times({"dama": 5.0, "cdspp": 1.0}, trials=4))
    assert (verdict, verdict.reason) == (OPEN, TOO_FEW)
    assert numbers.endswith("of 1 comparator: DAMA (5 ×); 4 trials.")


def test_a_row_that_knows_what_others_do_not_is_no_comparator_in_time() -> None:
    known = times({"dama": 5.0, "cdls": 35.0, "cdspp": 10.0})
    plan = known.plan
    told = [replace(r, kind="informed") if r.key == "dama" else r for r in plan.rows]
    informed = replace(known, plan=replace(plan, rows=tuple(told)))
    verdict, numbers = CHEAPEST(informed)
    assert verdict == SUPPORTED
    assert "DAMA" not in numbers


NO_TRIAL = [math.nan] * 5


@pytest.mark.parametrize(
    ("check", "known", "message"),
    [
        (SUPERIOR, evidence({"cdspp": 0.8}), "SVM_t .*run.*study"),
        (
            SUPERIOR,
            evidence({"cdspp": 0.8, "svm-t": 0.7}, shortened=["cdspp"]),
            "runs of CDSPP were shortened",
        ),
        (SUPERIOR, evidence({"cdspp": 0.8, "svm-t": NO_TRIAL}), "trial.*tasks"),
        (BEST, evidence({"svm-t": 0.5, "cdspp": 0.8}), "row.* CDSPP"),
        (
            BEST,
            evidence({"cdls": 0.5, "cdspp": [0.8, 0.8, 0.8, 0.8, math.nan]}),
            "CDSPP .*trials",
        ),
        (FLAT, along("max_iter", {1: 0.5, 5: 0.6}), "curve.*alpha"),
        (FLAT, along("alpha", {1: 0.5, 10: 0.6}), "has 1 value from 10 to 100"),
        (GAIN, along("labels", {1: 0.5, 3: 0.6}), "SVM_t .*along.*curve"),
        (GAIN, along("labels", {1: 0.5}, svm_t=0.4), "has 1 value"),
        (CHEAPEST, times({"dama": 5.0}), "timed.*tasks"),
        (CHEAPEST, times({"dama": math.nan, "cdspp": 1.0}), "comparator.* CDSPP"),
        (check_of("elsewhere", where="see the figure"), evidence(), "see the figure"),
    ],
)
def test_a_check_says_what_it_lacks(
    check: Check, known: Evidence | Times, message: str
) -> None:
    with pytest.raises(NotTestable, match=message):
        check(known)
