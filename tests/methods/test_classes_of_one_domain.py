"""What each method does with a class that one domain lacks, and with shares of 10:1."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.quick_methods import description_of, every_method, options_for, quick
from support.toy_problem import ToyProblem, some_rows, some_source, toy_problem

from cdspp.core.errors import MethodFailed

pytestmark = pytest.mark.usefixtures("few_trees")

REFUSED, NEVER, MAY = "refused", "never", "may be predicted"
LEARNED, LOST = "learned", "lost"
# Where a class without a labelled target row is predicted after all; the tests of the
# description of a method may have another place under the key `shown`.
THREE_CLASSES: dict[str, Any] = {"n_classes": 3, "unlabelled_per_class": 8}
USUAL = {"code": 2, "spread": 0.6, "seed": 1}
WIDE = {"d_source": 60, "d_target": 40, "unlabelled_per_class": 15}


@cache
def clear(name: str) -> ToyProblem:
    """Return a problem with clear classes; where components have no use, few axes."""
    shape = {} if description_of(name).tests.get("few_axes") else WIDE
    return toy_problem(spread=0.3, source_per_class=20, **shape)


def labels(name: str, problem: ToyProblem, **options: Any) -> np.ndarray:
    """Return the labels of the unlabelled rows, after a fit of few iterations."""
    model = problem.fit(quick(name, **{**options_for(name, "enough"), **options}))
    return np.asarray(model.transduction_[problem.unlabelled])


def truth(problem: ToyProblem) -> np.ndarray:
    return problem.truth[problem.unlabelled]


@every_method
def test_a_class_of_the_source_only(name: str) -> None:
    where: Any = options_for(name, "shown") or USUAL
    sizes = {**THREE_CLASSES, "source_per_class": 20}
    whole = toy_problem(spread=where["spread"], seed=where["seed"], **sizes)
    code, options = where["code"], where.get("options", {})
    problem = some_rows(whole, ~(whole.labelled & (whole.truth == code)))
    treatment = description_of(name).class_of_source_only
    if treatment == REFUSED:
        with pytest.raises(MethodFailed, match=f"class {code} has no labelled target"):
            labels(name, problem)
    else:
        predicted = code in labels(name, problem, **options)
        assert predicted == (treatment == MAY)
        assert treatment in {MAY, NEVER}, f"class_of_source_only of {name}"


@every_method
def test_a_class_of_the_target_only(name: str) -> None:
    whole, code = clear(name), 1
    problem = some_source(whole, whole.source.y != code)
    treatment = description_of(name).class_of_target_only
    if treatment == REFUSED:
        with pytest.raises(MethodFailed, match=f"class {code} has no source row"):
            labels(name, problem)
        return
    recall = np.mean(labels(name, problem)[truth(problem) == code] == code)
    assert (recall > 0.9) == (treatment == LEARNED)
    assert (recall < 0.5) == (treatment == LOST)


@every_method
def test_ten_times_as_many_source_rows_of_one_class(name: str) -> None:
    whole = clear(name)
    kept = np.r_[0:20, 20:22, 40:42, 60:62]
    problem = some_source(whole, kept)
    share = np.mean(labels(name, problem) == 0)
    assert np.bincount(problem.source.y).tolist() == [20, 2, 2, 2]
    assert (share >= 0.3) == description_of(name).favours_large_class
