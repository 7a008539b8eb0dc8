"""Every method on inputs at the edge: a defined result, or one reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from support.quick_methods import every_method, quick
from support.toy_problem import ToyProblem, toy_problem, variant

from cdspp import SourceDomain
from cdspp.core.errors import MethodFailed

COMPLETE = ("cdls", "cdls-sup", "ddacl", "ssan", "stn")
MARGIN = ("cdls", "cdls-sup")
EQUAL = {"cdspp-pca": "rows are all equal"}
NO_SOURCE = dict.fromkeys(COMPLETE, "has no source row")
NO_LABEL = dict.fromkeys(COMPLETE, "has no labelled target row")
NO_MARGIN = dict.fromkeys(MARGIN, "no margin separates two classes")
ONE_DIRECTION = {"pa": "rows that differ in as many directions"}
ONE_ROW = {"cdspp-pca": "at least two rows in each domain"}


def with_source(X: np.ndarray, y: np.ndarray) -> ToyProblem:
    """Return the toy problem with another source."""
    return variant(toy_problem(), source=SourceDomain(X, y))


def with_rows(X: np.ndarray) -> ToyProblem:
    """Return the toy problem with other target rows."""
    return variant(toy_problem(), X=X)


def with_labels(kept: np.ndarray) -> ToyProblem:
    """Return the toy problem with the labels of some rows alone."""
    problem = toy_problem()
    return variant(problem, y=np.where(kept, problem.y, -1))


def with_rows_kept(kept: Any) -> ToyProblem:
    """Return the toy problem with some of its target rows."""
    problem = toy_problem()
    rows = {"X": problem.X[kept], "y": problem.y[kept], "truth": problem.truth[kept]}
    return variant(problem, **rows)


X, Y = toy_problem().X, toy_problem().y
X_SOURCE, Y_SOURCE = toy_problem().source.X, toy_problem().source.y
FIRST = np.array([np.flatnonzero(code == Y)[0] for code in range(4)])
FIRST_SOURCE = np.array([np.flatnonzero(code == Y_SOURCE)[0] for code in range(4)])
LABELLED = np.flatnonzero(Y != -1)
ROWS = np.arange(len(X))

# Problem, and the methods that refuse it with their reason; all others label it.
CASES: Mapping[str, tuple[ToyProblem, Mapping[str, str]]] = {
    "a class without a labelled target row": (with_labels(Y != 3), NO_LABEL),
    "a class without a source row": (
        with_source(X_SOURCE[Y_SOURCE != 3], Y_SOURCE[Y_SOURCE != 3]),
        NO_SOURCE,
    ),
    "no class in common": (with_source(X_SOURCE, Y_SOURCE + 10), NO_SOURCE),
    "a class of the source alone": (
        with_source(np.vstack([X_SOURCE, X_SOURCE[:3]]), [*Y_SOURCE, 9, 9, 9]),
        NO_LABEL,
    ),
    "one labelled row": (with_labels(ROWS == 0), NO_LABEL),
    "one labelled row a class": (with_labels(np.isin(ROWS, FIRST)), {}),
    "one source row": (
        with_source(X_SOURCE[:1], Y_SOURCE[:1]),
        NO_SOURCE | ONE_ROW,
    ),
    "one source row a class": (
        with_source(X_SOURCE[FIRST_SOURCE], Y_SOURCE[FIRST_SOURCE]),
        {},
    ),
    "no unlabelled row": (with_rows_kept(LABELLED), {}),
    "one unlabelled row": (with_rows_kept([*LABELLED, len(X) - 1]), {}),
    "every row twice": (with_rows_kept([*ROWS, *ROWS]), {}),
    "equal target rows": (with_rows(np.ones_like(X)), EQUAL),
    "target rows of zeros": (with_rows(np.zeros_like(X)), EQUAL),
    "a target row of zeros": (with_rows(X * (ROWS != 5)[:, None]), {}),
    "a constant target feature": (with_rows(np.hstack([X, np.ones((len(X), 1))])), {}),
    "one target feature": (with_rows(X[:, :1]), ONE_DIRECTION),
    "equal source rows": (
        with_source(np.ones_like(X_SOURCE), Y_SOURCE),
        EQUAL | NO_MARGIN,
    ),
    "source rows of zeros": (
        with_source(np.zeros_like(X_SOURCE), Y_SOURCE),
        EQUAL | NO_MARGIN,
    ),
    "one source feature": (
        with_source(X_SOURCE[:, :1], Y_SOURCE),
        NO_MARGIN | ONE_DIRECTION,
    ),
    "huge values": (
        with_rows(X * 1e300),
        dict.fromkeys(("cdspp-pca", "svm-t"), "overflow"),
    ),
    "tiny values": (with_rows(X * 1e-300), EQUAL),
}


@every_method
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_edge_is_labelled_or_refused_with_a_reason(name: str, case: str) -> None:
    problem, refused = CASES[case]
    model = quick(name)
    if name in refused:
        # Of one row in all scikit-learn expects a ValueError.
        with pytest.raises((MethodFailed, ValueError), match=refused[name]):
            problem.fit(model)
        return
    problem.fit(model)
    assert set(model.transduction_) <= set(model.classes_)
    kept = ~problem.unlabelled
    np.testing.assert_array_equal(model.transduction_[kept], problem.y[kept])
    if hasattr(model, "predict_proba"):
        assert np.isfinite(model.predict_proba(problem.X)).all()
    if hasattr(model, "transform"):
        assert np.isfinite(model.transform(problem.X)).all()
