"""The opening: a line for each way in which a source comes in, and one sentence."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report_data import draw_comparisons, make_plan, score_rows
from support.score_data import Cells, TrialSets, as_frame

from cdspp.analysis.pairwise import compare_pairwise
from cdspp.analysis.source_help import compare_with_rivals
from cdspp.analysis.ways import (
    MOST_WORDS,
    Opening,
    Way,
    count_helped,
    opening,
    statement,
    way_lines,
)
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
    return opening(compare_with_rivals(scores, plan), compare_pairwise(scores, plan))


def told(found: Opening) -> list[tuple[str, str, str, int]]:
    return [(way.title, way.method, way.word, way.best_of) for way in found.ways]


def test_a_way_has_the_best_of_its_methods_and_the_reference_its_own() -> None:
    found = opened(paired_map=0.9, procrustes=0.8, cdspp=0.7, target_only=0.65)
    assert told(found) == [
        ("5 paired rows", "paired map", "helps", 2),
        ("source labels alone", "CDSPP", "helps", 1),
    ]
    assert (found.title, found.without) == ("Digits", "target-only")
    assert found.accuracy == pytest.approx(0.65)
    first = found.ways[0]
    assert (first.accuracy, first.gain) == pytest.approx((0.9, 0.25))
    assert first.low < first.gain < first.high


def test_the_best_without_a_source_may_be_a_method_that_can_use_one() -> None:
    methods = ("svm-t", "dama")
    found = opened(methods, reference="dama", dama=0.7, svm_t=0.65, none_dama=0.75)
    assert (found.without, found.accuracy) == ("DAMA", pytest.approx(0.75))
    [way] = found.ways
    assert way.gain == pytest.approx(-0.05)


def reasons(**options: Any) -> str:
    [way] = (
        way for way in opened(**options).ways if way.title == "source labels alone"
    )
    assert way.word == "open"
    return way.reason


def test_what_is_open_says_why() -> None:
    assert reasons(states=()) == "no other source was tried"
    assert reasons(trials=3) == "too few trials"
    near = {"cdspp": 0.6, "none_cdspp": 0.6, "noise_cdspp": 0.6, "target_only": 0.6}
    assert reasons(**near) == "no difference beyond the margin"
    wide = reasons(**near, scatter=20)
    assert re.fullmatch(
        r"[+−]\d+\.\d over (no source|noise); minimum detectable gain \d+\.\d", wide
    )
    fell: TrialSets = {("main", "cdspp"): {"a_b": [1, 2, 3]}}
    assert reasons(collapsed=fell) == "fits have collapsed or diverged"


def test_where_the_source_hurts_the_line_says_so() -> None:
    found = opened(cdspp=0.5, target_only=0.8, noise_cdspp=0.5)
    [way] = (way for way in found.ways if way.title == "source labels alone")
    assert (way.word, way.reason) == ("hurts", "")


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
    assert found.ways[0].own
    assert found.ways[0].gain < found.ways[1].gain
    assert [way.title for way in found.ways[1:]] == [
        "source labels alone",
        "5 paired rows",
    ]
    assert found.ways[1].method == "CDSPP"
    assert statement([found]).startswith(("The source", "Whether the source"))


def test_without_a_rival_there_is_no_gain() -> None:
    plan = make_plan(methods=("cdspp", "dama"), states=(), trials=3)
    scores = score_rows(plan)
    found = opening(compare_with_rivals(scores, plan), compare_pairwise(scores, plan))
    assert told(found) == [("source labels alone", "CDSPP", "open", 1)]
    assert math.isnan(found.ways[0].gain)
    assert found.without == ""
    lines = way_lines(found)
    assert len(lines) == 2
    assert "–" in lines[1]


def test_methods_that_collapsed_stand_for_no_way() -> None:
    fell: TrialSets = {("main", "paired-map"): {"a_b": [1, 2, 3]}}
    found = opened(collapsed=fell, paired_map=0.9, procrustes=0.8)
    [way] = (way for way in found.ways if way.title == "5 paired rows")
    assert (way.method, way.best_of) == ("Procrustes", 1)


def line(title: str, word: str, gain: float = 0.1, method: str = "m") -> Way:
    ends = gain - 0.01, gain + 0.01
    return Way(title, method, 0.8, gain, *ends, word, "", own=method == "mine")


def test_the_sentence_names_each_way_once() -> None:
    both = Opening(
        "A", (line("5 paired rows", "helps"), line("source labels alone", "open", 0.0))
    )
    text = "5 paired rows help; whether source labels alone do is open."
    assert statement([both]) == statement([both, both]) == text
    hurt = Opening("B", (line("source labels alone", "hurts", -0.1),))
    assert statement([hurt]) == "Source labels alone hurt."
    assert statement([both, hurt]) == (
        "5 paired rows help; source labels alone on B hurt; whether source labels "
        "alone on A do is open."
    )
    own = Opening(
        "C", (line("mine", "helps", method="mine"), line("5 paired rows", "open"))
    )
    assert (
        statement([own]) == "The source helps mine; whether 5 paired rows help is open."
    )
    named = Opening("D", (line("shared columns", "helps", method="shared columns"),))
    assert statement([named]) == "Shared columns help."
    assert way_lines(named)[1].count("shared columns") == 1
    open_own = Opening("C", (line("mine", "open", method="mine"),))
    assert statement([open_own]) == "Whether the source helps mine is open."


def test_the_sentence_has_at_most_twenty_words() -> None:
    many = [
        Opening(
            f"A long title {i}",
            (line("5 paired rows", word), line("source labels alone", "open")),
        )
        for i, word in enumerate(("helps", "hurts", "open", "open"))
    ]
    text = statement(many)
    assert text == (
        "On 4 benchmarks, of 8 ways the source helps in 1 and hurts in 1; the others "
        "are open: 6."
    )
    assert len(text.split()) <= MOST_WORDS == 20


def test_nothing_that_ran_is_told_apart_from_nothing_with_a_source() -> None:
    assert statement([]) == "Nothing was run yet."
    plan = make_plan(methods=("svm-t",), states=())
    scores = score_rows(plan)
    found = opening(compare_with_rivals(scores, plan), compare_pairwise(scores, plan))
    assert found.ways == ()
    assert statement([found]) == "No method that ran uses a source."


def test_methods_are_counted_by_word() -> None:
    plan = make_plan(methods=("svm-t", "cdspp", "dama"))
    found = draw_comparisons(plan, source_helps=0.06)
    assert count_helped("Digits", found) == (
        "On Digits the source helps 1 of 2 methods and hurts none; 1 is open."
    )
    unasked = draw_comparisons(make_plan(states=()))
    assert count_helped("Digits", unasked) == ""
