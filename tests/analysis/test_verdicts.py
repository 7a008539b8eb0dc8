"""The rule on source help: known values, and each of its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from cdspp.analysis.transfer import (
    DEGENERATE,
    DISAGREE,
    NOT_DECIDED,
    NOT_RUN,
    NOT_SPECIFIC,
    TOO_FEW,
    Transfer,
)
from cdspp.analysis.verdicts import (
    PairedGain,
    Verdict,
    decide_all,
    decide_pair,
    gain_of,
    holm,
    joint_verdict,
)
from cdspp.core.names import NO_SOURCE, SIZE_MATCHED

POSITIVE, NEGATIVE, NO_EFFECT, INCONCLUSIVE = Transfer
MARGIN = 0.01
Task = dict[str, PairedGain]


def around(mean: float, error: float = 0.001, trials: int = 10) -> PairedGain:
    """Return a gain over an even number of trials with this mean and error."""
    wave = np.array([-1.0, 1.0] * (trials // 2)) * math.sqrt(trials - 1)
    return gain_of(mean + error * wave)


def task(none: float, other: float, error: float = 0.001, trials: int = 10) -> Task:
    """Return the gains over no source, and over another."""
    return {
        NO_SOURCE: around(none, error, trials),
        "noise": around(other, error, trials),
    }


def judge(gains: Task, margin: float = MARGIN) -> Verdict:
    return decide_all([gains], margin=margin)[0]


def words(
    tasks: Sequence[Task], degenerate: Sequence[bool] = ()
) -> list[Transfer | str]:
    """Return the verdicts, or the reasons of those that are inconclusive."""
    judged = decide_all(tasks, margin=MARGIN, degenerate=degenerate)
    silent = {TOO_FEW, DEGENERATE, NOT_RUN}
    return [v.reason if v.reason in silent else v.transfer for v in judged]


def with_p(p: float, trials: int = 10) -> Task:
    """Return gains whose p values against being zero or less are all `p`."""
    mean = 0.01 * float(stats.t(trials - 1).isf(p))
    return task(mean, mean, 0.01, trials)


def test_holm_worked_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04; none may
    # be smaller than the one before.
    found = holm([0.01, 0.04, 0.03, 0.005])
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_holm_rejects_what_stepping_down_rejects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, 1, int(rng.integers(1, 12))) ** 3
    p = np.concatenate([p, p[:2]])  # some are equal
    corrected = np.array(holm(p.tolist()))
    for alpha in (0.01, 0.05, 0.2):
        rejected = np.zeros(p.size, dtype=bool)
        for step, place in enumerate(np.argsort(p, kind="stable")):
            if p[place] > alpha / (p.size - step):
                break
            rejected[place] = True
        np.testing.assert_array_equal(corrected <= alpha, rejected)


def test_a_source_helps_that_is_better_than_every_state() -> None:
    verdict = judge(task(0.02, 0.003))
    assert verdict.transfer is POSITIVE
    assert verdict.strongest == "noise"
    assert verdict.p_helps == pytest.approx(stats.t(9).sf(3), rel=1e-9)
    assert verdict.p_hurts > 0.99


@pytest.mark.parametrize(
    ("none", "other", "error", "word"),
    [
        (0.05, -0.05, 0.001, INCONCLUSIVE),  # noise can replace it
        (-0.02, 0.05, 0.001, NEGATIVE),  # whatever the other states
        (0.0, -0.05, 0.001, NO_EFFECT),
        (0.0, 0.0, 0.0, NO_EFFECT),
        (0.004, 0.0, 0.001, NO_EFFECT),  # surely better, but within the margin
        (0.02, 0.02, 0.02, INCONCLUSIVE),  # scatter
    ],
)
def test_the_word_of_a_source(
    none: float, other: float, error: float, word: Transfer
) -> None:
    assert judge(task(none, other, error)).transfer is word


def test_fewer_than_five_trials_give_no_verdict() -> None:
    few, many = task(0.02, 0.02, trials=4), task(0.02, 0.02)
    assert words([few]) == [TOO_FEW]
    assert words([{**many, "noise": few["noise"]}]) == [TOO_FEW]
    assert decide_pair(few[NO_SOURCE], MARGIN) is INCONCLUSIVE
    assert math.isnan(judge(few).p_helps)


def test_a_task_without_states_is_not_asked() -> None:
    assert words([{}, task(0.02, 0.02)]) == [NOT_RUN, POSITIVE]
    assert words([]) == []


def test_nothing_is_said_of_a_collapsed_task() -> None:
    verdict = decide_all([task(0.02, 0.02)], margin=MARGIN, degenerate=[True])[0]
    assert (verdict.transfer, verdict.reason) == (INCONCLUSIVE, DEGENERATE)
    assert math.isnan(verdict.p_helps)
    assert verdict.strongest == ""


def test_one_task_of_which_two_are_judged_needs_half_the_p_value() -> None:
    chance = task(0.0, 0.0, error=0.02)
    assert words([with_p(0.03)]) == [POSITIVE]
    assert words([with_p(0.03), chance]) == [INCONCLUSIVE, INCONCLUSIVE]
    assert words([with_p(0.024), chance]) == [POSITIVE, INCONCLUSIVE]
    # Stepping down: the second is asked for 5 % only.
    assert words([with_p(0.024), with_p(0.04)]) == [POSITIVE, POSITIVE]


def test_hurts_is_corrected_as_helps_is() -> None:
    chance = task(0.0, 0.0, error=0.02)
    worse = with_p(1 - 0.03)
    assert words([worse]) == [NEGATIVE]
    assert words([worse, chance]) == [INCONCLUSIVE, INCONCLUSIVE]


@pytest.mark.parametrize("silent", [{}, task(0.0, 0.0, error=0.02, trials=4)])
def test_tasks_of_which_nothing_is_said_are_not_counted(silent: Task) -> None:
    assert words([with_p(0.03), silent])[0] == POSITIVE


def test_collapsed_tasks_are_not_counted() -> None:
    chance = task(0.0, 0.0, error=0.02)
    assert words([with_p(0.03), chance], [False, True]) == [POSITIVE, DEGENERATE]
    assert words([chance, with_p(0.03)], [True, False]) == [DEGENERATE, POSITIVE]


def test_without_the_state_of_no_source_only_help_can_be_told() -> None:
    for mean, word in ((0.02, POSITIVE), (0.0, INCONCLUSIVE), (-0.02, INCONCLUSIVE)):
        verdict = judge({"noise": around(mean)})
        assert verdict.transfer is word
        assert verdict.p_hurts == 1.0


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("trials", [6, 20])
def test_equal_is_two_one_sided_tests(side: int, trials: int) -> None:
    half = 0.7 * MARGIN  # of the 90 % interval, wide enough to leave no other word
    error = half / float(stats.t(trials - 1).ppf(0.95))
    wave = np.array([-1.0, 1.0] * (trials // 2)) * error * math.sqrt(trials - 1)
    for inside in (-1e-6, 1e-6):
        found = side * (MARGIN - half - inside) + wave
        p_values = [
            stats.ttest_1samp(found, -MARGIN, alternative="greater").pvalue,
            stats.ttest_1samp(found, MARGIN, alternative="less").pvalue,
        ]
        equal = max(p_values) < 0.05
        assert equal == (inside > 0)
        gains = {NO_SOURCE: gain_of(found), "noise": around(0.0)}
        assert judge(gains).transfer is (NO_EFFECT if equal else INCONCLUSIVE)
        assert decide_pair(gains[NO_SOURCE], MARGIN) == (
            NO_EFFECT if equal else INCONCLUSIVE
        )


@pytest.mark.parametrize("n_rows", [20, 500])
def test_rows_that_no_trial_shows_widen_the_interval_of_equal(n_rows: int) -> None:
    # Of n rows without a difference, three in n may differ: a variance of 3 / n^2.
    gain = replace(around(0.0), row=1 / n_rows)
    error = math.hypot(0.001, math.sqrt(3) / n_rows)
    border = float(stats.t(9).ppf(0.95)) * error
    assert decide_pair(gain, border * 1.001) == NO_EFFECT
    assert decide_pair(gain, border * 0.999) == INCONCLUSIVE


@pytest.mark.parametrize("n_others", [0, 3])
def test_the_detectable_gain_is_found_in_four_of_five_studies(n_others: int) -> None:
    rng = np.random.default_rng(n_others)
    chance = [task(0.0, 0.0, error=0.05)] * n_others
    error, trials = 0.02, 10
    quantiles = stats.t(trials - 1).ppf([1 - 0.05 / (1 + n_others), 0.8])
    expected = quantiles.sum() * error / trials**0.5
    found = []
    for values in rng.normal(expected, error, (400, trials)):
        gains = {NO_SOURCE: gain_of(values), "noise": around(1.0)}
        verdict = decide_all([gains, *chance], margin=0.0)[0]
        spread = values.std(ddof=1) / error
        assert verdict.detectable == pytest.approx(expected * spread)
        found.append(verdict.transfer is POSITIVE)
    # Three standard errors of 400 draws are six points.
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("word", [NEGATIVE, NO_EFFECT])
def test_both_forms_of_no_source_must_say_so(word: str) -> None:
    same, other = {NEGATIVE: (-0.02, 0.02), NO_EFFECT: (0.0, 0.02)}[word]
    gains = {"noise": around(0.0)}
    assert (
        judge({NO_SOURCE: around(same), SIZE_MATCHED: around(same), **gains}).transfer
        is word
    )
    assert (
        judge({NO_SOURCE: around(same), SIZE_MATCHED: around(other), **gains}).transfer
        is INCONCLUSIVE
    )
    assert (
        judge({NO_SOURCE: around(other), SIZE_MATCHED: around(same), **gains}).transfer
        is INCONCLUSIVE
    )
    # A study that runs one of them alone has its word from that.
    assert judge({SIZE_MATCHED: around(same), **gains}).transfer is word


def test_verdicts_of_two_measures_agree_or_are_inconclusive() -> None:
    helps, hurts, open_ = map(Verdict, (POSITIVE, NEGATIVE, INCONCLUSIVE))
    assert joint_verdict(helps, helps) == (POSITIVE, "")
    for other in (open_, hurts):
        assert joint_verdict(helps, other) == (INCONCLUSIVE, DISAGREE)
    reasons = [replace(open_, reason=why) for why in (NOT_SPECIFIC, NOT_DECIDED)]
    assert joint_verdict(*reasons) == (INCONCLUSIVE, NOT_DECIDED)
    assert joint_verdict(*reasons[:1] * 2) == (INCONCLUSIVE, NOT_SPECIFIC)


@pytest.mark.parametrize(
    ("gains", "reason"),
    [
        ({NO_SOURCE: 0.05, SIZE_MATCHED: 0.05, "noise": -0.05}, NOT_SPECIFIC),
        ({NO_SOURCE: 0.05, SIZE_MATCHED: 0.0, "noise": -0.05}, NOT_DECIDED),
        ({NO_SOURCE: 0.05, "svm-t": 0.0, "noise": -0.05}, NOT_DECIDED),
        ({"noise": -0.05}, NOT_DECIDED),
    ],
)
def test_a_gain_is_unspecific_if_only_a_corrupted_source_does_as_well(
    gains: dict[str, float], reason: str
) -> None:
    verdict = judge({name: around(gain) for name, gain in gains.items()})
    assert (verdict.transfer, verdict.reason) == (INCONCLUSIVE, reason)


def test_no_effect_states_its_margin() -> None:
    assert judge(task(0.0, 0.0)).reason == "within ±1 point"
    assert judge(task(0.0, 0.0), 0.025).reason == "within ±2.5 points"


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_tasks_and_states_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = (NO_SOURCE, "swapped-classes", "noise")
    tasks = [
        {name: gain_of(rng.normal(mean, 0.02, 10)) for name in names}
        for mean in (-0.03, 0.0, 0.02, 0.05)
    ]
    judged = decide_all(tasks, margin=MARGIN)
    turned = [dict(reversed(gains.items())) for gains in reversed(tasks)]
    assert decide_all(turned, margin=MARGIN)[::-1] == judged
