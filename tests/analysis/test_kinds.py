"""The opening: a line for each kind of transfer, and one sentence."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report_data import draw_comparisons, make_plan, score_rows
from support.score_data import Cells, TrialSets, as_frame

from cdspp.analysis.kinds import (
    MOST_WORDS,
    KindOfTransfer,
    MethodTransfer,
    Opening,
    count_verdicts,
    every_method,
    kind_lines,
    opening,
    statement,
)
from cdspp.analysis.pairwise import compare_pairwise
from cdspp.analysis.source_help import gains_over_comparators
from cdspp.analysis.transfer import Transfer
from cdspp.methods import register_external
from cdspp.study.config import register_external_methods

MODULE = """
class Mine:
    def fit(self, X, y, *, source):
        return self

    def predict(self, X):
        return [0] * len(X)
"""
PAIRED = {"bridge": {"paired_rows": 5}}
SPREAD = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
BASIC = ("svm-t", "cdspp", "paired-map", "procrustes")
STATES = ("none", "noise")


def opened(
    methods: tuple[str, ...] = BASIC,
    states: tuple[str, ...] = STATES,
    collapsed: TrialSets | None = None,
    trials: int = 5,
    reference: str = "cdspp",
    scatter: float = 1.0,
    **accuracy: float,
) -> Opening:
    """Open a study of a task; accuracies by method, and ``none_<method>`` by state."""
    known = {name.replace("_", "-"): value for name, value in accuracy.items()}
    names = (*methods, "target-only")
    mine = {name: ("none", "noise", "shuffled-pairs") for name in ("paired-map",)}
    plan = make_plan(
        tasks=["a_b"],
        methods=methods,
        states=states,
        own_states=mine if states else None,
        trials=trials,
        reference=reference,
        **PAIRED,
    )
    cells: Cells = {}
    for place, row in enumerate(plan.rows):
        state = "" if row.setting == "main" else f"{row.setting}-"
        value = known.get(f"{state}{row.method}", 0.5 if state else 0.6)
        cells[row.setting, row.method] = {
            "a_b": list(value + SPREAD[:trials] * scatter * (1 + place / 9))
        }
    assert {row.method for row in plan.rows} <= set(names)
    scores = as_frame(cells, collapsed)
    return opening(gains_over_comparators(scores, plan), compare_pairwise(scores, plan))


def told(found: Opening) -> list[tuple[str, str, str]]:
    return [(kind.title, kind.of.method, kind.of.verdict.word) for kind in found.kinds]


def test_the_method_that_is_not_beaten_is_named_where_trials_do_not_decide() -> None:
    found = opened(paired_map=0.7, procrustes=0.5, target_only=0.695, scatter=3)
    [paired] = (kind.of for kind in found.kinds if kind.title == "5 paired rows")
    assert re.match(
        r"trials do not decide \(\+0\.\d over target-only; min", paired.reason
    )


def test_a_line_with_fewer_trials_than_others_says_so() -> None:
    found = opened()
    of = replace(found.kinds[0].of, trials=3)
    assert {kind.fewer for kind in found.kinds} == {""}
    fewer = KindOfTransfer("labels only", of, fewer="3 trials")
    assert fewer.subtitle("m") == "m, 3 trials"
    assert replace(fewer, title=of.method).subtitle("m") == "3 trials"


def labels_only(found: Opening) -> MethodTransfer:
    [of] = (kind.of for kind in found.kinds if kind.title == "labels only")
    return of


def test_the_study_names_the_method_of_a_kind_whatever_the_results() -> None:
    found = opened(paired_map=0.8, procrustes=0.9, cdspp=0.7, target_only=0.65)
    assert told(found) == [
        ("5 paired rows", "paired map", "positive transfer"),
        ("labels only", "CDSPP", "positive transfer"),
    ]
    assert [kind.of_kind for kind in found.kinds] == [
        "2 positive transfer",
        "",
    ]


def test_a_gain_is_over_the_methods_own_fit_without_a_source() -> None:
    found = opened(paired_map=0.8, none_paired_map=0.75, procrustes=0.5, cdspp=0.7)
    [paired] = (kind.of for kind in found.kinds if kind.title == "5 paired rows")
    assert found.title == "Digits"
    assert (paired.accuracy, paired.gain) == pytest.approx((0.8, 0.05))
    assert paired.low < paired.gain < paired.high
    assert labels_only(found).gain == pytest.approx(0.1)  # target-only is at 60 %


@pytest.mark.parametrize(
    ("accuracy", "best"),
    [
        ({"target_only": 0.65}, "target-only"),
        ({"svm_t": 0.95}, "SVM_t"),
        ({"none_paired_map": 0.95}, "paired map"),
    ],
)
def test_the_best_without_a_source_is_of_all_fits_without_one(
    accuracy: dict[str, float], best: str
) -> None:
    found = opened(**accuracy)
    assert (found.without, found.n_without) == (best, 4)
    assert found.accuracy == pytest.approx(max(accuracy.values()))
    assert found.without_text.endswith(f"({best}), best of 4 fits on these test rows")


def test_every_method_has_its_strongest_control_and_its_verdict() -> None:
    plan = make_plan(methods=("svm-t", "cdspp", "dama"))
    found = draw_comparisons(plan, source_helps=0.06)
    pairs = compare_pairwise(score_rows(plan, source_helps=0.06), plan)
    methods = {each.row: each for each in every_method(found, pairs)}
    assert {each.kind for each in methods.values()} == {"labels only"}
    cdspp, dama = methods["cdspp"], methods["dama"]
    assert (cdspp.verdict, cdspp.reason) == (Transfer.POSITIVE, "")
    assert cdspp.strongest_gain > 0.05
    assert (dama.verdict, dama.reason) == (Transfer.NO_EFFECT, "within ±1 point")


def reasons(verdict: Transfer = Transfer.INCONCLUSIVE, **options: Any) -> str:
    of = labels_only(opened(**options))
    assert of.verdict is verdict
    return of.reason


def test_what_is_open_says_why() -> None:
    assert reasons(states=()) == "controls not run"
    assert reasons(trials=3) == "fewer than five trials"
    near = {"cdspp": 0.6, "none_cdspp": 0.6, "noise_cdspp": 0.6, "target_only": 0.6}
    assert reasons(Transfer.NO_EFFECT, **near) == "within ±1 point"
    wide = reasons(**near, scatter=20)
    assert re.fullmatch(
        r"trials do not decide \(minimum detectable gain \d+\.\d at 80 % power\)", wide
    )
    fell: TrialSets = {("main", "cdspp"): {"a_b": [1, 2, 3]}}
    assert reasons(collapsed=fell) == "degenerate fits"
    noise = reasons(cdspp=0.7, noise_cdspp=0.8)
    assert noise == "gain not specific to the source's labels (−10.0 over noise)"


def test_where_the_source_hurts_the_line_says_so() -> None:
    of = labels_only(opened(cdspp=0.5, target_only=0.8, noise_cdspp=0.5))
    assert (of.verdict, of.reason) == (Transfer.NEGATIVE, "")


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Register a method from outside, and return its name."""
    (tmp_path / "outside_cdspp.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    entry = {"id": "mine", "class": "outside_cdspp:Mine"}
    assert not list(register_external_methods({"methods": [entry]}))
    yield "mine"
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]
    sys.modules.pop("outside_cdspp", None)
    register_external({})


