"""Each of several sources left out, on hand-made scores and on planted problems."""

from __future__ import annotations

import numpy as np
from support.report_data import make_plan
from support.score_data import Cells, as_frame

from cdspp.analysis.source_help import compare_without_each

TASKS = ("a_c", "a+b_c")
NOISE = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
PLAN = make_plan(tasks=TASKS, trials=5, methods=("svm-t", "cdspp"), states=("none",))


def cells(without_a: float, without_b: float, spread: float = 0.1) -> Cells:
    """Return accuracies of 70 % with both sources, and others without one."""
    both = [0.7] * 5
    return {
        ("main", "cdspp"): {"a_c": [0.5] * 5, "a+b_c": both},
        ("main", "svm-t"): {"a_c": [0.4] * 5, "a+b_c": [0.4] * 5},
        ("without-a", "cdspp"): {"a+b_c": list(without_a + spread * NOISE)},
        ("without-b", "cdspp"): {"a+b_c": list(without_b + spread * NOISE)},
    }


def test_a_gain_is_that_of_all_sources_over_all_without_one() -> None:
    found = compare_without_each(as_frame(cells(0.6, 0.75)), PLAN)
    assert found[["task", "row", "source"]].to_numpy().tolist() == [
        ["a+b_c", "cdspp", "a"],
        ["a+b_c", "cdspp", "b"],
    ]
    np.testing.assert_allclose(found["gain"], [0.1, -0.05])
    assert found["verdict"].tolist() == ["positive transfer", "negative transfer"]
    assert (found["low"] < found["gain"]).all()


def test_p_values_are_corrected_over_the_sources_of_a_task() -> None:
    scores = as_frame(cells(0.685, 0.685, spread=0.95))
    found = compare_without_each(scores, PLAN)
    single = found["p_helps"].to_numpy() / 2
    assert (single < 0.05).all()
    assert found["verdict"].tolist() == ["inconclusive"] * 2
