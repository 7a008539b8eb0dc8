"""What counts as a collapse, who is told of it, and what ends it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from support.quick_methods import quick
from support.toy_problem import ToyProblem, toy_problem, variant

from cdspp.core.errors import CollapseWarning
from cdspp.methods.base import Float, HeterogeneousClassifier, Int, Iteration, Problem
from cdspp.methods.problem import find_collapse

OFFSET = 40.0


class Foretold(HeterogeneousClassifier):
    """Predicts class 0 for as many rows as told, and class 1 for the rest."""

    identifier = "foretold"
    display_name = "foretold"
    n_first = 0

    def _fit_problem(self, problem: Problem) -> list[Iteration]:
        codes = np.ones(len(problem.X_unlabelled), dtype=np.intp)
        codes[: self.n_first] = 0
        return [Iteration(1, codes)]

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return np.zeros(len(X), dtype=np.intp), None


def foretold(n_first: int, n: int, labels: tuple[int, ...] = (0, 1)) -> Foretold:
    """Fit on two labelled rows and `n` others, `n_first` of them predicted as 0."""
    X = np.random.default_rng(0).standard_normal((n + 2, 3))
    model = Foretold()
    model.n_first = n_first
    return model.fit(X, [*labels, *[-1] * n])


def shifted(problem: ToyProblem, target: float = 0.0, source: float = 0.0) -> Any:
    """Return the problem with a constant added to the features of a domain."""
    X_source = problem.source.X + source
    return variant(problem, X=problem.X + target, X_source=X_source)


def roomy() -> ToyProblem:
    return toy_problem(spread=0.4, unlabelled_per_class=20)


def kinds(problem: ToyProblem, *names: str) -> list[str]:
    """Return what the fits of methods say of a collapse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        return [problem.fit(quick(name)).collapsed_ for name in names]


@pytest.mark.parametrize(("n_first", "n"), [(19, 20), (57, 60), (1, 20), (20, 20)])
def test_one_class_for_95_percent_is_a_collapse(n_first: int, n: int) -> None:
    share = f"{100 * max(n_first, n - n_first) / n:.1f}"
    told = (
        f"Foretold predicts class [01] for {share} % of {n} unlabelled rows, although 2"
    )
    with pytest.warns(CollapseWarning, match=told):
        model = foretold(n_first, n)
    assert model.collapsed_ == "one class"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("n_first", "n"), [(18, 20), (113, 119), (19, 19), (0, 0)])
def test_below_95_percent_or_20_rows_nothing_is_said(n_first: int, n: int) -> None:
    assert foretold(n_first, n).collapsed_ == ""


@pytest.mark.filterwarnings("error")
def test_one_class_is_no_collapse_where_one_is_labelled() -> None:
    assert foretold(40, 40, labels=(0, 0)).collapsed_ == ""


def test_a_fit_warns_once_where_it_was_called() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = shifted(roomy(), OFFSET).fit(quick("cdspp"))
    assert [warning.category for warning in seen] == [CollapseWarning]
    assert seen[0].filename.endswith("toy_problem.py")
    assert model.collapsed_


@pytest.mark.parametrize(("height", "kind"), [(9.94, ""), (9.96, "parallel rows")])
def test_rows_are_parallel_above_a_mean_cosine_of_99_percent(
    height: float, kind: str
) -> None:
    # Half of the rows lean to either side: the mean cosine is h^2 / (h^2 + 1).
    rows = np.tile([[1.0, height], [-1.0, height]], (10, 1))
    assert find_collapse(np.empty(0), 2, {"target": rows}).kind == kind


def test_an_offset_makes_rows_parallel_and_centring_ends_it() -> None:
    problem = shifted(roomy(), OFFSET)
    with pytest.warns(CollapseWarning, match="centre.*scale"):
        collapsed = problem.fit(quick("cdspp"))
    centred = variant(problem, X=problem.X - problem.X.mean(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = centred.fit(quick("cdspp"))
    assert model.collapsed_ == ""
    assert centred.accuracy(model) > problem.accuracy(collapsed) + 0.5


def test_the_source_is_named_where_its_rows_are_parallel() -> None:
    with pytest.warns(CollapseWarning, match="CDSPP .*source rows"):
        model = shifted(roomy(), source=OFFSET).fit(quick("cdspp"))
    assert model.collapsed_ == "parallel rows"


def test_a_method_answers_for_the_rows_that_it_compares() -> None:
    source = shifted(roomy(), source=OFFSET)
    assert kinds(source, "svm-t", "target-only", "cdspp-pca") == ["", "", ""]
    target = shifted(roomy(), target=OFFSET)
    assert kinds(target, "svm-t", "cdspp-pca") == ["parallel rows", ""]