def test_a_reference_from_outside_leads_with_a_line_of_its_own(outside: str) -> None:
    found = opened((*BASIC, outside), reference=outside, cdspp=0.7, mine=0.55)
    assert found.kinds[0].own
    assert found.kinds[0].of.gain < found.kinds[1].of.gain
    assert [kind.title for kind in found.kinds[1:]] == ["5 paired rows", "labels only"]
    assert labels_only(found).method == "CDSPP"


def test_without_a_control_there_is_no_gain() -> None:
    plan = make_plan(methods=("cdspp", "dama"), states=(), trials=3)
    scores = score_rows(plan)
    found = opening(
        gains_over_comparators(scores, plan), compare_pairwise(scores, plan)
    )
    assert told(found) == [("labels only", "CDSPP", "inconclusive")]
    assert math.isnan(found.kinds[0].of.gain)
    assert (found.without, found.n_without) == ("", 0)
    lines = kind_lines(found)
    assert len(lines) == 3
    assert "–" in lines[1]
    assert lines[2] == "  all methods, labels only: 2 inconclusive"


def test_methods_with_degenerate_fits_or_few_trials_represent_no_kind() -> None:
    fell: TrialSets = {("main", "paired-map"): {"a_b": [1, 2, 3]}}
    found = opened(collapsed=fell, paired_map=0.9, procrustes=0.8)
    [kind] = (kind for kind in found.kinds if kind.title == "5 paired rows")
    assert kind.of.method == "Procrustes"


