"""Rows on which two fits disagree: the draw, the labels, and one test a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.planted import Planted, PlantedProblem
from cdspp import compare
from cdspp.analysis.best_bet import SETTLED, TARGET_ONLY
from cdspp.analysis.comparison import Comparison
from cdspp.analysis.rows_to_label import SignTest
from cdspp.core.errors import DataError


@pytest.fixture(scope="module")
def problem() -> PlantedProblem:
    size = {"n_classes": 8, "n_labelled": 2, "n_unlabelled": 30, "spread": 1.4}
    return Planted("shared", **size).draw(1)


@pytest.fixture(scope="module")
def found(problem: PlantedProblem) -> Comparison:
    return compare(problem.X, problem.y, source=problem.source)


def filled(found: Comparison, labels: dict[int, object]) -> pd.DataFrame:
    """Return the first rows with labels by their place in the order."""
    rows = found.rows_to_label.head(20).copy()
    rows["label"] = [labels.get(k, "") for k in range(len(rows))]
    return rows


def ask(problem: PlantedProblem, *labelled: pd.DataFrame, **more: object) -> Comparison:
    given = {"X": problem.X, "y": problem.y, "source": problem.source}
    return compare(**{**given, **more}, labelled=labelled)


def test_rows_are_those_where_both_disagree_in_random_order(
    problem: PlantedProblem, found: Comparison
) -> None:
    rows = found.rows_to_label
    assert len(rows) >= 20
    assert (rows[found.candidate] != rows[TARGET_ONLY]).all()
    assert set(rows["row"]) <= set(np.flatnonzero(problem.unlabelled))
    assert rows["row"].is_unique
    assert not rows["row"].is_monotonic_increasing
    assert rows["order"].tolist() == list(range(1, len(rows) + 1))
    assert len(rows) / problem.unlabelled.sum() == found.disagreement


def test_the_test_counts_the_unbroken_run_from_the_top(
    problem: PlantedProblem, found: Comparison
) -> None:
    rows = found.rows_to_label
    labels = {k: rows[found.candidate][k] for k in range(6)}
    labels |= {k: rows[TARGET_ONLY][k] for k in range(7, 20)}  # after a gap
    again = ask(problem, filled(found, labels))
    assert again.test == SignTest(6, 6, 0)
    assert again.test.winner == 0
    assert (again.best_bet, again.evidence) == (found.candidate, SETTLED)
    assert "This test is final" in again.lines[1]
    assert again.expected_gain == found.expected_gain  # no label is held out
    assert not set(again.rows_to_label["row"]) & {rows["row"][k] for k in labels}


def test_the_winner_may_be_the_target_alone(
    problem: PlantedProblem, found: Comparison
) -> None:
    labels = {k: found.rows_to_label[TARGET_ONLY][k] for k in range(8)}
    again = ask(problem, filled(found, labels))
    assert (again.best_bet, again.evidence) == (TARGET_ONLY, SETTLED)
    assert "cdspp.make('target-only')" in again.next_steps[0]


def test_without_a_winner_the_bet_stays(
    problem: PlantedProblem, found: Comparison
) -> None:
    rows = found.rows_to_label
    labels = {k: rows[(found.candidate, TARGET_ONLY)[k % 2]][k] for k in range(8)}
    again = ask(problem, filled(found, labels))
    assert again.test == SignTest(8, 4, 4)
    assert (again.best_bet, again.evidence) == (found.best_bet, found.evidence)
    assert "which settles nothing" in again.lines[1]


def test_rows_once_tested_stay_the_only_ones_of_the_test(
    problem: PlantedProblem, found: Comparison
) -> None:
    rows = filled(found, {k: found.rows_to_label[TARGET_ONLY][k] for k in range(20)})
    rows["tested"] = ["yes"] * 3 + [""] * 17
    assert ask(problem, rows).test == SignTest(3, 0, 3)


def test_a_second_file_is_a_new_batch(
    problem: PlantedProblem, found: Comparison
) -> None:
    labels = {k: found.rows_to_label[TARGET_ONLY][k] for k in range(4)}
    first = filled(found, labels)
    again = ask(problem, first)
    rows = again.rows_to_label
    assert rows["made_of"][0] != found.rows_to_label["made_of"][0]
    second = filled(again, {k: rows[again.candidate][k] for k in range(5)})
    both = ask(problem, first, second)
    assert both.test == SignTest(5, 5, 0)
    with pytest.raises(DataError, match="drawn.*target"):
        ask(problem, second)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": 1.0}, "drawn.*target"),
        ({"scale": "unit"}, "drawn.*source"),
        ({"seed": 1}, "rows.*missing, .*cells.*labels"),
    ],
)
def test_other_tables_or_options_are_refused(
    problem: PlantedProblem, found: Comparison, change: dict, message: str
) -> None:
    rows = filled(found, {0: 0})
    if "X" in change:
        change = {"X": problem.X + 1e-9}
    with pytest.raises(DataError, match=message):
        ask(problem, rows, **change)


def test_changed_rows_are_refused(problem: PlantedProblem, found: Comparison) -> None:
    rows = filled(found, {0: 0})
    for changed in (rows.drop(index=0), rows.assign(row=rows["row"][::-1].tolist())):
        with pytest.raises(DataError, match="rows.*missing, .*cells"):
            ask(problem, changed)
    with pytest.raises(DataError, match="no column 'label'"):
        ask(problem, rows.drop(columns="label"))
    with pytest.raises(DataError, match="'cat' .*classes 0, 1, 2"):
        ask(problem, filled(found, {0: "cat"}))
    shuffled = rows.sample(frac=1.0, random_state=0)  # as a spreadsheet sorts
    assert ask(problem, shuffled).test == ask(problem, rows).test


def test_a_sign_test_is_exact_and_one_sided() -> None:
    assert SignTest(9, 5, 0).p_value == pytest.approx(1 / 32)
    assert SignTest(9, 5, 0).winner == 0
    assert SignTest(9, 0, 5).winner == 1
    assert SignTest(9, 4, 0).winner is None
    assert SignTest(10, 8, 2).p_value == pytest.approx(56 / 1024)
    assert SignTest(10, 8, 2).winner is None
    assert SignTest(3, 0, 0).p_value == 1.0
