"""Each of several sources left out, on hand-made scores and on planted problems."""

from __future__ import annotations

import numpy as np
from support.report_data import make_plan
from support.score_data import Cells, as_frame

from benchmarks.planted import Planted
from cdspp import CDSPP
from cdspp.analysis.source_help import compare_without_each

TASKS = ("a_c", "a+b_c")
NOISE = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
PLAN = make_plan(
    tasks=TASKS,
    trials=5,
    methods=("svm-t", "cdspp"),
    states=("none",),
)


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
    assert found["verdict"].tolist() == ["helps", "hurts"]
    assert (found["low"] < found["gain"]).all()


def test_p_values_are_corrected_over_the_sources_of_a_task() -> None:
    scores = as_frame(cells(0.685, 0.685, spread=0.95))
    found = compare_without_each(scores, PLAN)
    single = found["p_helps"].to_numpy() / 2
    assert (single < 0.05).all()
    assert found["verdict"].tolist() == ["undecided"] * 2


def test_the_verdict_names_the_one_useful_source_of_three() -> None:
    # With many classes in few dimensions, the source has much to tell.
    size = {"n_classes": 20, "n_latent": 8, "d_source": 40, "spread": 1.0}
    useless = Planted("none", **size)
    sources = {"a": useless.draw(1).source, "c": useless.draw(2).source}
    problem = Planted("shared", n_unlabelled=6, **size).draw(0)
    sources["b"] = problem.source
    accuracy: dict[str, list[float]] = {"nothing": [], "a": [], "b": [], "c": []}
    for trial in range(5):
        split = problem.split(trial)
        for left_out, found in accuracy.items():
            given = [sources[name] for name in "abc" if name != left_out]
            model = CDSPP().fit(split.X, split.y, source=given)
            hits = model.transduction_[split.unlabelled] == split.hidden
            found.append(float(hits.mean()))
    rows = {("main", "cdspp"): {"a+b+c_d": accuracy.pop("nothing")}}
    rows["main", "svm-t"] = {"a+b+c_d": [0.05] * 5}
    for name, found in accuracy.items():
        rows[f"without-{name}", "cdspp"] = {"a+b+c_d": found}
    plan = make_plan(
        tasks=("a+b+c_d",), trials=5, methods=("svm-t", "cdspp"), states=("none",)
    )
    verdicts = compare_without_each(as_frame(rows), plan)["verdict"]
    assert verdicts.eq("helps").tolist() == [False, True, False]
