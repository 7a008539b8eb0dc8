"""What is said in words: a sentence for each verdict, and what goes with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.report_data import make_plan
from support.score_data import Cells, TrialSets, as_frame

from cdspp.analysis.answers import reference_answer, tally, verdict_of
from cdspp.analysis.source_help import by_task, gains_over_comparators
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import Verdict, joint_verdict

Gains = dict[str, Any]
SURE = 0.001  # a standard error, in fractions; one of SHAKY leaves all open
SHAKY = 0.02


def around(mean: float, error: float = SURE, trials: int = 10) -> np.ndarray:
    """Return differences of an even number of trials with this mean and error."""
    return mean + np.array([-1.0, 1.0] * (trials // 2)) * error * np.sqrt(trials - 1)


def told(collapsed: TrialSets | None = None, **tasks: Gains) -> pd.DataFrame:
    """Compare a reference that has these gains over other states, by task."""
    states = list(dict.fromkeys(state for gains in tasks.values() for state in gains))
    trials = max(
        (len(v) for gains in tasks.values() for v in gains.values()), default=3
    )
    plan = make_plan(
        tasks=list(tasks),
        methods=("cdspp",),
        states=states,
        target_only=False,
        trials=trials,
    )
    cells: Cells = {
        ("main", "cdspp"): {task: [0.7] * trials for task in tasks},
        **{
            (state, "cdspp"): {
                task: list(0.7 - gains[state]) for task, gains in tasks.items()
            }
            for state in states
        },
    }
    return gains_over_comparators(as_frame(cells, collapsed), plan)


HELPED = {"none": around(0.02), "noise": around(0.01)}
HURT = {"none": around(-0.02), "noise": around(0.01)}
LEVEL = {"none": around(0.0), "noise": around(0.001)}
OPEN = {"none": around(0.001, SHAKY), "noise": around(0.0, SHAKY)}
FEW = {"none": around(0.02, SHAKY, 4), "noise": around(0.01, SHAKY, 4)}
NONE = "over no source it gains"
SENTENCES = {
    Transfer.POSITIVE: (
        HELPED,
        f"The source helps CDSPP: {NONE} 2.0 points (95 % interval 1.8 to 2.2), over "
        "noise 1.0 points (95 % interval 0.8 to 1.2).",
    ),
    Transfer.NEGATIVE: (
        HURT,
        f"The source hurts CDSPP: {NONE} −2.0 points (95 % interval −2.2 to −1.8).",
    ),
    Transfer.NO_EFFECT: (
        LEVEL,
        f"No effect of the source on CDSPP, within ±1 point: {NONE} 0.0 points "
        "(95 % interval −0.2 to 0.2).",
    ),
}
# 1.833 standard errors of two points each are called a help, 0.883 more are found with
# a power of 80 %.
REASONS = {
    "open": (
        OPEN,
        "Inconclusive for CDSPP, trials do not decide (minimum detectable gain 5.4 at "
        f"80 % power): {NONE} 0.1 points (95 % interval −4.4 to 4.6), over noise 0.0 "
        "points (95 % interval −4.5 to 4.5).",
    ),
    "few": (FEW, "Inconclusive for CDSPP, fewer than five trials."),
    "not run": ({}, "Inconclusive: controls not run."),
    "unspecific": (
        {"none": around(0.02), "noise": around(-0.01)},
        "Inconclusive for CDSPP, gain not specific to the source's labels (−1.0 over "
        f"noise): {NONE} 2.0 points (95 % interval 1.8 to 2.2), over noise −1.0 "
        "points (95 % interval −1.2 to −0.8).",
    ),
}


@pytest.mark.parametrize("verdict", SENTENCES)
def test_every_verdict_has_its_sentence(verdict: Transfer) -> None:
    gains, sentence = SENTENCES[verdict]
    found = told(a_b=gains)
    assert verdict_of(found) is verdict
    assert reference_answer(found) == sentence


@pytest.mark.parametrize("case", REASONS)
def test_an_inconclusive_verdict_has_its_reason(case: str) -> None:
    gains, sentence = REASONS[case]
    found = told(a_b=gains)
    assert verdict_of(found) is Transfer.INCONCLUSIVE
    assert reference_answer(found) == sentence


def test_of_degenerate_fits_nothing_is_said_but_what_to_do() -> None:
    found = told({("none", "cdspp"): {"a_b": [1, 2]}}, a_b=HELPED)
    assert verdict_of(found) is Transfer.INCONCLUSIVE
    assert reference_answer(found) == (
        "Inconclusive for CDSPP, degenerate fits. Centre or scale the features."
    )


def test_of_several_tasks_the_verdicts_are_counted_after_the_average() -> None:
    found = told(a_b=HELPED, b_a=HELPED, a_c=OPEN, c_a=HURT, b_c=LEVEL)
    said = reference_answer(found)
    assert said.startswith("On average over 5 tasks inconclusive for CDSPP, trials do")
    assert "over no source it gains 0.4 points" in said
    assert said.endswith(
        "Task by task: positive transfer on 2, negative transfer on 1, no effect on 1, "
        "inconclusive on 1."
    )
    counts = {"positive transfer": 2, "negative transfer": 1}
    assert tally(found) == {**counts, "no effect": 1, "inconclusive": 1}
    assert verdict_of(by_task(found)["c_a"]) is Transfer.NEGATIVE


def with_measures(accuracy: Transfer, balanced: Transfer) -> pd.DataFrame:
    """Return comparisons whose verdict was made from other verdicts by measure."""
    found = told(a_b=HELPED)
    verdict, reason = joint_verdict(Verdict(accuracy), Verdict(balanced))
    return found.assign(
        verdict=verdict.word,
        reason=reason,
        accuracy_verdict=accuracy.word,
        balanced_verdict=balanced.word,
        balanced_gain=-0.065,
    )


def test_where_measures_differ_both_words_and_numbers_are_said() -> None:
    sides = Transfer.POSITIVE, Transfer.NEGATIVE
    assert reference_answer(with_measures(*sides)) == (
        "Inconclusive for CDSPP, accuracy and balanced accuracy disagree (positive "
        "transfer, negative transfer): +2.0 points over no source by accuracy, −6.5 "
        "by balanced accuracy."
    )
    same = with_measures(Transfer.POSITIVE, Transfer.POSITIVE)
    assert reference_answer(same).startswith("The source helps CDSPP: over no source")


def test_the_answer_is_that_of_the_defaults_whatever_is_selected() -> None:
    default = told(a_b=LEVEL)
    selected = told(a_b=HELPED).assign(
        row="cdspp, selected", display_name="CDSPP, selected"
    )
    both = pd.concat([default, selected])
    said = reference_answer(both)
    assert said.startswith(reference_answer(default))
    assert said.endswith(
        "With hyper-parameters selected on the labelled rows, the source helps CDSPP: "
        "over no source it gains 2.0 points (95 % interval 1.8 to 2.2), over noise 1.0 "
        "points (95 % interval 0.8 to 1.2)."
    )
    alike = reference_answer(pd.concat([default, selected.assign(verdict="no effect")]))
    assert alike.endswith("selected on the labelled rows, the verdict is the same.")
