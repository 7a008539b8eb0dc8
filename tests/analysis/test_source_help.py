"""Did the source help: the rule, its borders and its sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.report_data import DIGIT_TASKS, draw_summary, make_plan
from support.score_data import as_frame

from cdspp.analysis.source_help import (
    answer,
    by_task,
    compare,
    excludes_zero,
    overall_answer,
    read_comparisons,
    strongest,
    verdict,
)
from cdspp.analysis.summary import summarise

TASK = DIGIT_TASKS[0]


def comparisons(source_helps: float = 0.0, **options: Any) -> pd.DataFrame:
    """Compare the reference with its rivals on drawn scores."""
    return compare(draw_summary(make_plan(**options), source_helps=source_helps))


def test_the_source_helps_only_where_it_beats_the_strongest_control() -> None:
    helped = comparisons(0.06)
    assert answer(helped).startswith(
        "The source helps on 4 of 4 tasks. On average over tasks, the gain of CDSPP"
    )
    assert "the strongest control, is" in answer(helped)
    useless = comparisons(0.0)
    assert answer(useless).startswith("No evidence that the source helps")
    assert overall_answer({"Digits": helped, "Docs": useless}) == (
        "It helps on 4 of 4 tasks of Digits; no evidence that it helps on Docs."
    )


def test_beating_the_baseline_alone_is_no_help() -> None:
    hurt = comparisons(-0.05, tasks=[TASK])
    assert verdict(hurt) == "hurts"
    assert (hurt[hurt["rival_key"] == "svm-t"]["low"] > 0).tolist() == [True]
    assert "it hurts on 1 of 1 task" in answer(hurt)


def test_losing_to_another_control_than_the_target_alone_is_no_harm() -> None:
    cells = {
        ("main", "cdspp"): {TASK: [0.8] * 3},
        ("main", "target-only"): {TASK: [0.7] * 3},
        ("placebo", "cdspp"): {TASK: [0.9] * 3},
    }
    summary = summarise(as_frame(cells), make_plan(tasks=[TASK], trials=3))
    assert verdict(compare(summary)) == "open"


def test_tasks_without_enough_trials_are_counted() -> None:
    missing = [("cdspp", TASK, trial) for trial in range(2, 11)]
    summary = draw_summary(make_plan(), source_helps=0.1, missing=missing)
    told = answer(compare(summary))
    assert "The source helps on 3 of 4 tasks; 1 of 4 tasks still" in told


def test_without_controls_or_trials_the_question_stays_open() -> None:
    bare = comparisons(controls=())
    assert answer(bare) == "Not asked: no control was run."
    single = comparisons(trials=1)
    assert answer(single) == "Too few trials so far to tell."
    nothing = comparisons(methods=("svm-t",), controls=())
    assert answer(nothing) == "Not asked: no control was run."
    titled = {"A": bare, "B": single}
    assert overall_answer(titled) == "Not asked on A; too few trials on B so far."
    assert overall_answer({}) == "Nothing was run yet."


def test_an_interval_that_touches_zero_is_no_evidence() -> None:
    touching = comparisons(0.06, tasks=[TASK]).query("rival_key == 'noise'")
    assert verdict(touching) == "helps"
    assert verdict(touching.assign(gain=0.01, low=0.0, high=0.02)) == "open"
    alone = touching.assign(rival_key="target-only", gain=-0.01, low=-0.02, high=0.0)
    assert verdict(alone) == "open"
    assert verdict(alone.assign(high=-0.001)) == "hurts"
    assert not excludes_zero(next(alone.itertuples()))


def test_the_strongest_control_leaves_the_smallest_gain() -> None:
    found = comparisons(tasks=[TASK])
    controls = found[found["control"]]
    strong = strongest(found)
    assert strong is not None
    assert strong.gain == controls["gain"].min()
    assert strongest(found[~found["control"]]) is None


def test_gains_are_those_of_equal_splits_by_task_and_on_average() -> None:
    summary = draw_summary(make_plan(), missing=[("noise", TASK, 1)])
    groups = by_task(compare(summary))
    assert list(groups) == [*DIGIT_TASKS, "average"]
    assert list(groups[TASK]["rival"]) == ["SVM_t", "target-only", "placebo", "noise"]
    values = summary.accuracy[summary.find("cdspp"), 0]
    noise = summary.accuracy[summary.find("noise"), 0]
    found = groups[TASK].iloc[-1]
    assert found.gain == pytest.approx(np.nanmean(values - noise))
    assert found.trials == groups["average"].iloc[-1].trials == 9


def test_written_comparisons_are_read_back_unchanged(tmp_path: Path) -> None:
    plan = make_plan(title="NA", benchmark="na")
    found = compare(draw_summary(plan, missing=[("noise", TASK, 1)]))
    path = tmp_path / "source-help_na.csv"
    spelt = found["control"].map({True: "true", False: "false"})
    found.assign(control=spelt).to_csv(path, index=False)
    pd.testing.assert_frame_equal(read_comparisons(path), found, check_dtype=False)
