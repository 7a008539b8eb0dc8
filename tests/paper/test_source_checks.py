"""Claims on the source, on hand-made numbers: transfer, class noise, without it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.claim_data import Check, check_of, evidence

from cdspp.analysis.transfer import TOO_FEW, Transfer
from cdspp.paper.evidence import CONTRADICTED, SUPPORTED, Evidence, NotTestable

# Five trials; a difference of SHAKY trials has a standard error of 2.5 points.
OPEN = Transfer.INCONCLUSIVE.word
FLAT = np.zeros(5)
SHAKY = np.array([-0.04, 0.08, -0.04, -0.04, 0.04])
NOISE, NO_SOURCE = "class-noise", "none"
Rows = dict[Any, Any]
TRANSFER = check_of("transfer", method="cdspp")
NOISE_DOES = check_of("as-good", state="class-noise")
WITHOUT_SOURCE = check_of("as-good", state="none")


def methods(state: str, **gains: Any) -> Rows:
    """Give methods these gains over themselves in another state, and an SVM."""
    rows: Rows = {"svm-t": FLAT + 0.6}
    for name, gain in gains.items():
        key = name.replace("_", "-")
        rows |= {key: FLAT + 0.8, (state, key): FLAT + 0.8 - gain}
    return rows


def test_transfer_is_supported_where_the_source_beats_every_state() -> None:
    rows = {"cdspp": FLAT + 0.8, "target-only": FLAT + 0.7, ("noise", "cdspp"): 0.75}
    verdict, numbers = TRANSFER(evidence(rows))
    assert verdict == SUPPORTED
    assert numbers.startswith(
        "On average over 2 tasks the source helps CDSPP: over no source it gains 10.0 "
        "points"
    )


@pytest.mark.parametrize(
    ("alone", "word"), [(0.9, "hurts"), (0.8, "no effect of the source")]
)
def test_a_source_that_hurts_or_makes_no_difference_contradicts_transfer(
    alone: float, word: str
) -> None:
    verdict, numbers = TRANSFER(evidence({"cdspp": FLAT + 0.8, "target-only": alone}))
    assert verdict == CONTRADICTED
    assert word in numbers
    assert numbers.endswith(" 5 trials.")


def test_transfer_is_a_claim_of_cdspp_whatever_the_reference_of_a_study() -> None:
    known = evidence(methods(NO_SOURCE, cdspp=0.05, dama=-0.05))
    rows = known.comparisons
    other = rows.assign(role=np.where(rows["row"] == "dama", "reference", ""))
    assert TRANSFER(replace(known, comparisons=other)) == TRANSFER(known)
    assert TRANSFER(known).verdict == SUPPORTED


def test_class_noise_is_refuted_by_one_method_that_is_better_with_its_source() -> None:
    rows = methods(NOISE, dama=0.0, cdspp=0.03) | methods(NO_SOURCE, cdspp=0.05)
    verdict, numbers = NOISE_DOES(evidence(rows))
    assert verdict == CONTRADICTED
    assert numbers == (
        "On 5 trials, of 2 methods, better with the real source: 1 (CDSPP +3.0); "
        "no effect: 1; better with class noise: 0. Better with the real source than "
        "without any: 1 of 1."
    )


def test_class_noise_is_confirmed_where_most_methods_do_as_well_with_it() -> None:
    rows = methods(NOISE, dama=-0.03, pa=0.0, cdspp=SHAKY)
    verdict, numbers = NOISE_DOES(evidence(rows))
    assert verdict == SUPPORTED
    assert numbers == (
        "On 5 trials, of 3 methods, better with the real source: 0; no effect: 1; "
        "better with class noise: 1."
    )


# Three points with an error of one: p = 0.02 alone, 0.08 among four.
SOME = 0.03 + 0.4 * SHAKY


def test_of_several_methods_each_must_be_surer() -> None:
    one = methods(NOISE, cdspp=SOME)
    assert NOISE_DOES(evidence(one)).verdict == CONTRADICTED
    more = methods(NOISE, cdspp=SOME, dama=0.0, pa=0.0, tit=0.0)
    assert NOISE_DOES(evidence(more)).verdict == SUPPORTED


def test_without_a_source_the_gain_over_the_baseline_is_told_by_method() -> None:
    verdict, numbers = WITHOUT_SOURCE(
        evidence(methods(NO_SOURCE, dama=0.0, cdspp=0.05))
    )
    assert verdict == CONTRADICTED
    assert numbers == (
        "On 5 trials, part of the gain over SVM_t that needs no source: DAMA "
        "+20.0 of +20.0, CDSPP +15.0 of +20.0."
    )
    level = methods(NO_SOURCE, dama=-0.02, pa=0.0, cdspp=SHAKY)
    assert WITHOUT_SOURCE(evidence(level)).verdict == SUPPORTED


def test_collapsed_and_short_rows_take_no_part() -> None:
    rows = methods(NOISE, dama=0.1, pa=[0.1, 0.1, 0.1, 0.1, math.nan], cdspp=0.0)
    fallen = {("class-noise", "dama"): {"a_b": [1, 2], "b_a": [1, 2]}}
    verdict, numbers = NOISE_DOES(evidence(rows, collapsed=fallen))
    assert verdict == SUPPORTED
    assert numbers.startswith("On 5 trials, of 1 method, ")


@pytest.mark.parametrize(
    ("check", "gains"),
    [
        (
            TRANSFER,
            "Gains over no source +10.0, class-conditional noise +10.0. 4 trials.",
        ),
        (NOISE_DOES, "On 4 trials, gains with the real source over class-noise: "),
        (WITHOUT_SOURCE, "On 4 trials, gains with the real source over none: "),
    ],
)
def test_four_trials_are_too_few_and_their_gains_are_told(
    check: Check, gains: str
) -> None:
    states = dict.fromkeys([("none", "cdspp"), ("class-noise", "cdspp")], 0.7)
    rows: Rows = {"svm-t": 0.6, "cdspp": 0.8, **states}
    verdict, numbers = check(evidence(rows, trials=4))
    assert (verdict, verdict.reason) == (OPEN, TOO_FEW)
    assert gains in numbers
    assert "+10.0" in numbers


BARE = evidence({"svm-t": 0.6, "cdspp": FLAT + 0.8})


@pytest.mark.parametrize(
    ("check", "known", "message"),
    [
        (TRANSFER, BARE, "controls not run"),
        (NOISE_DOES, BARE, "trial.*control class-noise"),
        (WITHOUT_SOURCE, BARE, "no method has a trial under the control none"),
        (
            WITHOUT_SOURCE,
            evidence({"cdspp": FLAT + 0.8, "target-only": 0.8}),
            "baseline.*run",
        ),
    ],
)
def test_a_check_says_what_it_lacks(
    check: Check, known: Evidence, message: str
) -> None:
    with pytest.raises(NotTestable, match=message):
        check(known)


def test_of_collapsed_fits_nothing_is_claimed() -> None:
    rows = {"cdspp": FLAT + 0.8, "target-only": FLAT + 0.7}
    fallen = {("main", "cdspp"): {"a_b": [1, 2], "b_a": [1, 2]}}
    with pytest.raises(NotTestable, match="inconclusive for CDSPP, degenerate fits"):
        TRANSFER(evidence(rows, collapsed=fallen))


OVER_NONE = check_of("better-in-state", state=NOISE, rival=NO_SOURCE)
OVER_SVM = check_of("better-in-state", state=NOISE, rival="svm-t")


def in_states(**accuracies: tuple[Any, Any]) -> Rows:
    """Give methods an accuracy with class noise, and one without a source."""
    rows: Rows = {"svm-t": FLAT + 0.6}
    for name, (noise, alone) in accuracies.items():
        rows |= {name: FLAT + 0.8, (NOISE, name): noise, (NO_SOURCE, name): alone}
    return rows


def test_noise_transfers_where_most_methods_do_better_with_it() -> None:
    rows = in_states(dama=(0.8, 0.7), pa=(0.75, 0.7), tit=(0.7, 0.7))
    assert OVER_NONE(evidence(rows)) == (
        SUPPORTED,
        "On 5 trials, gains under the control class-noise over none: DAMA +10.0, "
        "PA +5.0, TIT +0.0; significantly better: 2 of 3.",
    )
    half = in_states(dama=(0.8, 0.7), tit=(0.7, 0.7))
    assert OVER_NONE(evidence(half)).verdict == OPEN


def test_noise_does_not_transfer_where_no_method_does_better_with_it() -> None:
    rows = in_states(dama=(0.7, 0.7), pa=(0.6, 0.7), tit=(0.7 + SHAKY, 0.7))
    assert OVER_NONE(evidence(rows)).verdict == CONTRADICTED
    open_ = in_states(dama=(0.7 + SHAKY, 0.7), pa=(0.6, 0.7))
    assert OVER_NONE(evidence(open_)).verdict == OPEN


def test_a_gain_with_noise_may_be_over_a_method() -> None:
    rows = in_states(dama=(0.7, 0.7), pa=(0.7, 0.75))
    verdict, numbers = OVER_SVM(evidence(rows))
    assert verdict == SUPPORTED
    assert "over svm-t: DAMA +10.0, PA +10.0; significantly better: 2 of 2." in numbers


def test_a_gain_of_the_reference_is_over_target_only() -> None:
    rows = {"cdspp": 0.9, (NOISE, "cdspp"): FLAT + 0.8, "target-only": FLAT + 0.75}
    verdict, numbers = OVER_NONE(evidence(rows))
    assert (verdict, "CDSPP +5.0;" in numbers) == (SUPPORTED, True)


def test_collapsed_methods_and_short_ones_gain_nothing_with_noise() -> None:
    short = [0.9, 0.9, 0.9, 0.9, math.nan]
    rows = in_states(dama=(0.9, 0.7), pa=(short, 0.7), tit=(0.7, 0.7))
    fallen = {(NOISE, "dama"): {"a_b": [1, 2], "b_a": [1, 2]}}
    verdict, numbers = OVER_NONE(evidence(rows, collapsed=fallen))
    assert (verdict, "none: TIT +0.0;" in numbers) == (CONTRADICTED, True)
    assert numbers.endswith("significantly better: 0 of 1; degenerate fits: DAMA.")
    alone = OVER_NONE(evidence(in_states(pa=(short, 0.7))))
    assert (alone.verdict.reason, "PA +20.0" in alone.numbers) == (TOO_FEW, True)
