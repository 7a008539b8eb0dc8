"""Claims on the source, on hand-made numbers: transfer, class noise, without it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.claim_data import evidence

from cdspp.report.tables.claims.evidence import (
    NOT_SUPPORTED,
    SUPPORTED,
    Check,
    Evidence,
    NotTestable,
)
from cdspp.report.tables.claims.source_checks import (
    NoiseDoes,
    Transfer,
    WithoutSource,
)

# Five trials; a difference of SHAKY trials has a standard error of 2.5 points.
FLAT = np.zeros(5)
SHAKY = np.array([-0.04, 0.08, -0.04, -0.04, 0.04])
NOISE, ALONE = "class-noise", "none"
Rows = dict[Any, Any]


def five(rows: Rows, **options: Any) -> Evidence:
    return evidence(rows, trials=5, **options)


def methods(state: str, **gains: Any) -> Rows:
    """Give methods these gains over themselves in another state, and an SVM."""
    rows: Rows = {"svm-t": FLAT + 0.6}
    for name, gain in gains.items():
        key = name.replace("_", "-")
        rows |= {key: FLAT + 0.8, (state, key): FLAT + 0.8 - gain}
    return rows


def test_transfer_is_supported_where_the_source_beats_every_state() -> None:
    rows = {"cdspp": FLAT + 0.8, "target-only": FLAT + 0.7, ("noise", "cdspp"): 0.75}
    verdict, numbers = Transfer()(five(rows))
    assert verdict == SUPPORTED
    assert numbers.startswith(
        "The verdict is helps on all 2 tasks. On average over tasks the source helps: "
        "over no source it gains 10.0 points"
    )


@pytest.mark.parametrize(
    ("alone", "word"),
    [(0.9, "hurts"), (0.8, "makes no difference"), (0.8 + SHAKY, "undecided")],
)
def test_any_other_verdict_does_not_support_transfer(alone: Any, word: str) -> None:
    verdict, numbers = Transfer()(five({"cdspp": FLAT + 0.8, "target-only": alone}))
    assert verdict == NOT_SUPPORTED
    assert word in numbers


def test_transfer_is_a_matter_of_the_average() -> None:
    better = [list(FLAT + 0.9), list(FLAT + 0.8)]
    known = five({"cdspp": better, "target-only": 0.8})
    verdict, numbers = Transfer()(known)
    assert verdict == SUPPORTED
    assert "helps on 1, equal on 1" in numbers


def test_class_noise_is_refuted_by_one_method_that_is_better_with_its_source() -> None:
    rows = methods(NOISE, dama=0.0, cdspp=0.03) | methods(ALONE, cdspp=0.05)
    verdict, numbers = NoiseDoes()(five(rows))
    assert verdict == NOT_SUPPORTED
    assert numbers == (
        "Of 2 methods, better with the real source: 1 (CDSPP +3.0); equal: 1; better "
        "with class noise: 0. Better with the real source than without any: 1 of 1."
    )


def test_class_noise_is_confirmed_where_most_methods_do_as_well_with_it() -> None:
    rows = methods(NOISE, dama=-0.03, pa=0.0, cdspp=SHAKY)
    verdict, numbers = NoiseDoes()(five(rows))
    assert verdict == SUPPORTED
    assert numbers == (
        "Of 3 methods, better with the real source: 0; equal: 1; better with class "
        "noise: 1."
    )


def test_where_half_of_the_methods_are_undecided_class_noise_is_open() -> None:
    rows = methods(NOISE, dama=SHAKY, cdspp=0.0)
    with pytest.raises(NotTestable, match="^open: of 2 methods, better .* equal: 1;"):
        NoiseDoes()(five(rows))


# Three points with an error of one: p = 0.02 alone, 0.08 among four.
SOME = 0.03 + 0.4 * SHAKY


def test_of_several_methods_each_must_be_surer() -> None:
    one = methods(NOISE, cdspp=SOME)
    assert NoiseDoes()(five(one)).verdict == NOT_SUPPORTED
    more = methods(NOISE, cdspp=SOME, dama=0.0, pa=0.0, tit=0.0)
    assert NoiseDoes()(five(more)).verdict == SUPPORTED


def test_without_a_source_the_gain_over_the_baseline_is_told_by_method() -> None:
    verdict, numbers = WithoutSource()(five(methods(ALONE, dama=0.0, cdspp=0.05)))
    assert verdict == NOT_SUPPORTED
    assert numbers == (
        "Gain over SVM_t without a source, of the gain with it: DAMA +20.0 of +20.0, "
        "CDSPP +15.0 of +20.0."
    )
    level = methods(ALONE, dama=-0.02, pa=0.0, cdspp=SHAKY)
    assert WithoutSource()(five(level)).verdict == SUPPORTED


def test_what_is_open_does_not_say_that_all_is_there_without_a_source() -> None:
    with pytest.raises(NotTestable, match="^open: gain over SVM_t"):
        WithoutSource()(five(methods(ALONE, cdspp=SHAKY)))


def test_target_only_is_the_reference_without_a_source() -> None:
    rows = {"svm-t": 0.6, "cdspp": FLAT + 0.8, "target-only": FLAT + 0.75}
    assert WithoutSource()(five(rows)).numbers.endswith("CDSPP +15.0 of +20.0.")


def test_collapsed_and_short_rows_take_no_part() -> None:
    rows = methods(NOISE, dama=0.1, pa=[0.1, 0.1, 0.1, 0.1, math.nan], cdspp=0.0)
    fallen = {("class-noise", "dama"): {"a_b": [1, 2], "b_a": [1, 2]}}
    verdict, numbers = NoiseDoes()(five(rows, collapsed=fallen))
    assert verdict == SUPPORTED
    assert numbers.startswith("Of 1 method, ")


FOUR = evidence({"svm-t": 0.6, "cdspp": 0.8, ("class-noise", "cdspp"): 0.7})
BARE = five({"svm-t": 0.6, "cdspp": FLAT + 0.8})


@pytest.mark.parametrize(
    ("check", "known", "message"),
    [
        (Transfer(), BARE, "no other source state was run"),
        (Transfer(), five({"svm-t": 0.6}), "no other source state was run"),
        (Transfer(), FOUR, "is too few trials on all 2 tasks. On average .* to tell$"),
        (NoiseDoes(), BARE, "no method has 5 trials in the state class-noise"),
        (NoiseDoes(), FOUR, "no method has 5 trials in the state class-noise"),
        (WithoutSource(), BARE, "no method has 5 trials in the state none"),
        (
            WithoutSource(),
            five({"cdspp": FLAT + 0.8, "target-only": 0.8}),
            "svm-t does not run",
        ),
    ],
)
def test_a_check_says_what_it_lacks(
    check: Check[Evidence], known: Evidence, message: str
) -> None:
    with pytest.raises(NotTestable, match=message):
        check(known)


def test_of_collapsed_fits_nothing_is_claimed() -> None:
    rows = {"cdspp": FLAT + 0.8, "target-only": FLAT + 0.7}
    fallen = {("main", "cdspp"): {"a_b": [1, 2], "b_a": [1, 2]}}
    with pytest.raises(NotTestable, match="no statement, since fits have collapsed"):
        Transfer()(five(rows, collapsed=fallen))
