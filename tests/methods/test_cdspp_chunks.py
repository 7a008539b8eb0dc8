"""Rows of a domain in chunks: the solution is that of the rows at once."""

from typing import Any

import numpy as np
import pytest
from support.known_answers.digits_case import digits_case
from support.toy_problem import toy_problem

from cdspp import CDSPP, SourceDomain
from cdspp.methods.cdspp import structure_preserving
from cdspp.methods.cdspp.structure_preserving import (
    ChunkedSolver,
    RowsInUse,
    make_solver,
    solve_projection,
)


# More rows in use than features, and so few less that they are taken as enough.
@pytest.mark.parametrize("d", [6, 40])
def test_a_side_of_chunks_has_the_solution_of_its_rows_at_once(
    d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structure_preserving, "CHUNK_VALUES", 100)
    rng = np.random.default_rng(5)
    X, codes = rng.standard_normal((60, d)), np.arange(60) % 3
    used = np.arange(0, 60, 2)
    parts = [RowsInUse(X[:7], codes[:7]), RowsInUse(X, codes[used], used)]
    assert len([*parts[1].chunks()]) > 1
    found = make_solver(parts, 3, 10.0)
    assert isinstance(found, ChunkedSolver)
    whole = RowsInUse(np.vstack([X[:7], X[used]]), found.codes)
    expected = make_solver([whole], 3, 10.0)
    for one, other in ((found, expected), (expected, found)):
        ours, theirs = (
            solve_projection(one, other),
            solve_projection(expected, expected),
        )
        np.testing.assert_allclose(ours.target, theirs.target, atol=1e-12)
        np.testing.assert_allclose(ours.sources[0], theirs.sources[0], atol=1e-12)
    np.testing.assert_allclose(found.sums, expected.sums, atol=1e-12)


def test_handwritten_digits_get_the_same_labels_in_small_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = digits_case()
    X, y = case.target()
    source = SourceDomain(case.X_source, case.y_source)
    expected = CDSPP().fit(X, y, source=source)
    monkeypatch.setattr(structure_preserving, "CHUNK_VALUES", 2000)
    found = CDSPP().fit(X, y, source=source)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(
        found.projection_, expected.projection_, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_memory_map_is_left_as_it_was(mode: Any, tmp_path: Any) -> None:
    problem = toy_problem(unlabelled_per_class=25)
    np.save(tmp_path / "target.npy", problem.X)
    rows = np.load(tmp_path / "target.npy", mmap_mode=mode)
    source = SourceDomain(rows, np.arange(len(rows)) % 4)
    model = CDSPP().fit(rows, problem.y, source=source)
    model.predict(rows)
    model.transform_source(rows)
    np.testing.assert_array_equal(rows, problem.X)
    np.testing.assert_array_equal(np.load(tmp_path / "target.npy"), problem.X)
