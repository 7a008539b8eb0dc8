"""What is said in words: a sentence for each verdict, and what goes with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.report_data import make_plan
from support.score_data import Cells, TrialSets, as_frame

from cdspp.analysis.answers import reference_answer, tally, verdict_of
from cdspp.analysis.source_help import by_task, compare_with_rivals
from cdspp.analysis.verdicts import joint_verdict

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
    return compare_with_rivals(as_frame(cells, collapsed), plan)


HELPED = {"none": around(0.02), "noise": around(0.01)}
HURT = {"none": around(-0.02), "noise": around(0.01)}
LEVEL = {"none": around(0.0), "noise": around(0.001)}
OPEN = {"none": around(0.001, SHAKY), "noise": around(0.0, SHAKY)}
FEW = {"none": around(0.02, SHAKY, 4), "noise": around(0.01, SHAKY, 4)}
ALONE = "over no source it gains"
SENTENCES = {
    "helps": (
        HELPED,
        f"The source helps CDSPP: {ALONE} 2.0 points (95 % interval 1.8 to 2.2), over "
        "noise 1.0 points (95 % interval 0.8 to 1.2).",
    ),
    "hurts": (
        HURT,
        f"The source hurts CDSPP: {ALONE} −2.0 points (95 % interval −2.2 to −1.8).",
    ),
    "equal": (
        LEVEL,
        f"The source makes no difference to CDSPP beyond the margin: {ALONE} 0.0 "
        "points (95 % interval −0.2 to 0.2).",
    ),
    # 1.833 standard errors of two points each are called a help, 0.883 more are found
    # with a power of 80 %.
    "undecided": (
        OPEN,
        "The trials leave open whether the source helps CDSPP: "
        f"{ALONE} 0.1 points (95 % interval −4.4 to 4.6), over noise 0.0 points (95 % "
        "interval −4.5 to 4.5); minimum detectable gain 5.4 (80 % power).",
    ),
    "too few trials": (
        FEW,
        "There are too few trials (fewer than 5) to say whether the source helps "
        "CDSPP.",
    ),
    "not asked": ({}, "Not asked: no other source state was run."),
}


@pytest.mark.parametrize("word", SENTENCES)
def test_every_verdict_has_its_sentence(word: str) -> None:
    gains, sentence = SENTENCES[word]
    found = told(a_b=gains)
    assert verdict_of(found) == word
    assert reference_answer(found) == sentence


def test_of_collapsed_fits_nothing_is_said_but_what_to_do() -> None:
    found = told({("none", "cdspp"): {"a_b": [1, 2]}}, a_b=HELPED)
    assert verdict_of(found) == "collapsed"
    assert reference_answer(found) == (
        "No statement on CDSPP, because fits collapsed or diverged: centre or scale "
        "features."
    )


def test_of_several_tasks_the_verdicts_are_counted_after_the_average() -> None:
    found = told(a_b=HELPED, b_a=HELPED, a_c=OPEN, c_a=HURT, b_c=LEVEL)
    said = reference_answer(found)
    assert said.startswith(
        "On average over 5 tasks the trials leave open whether the source helps CDSPP: "
        "over no source it gains 0.4 points"
    )
    assert said.endswith(
        "Task by task: helps on 2, hurts on 1, equal on 1, undecided on 1."
    )
    assert tally(found) == {"helps": 2, "hurts": 1, "equal": 1, "undecided": 1}
    assert verdict_of(by_task(found)["c_a"]) == "hurts"


def with_measures(**words: str) -> pd.DataFrame:
    """Return comparisons whose verdict was made from other words of both measures."""
    found = told(a_b=HELPED)
    return found.assign(
        verdict=joint_verdict(words["accuracy"], words["balanced"]),
        accuracy_verdict=words["accuracy"],
        balanced_verdict=words["balanced"],
        balanced_gain=-0.065,
    )


def test_where_measures_differ_both_words_and_numbers_are_said() -> None:
    assert reference_answer(with_measures(accuracy="helps", balanced="hurts")) == (
        "Whether the source helps CDSPP depends on the measure: helps by accuracy "
        "(+2.0 points over no source), hurts by balanced accuracy (−6.5 points)."
    )
    same = with_measures(accuracy="helps", balanced="helps")
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
    alike = reference_answer(pd.concat([default, selected.assign(verdict="equal")]))
    assert alike.endswith("selected on the labelled rows, the verdict is the same.")
