"""Rows to label: the least certain first, their labels, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.planted import Planted, PlantedProblem
from cdspp import compare
from cdspp.analysis.comparison import Comparison
from cdspp.core.errors import DataError

pytestmark = pytest.mark.usefixtures("few_candidates")


@pytest.fixture(scope="module")
def problem() -> PlantedProblem:
    size = {"n_classes": 8, "n_labelled": 2, "n_unlabelled": 12, "spread": 1.4}
    return Planted("shared", **size).draw(1)


@pytest.fixture(scope="module")
def found(problem: PlantedProblem) -> Comparison:
    return compare(problem.X, problem.y, source=problem.source)


def filled(
    found: Comparison, problem: PlantedProblem, number: int = 20, start: int = 0
) -> pd.DataFrame:
    """Return rows with their true labels."""
    rows = found.rows_to_label.iloc[start : start + number].copy()
    rows["label"] = problem.truth[rows["row"]]
    return rows


def ask(problem: PlantedProblem, *labelled: pd.DataFrame, **more: object) -> Comparison:
    given = {"X": problem.X, "y": problem.y, "source": problem.source}
    return compare(**{**given, **more}, labelled=labelled)


def test_labels_join_the_fits_and_the_answer_says_what_changed(
    problem: PlantedProblem, found: Comparison
) -> None:
    rows = filled(found, problem)
    again = ask(problem, rows)
    assert again.n_labelled == found.n_labelled
    assert again.n_unlabelled == found.n_unlabelled - 20
    assert again.added.n_rows == 20
    assert again.added.n_right == np.sum(rows["vote"] == rows["label"])
    assert not {*again.rows_to_label["row"]} & {*rows["row"]}
    before = found.rows_to_label.set_index("row")["vote"]
    after = again.rows_to_label.set_index("row")["vote"]
    assert again.added.n_changed == np.sum(before[after.index] != after) > 0
    line = f"Of 20 rows that you labelled, it had {again.added.n_right} right before."
    assert any(text.startswith(line) for text in again.lines)
    labels = again.estimator.transduction_
    assert (labels[rows["row"]] == rows["label"]).all()
    # Weights are those of the first labels: the others are never held out.
    weights = [each.candidates.set_index("method")["weight"] for each in (found, again)]
    pd.testing.assert_series_equal(*weights, check_like=True)


def test_several_rounds_are_given_as_files_or_as_one(
    problem: PlantedProblem, found: Comparison
) -> None:
    first, second = filled(found, problem, 5), filled(found, problem, 5, start=5)
    both = pd.concat([first, second])
    gaps = first.assign(label=first["label"].astype(float)).reindex(first.index[:4])
    one, two = ask(problem, both), ask(problem, gaps, both)
    assert one.added.n_rows == two.added.n_rows == 10
    assert str(one) == str(two)


def test_all_labels_make_the_gain_of_the_source_exact(
    problem: PlantedProblem, found: Comparison
) -> None:
    assert found.source_gain is not None
    assert found.source_gain.low < found.source_gain.high
    every = ask(problem, filled(found, problem, found.n_unlabelled))
    exact = every.source_gain
    assert exact is not None
    assert exact.low == exact.gain == exact.high
    assert exact.unknown == 0
    assert "all of which you labelled: the answer is exact" in every.lines[2]
    assert "No row is unlabelled" in every.lines[-1]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("X", "different target"),
        ("y", "different target"),
        ("source", "different source"),
    ],
)
def test_rows_of_other_tables_are_refused(
    problem: PlantedProblem, found: Comparison, part: str, message: str
) -> None:
    y = problem.y.copy()
    y[np.flatnonzero(y == -1)[0]] = 0
    other = Planted("shared", n_classes=8, n_labelled=2, n_unlabelled=12).draw(2)
    change = {"X": problem.X + 1e-9, "y": y, "source": other.source}[part]
    with pytest.raises(DataError, match=message):
        ask(problem, filled(found, problem), **{part: change})


def test_labels_that_cannot_be_used_are_named(
    problem: PlantedProblem, found: Comparison
) -> None:
    rows = filled(found, problem, 3)
    with pytest.raises(DataError, match="'cat' is not one of the classes 0, 1, 2"):
        ask(problem, rows.assign(label="cat"))
    with pytest.raises(DataError, match="2 problems:\n  - 'cat' (.|\n)*'ox"):
        ask(problem, rows.assign(label=["cat", "ox", "cat"]))
    with pytest.raises(DataError, match="no column 'label'"):
        ask(problem, rows.drop(columns="label"))
    given = np.flatnonzero(problem.y != -1)[:3]
    with pytest.raises(DataError, match="is not an unlabelled row"):
        ask(problem, rows.assign(row=given))
    other = rows.assign(label=(rows["label"] + 1) % 8)
    with pytest.raises(DataError, match="has two labels"):
        ask(problem, rows, other)