def line(
    kind: str, verdict: Transfer, gain: float = 0.1, method: str = "m"
) -> KindOfTransfer:
    numbers = 0.8, gain, gain - 0.01, gain + 0.01, 10, "none", gain
    of = MethodTransfer(method, kind, method, *numbers, verdict, "")
    return KindOfTransfer(kind, of, own=method == "mine")


def test_the_sentence_names_the_methods_and_never_speaks_of_all() -> None:
    pairs = line("5 paired rows", Transfer.POSITIVE)
    labels = line("labels only", Transfer.INCONCLUSIVE, 0.0, "CDSPP")
    both = Opening("A", (pairs, labels))
    assert statement([both]) == (
        "The source helps m (5 paired rows); inconclusive for CDSPP (labels only)."
    )
    hurt = Opening("B", (line("labels only", Transfer.NEGATIVE, -0.1, "CDSPP"),))
    assert statement([hurt]) == "The source hurts CDSPP (labels only)."
    assert statement([both, hurt]) == (
        "The source helps m (5 paired rows) on A; the source hurts CDSPP (labels only) "
        "on B; inconclusive for CDSPP (labels only) on A."
    )
    none = Opening("C", (line("labels only", Transfer.NO_EFFECT, 0.0),))
    assert statement([none]) == "No effect of the source on m (labels only)."
    assert kind_lines(none)[1].endswith("■ no effect")


def test_a_long_sentence_becomes_counts() -> None:
    many = [
        Opening(
            f"A long title {i}",
            (
                line("5 paired rows", verdict),
                line("labels only", Transfer.INCONCLUSIVE, method="CDSPP"),
            ),
        )
        for i, verdict in enumerate((*Transfer, Transfer.INCONCLUSIVE))
    ]
    text = statement(many)
    assert text == (
        "On 5 benchmarks, with 10 lines by kind of transfer: positive transfer 1, "
        "negative transfer 1, no effect 1, inconclusive 7."
    )
    assert len(text.split()) <= MOST_WORDS == 40


def test_nothing_that_ran_is_told_apart_from_nothing_with_a_source() -> None:
    assert statement([]) == "Nothing was run yet."
    plan = make_plan(methods=("svm-t",), states=())
    scores = score_rows(plan)
    found = opening(
        gains_over_comparators(scores, plan), compare_pairwise(scores, plan)
    )
    assert found.kinds == ()
    assert statement([found]) == "No method that ran uses a source."


def test_methods_are_counted_by_verdict() -> None:
    plan = make_plan(methods=("svm-t", "cdspp", "dama"))
    found = draw_comparisons(plan, source_helps=0.06)
    assert count_verdicts("Digits", found) == (
        "Digits, 2 methods with controls: positive transfer 1, no effect 1."
    )
    unasked = draw_comparisons(make_plan(states=()))
    assert count_verdicts("Digits", unasked) == ""
