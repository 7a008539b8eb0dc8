"""Rules for rows to label, and what their labels are said to gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import rows
from benchmarks.decision_cases import judge_draw
from benchmarks.decision_families import FAMILIES
from benchmarks.rows import BATCHES, MARGIN, RULES, Votes, gains
from cdspp.methods.base import UNLABELLED

CLASSES = np.repeat([[0, 1], [0, 1], [1, 2]], 10, axis=0)
MARGINS = np.linspace(0.0, 1.0, 30)
PLACES = np.repeat([0.0, 100.0, 200.0], 10)[:, None] + np.arange(30)[:, None]


def picked(rule: str, n: int) -> list[int]:
    votes = Votes(CLASSES, MARGINS, PLACES)
    rows = RULES[rule](votes, n, np.random.default_rng(0)).tolist()
    assert len({*rows}) == n
    return sorted(rows)


def test_rules_pick_what_their_names_say() -> None:
    assert picked(MARGIN, 4) == [0, 1, 2, 3]
    assert picked("pairs of classes in turn", 2) == [0, 20]
    assert picked("margin and distance", 2) == [0, 10]
    assert max(picked("clusters of the least certain third", 4)) < 10
    assert max(picked("least certain third at random", 4)) < 10
    assert picked("least certain third at random", 4) != [0, 1, 2, 3]
    assert max(picked("random", 8)) >= 10


@pytest.mark.parametrize(("right", "others"), [(False, 0.0), (True, 1.0)])
def test_labelled_rows_count_as_right_and_others_before_and_after(
    monkeypatch: pytest.MonkeyPatch, right: bool, others: float
) -> None:
    draw = FAMILIES["wine, no bridge"].draw(2, 0)
    record = judge_draw(draw, 2, 0)
    wrong = (draw.truth + 1) % 3
    record.transduction[:] = wrong[draw.y == UNLABELLED]

    def vote_again(runs: Any, ballot: Any, final: Any, known: Any) -> Any:
        codes = draw.truth if right and known.any() else wrong
        codes = codes[final.codes == UNLABELLED]
        return codes, np.eye(3)[codes] * np.linspace(0.5, 1, len(codes))[:, None]

    monkeypatch.setattr(rows, "vote_again", vote_again)
    found = [*gains(draw, record)]
    n = len(record.transduction[0])
    for row in found:
        n_labelled = sum(BATCHES[row["batch"]])
        assert row["others"] == others
        assert row["all"] == (1.0 if right else n_labelled / n)
    assert len(found) == 2 * len(BATCHES) + len(RULES) - 2
