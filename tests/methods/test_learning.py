"""What every method learns: from clear classes, few labels, which rows, which seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from support.every_case import check_all
from support.quick_methods import (
    description_of,
    every_form,
    method_of,
    numbers_of,
    options_for,
    quick,
    reason,
)
from support.toy_problem import (
    WIDE,
    ToyProblem,
    some_rows,
    some_source,
    toy_problem,
    variant,
)

from cdspp.methods import available, option_defaults

pytestmark = pytest.mark.usefixtures("few_trees")

# What the description of a method may list under `cannot_learn`.
CLEAR, ONE_DOMAIN = "clear classes", "classes of one domain"
NO_UNLABELLED = "no unlabelled rows"
# With one label per class the score of each held-out row has the wrong sign.
FEW_FOLDS = dict.fromkeys(
    ("svm-t platt", "svm-t platt raw"), "its folds need rows of each class"
)
SEPARATED: Mapping[str, ToyProblem] = {
    "wide source": toy_problem(spread=0.3, d_source=80),
    "wide target": toy_problem(spread=0.3, d_target=80),
    "3 target features": toy_problem(n_classes=3, d_target=3, spread=0.1, seed=2),
}


def fitted(form: str, problem: ToyProblem, topic: str, **also: Any) -> Any:
    """Return a fitted method that can learn, or skip with the reason why not.

    It has enough iterations or little enough regularisation to tell the classes apart.
    """
    if why := reason(description_of(form).cannot_learn, topic):
        pytest.skip(why)
    return problem.fit(quick(form, **options_for(form, "able"), **also))


@every_form
def test_separated_classes_are_all_recognised(form: str) -> None:
    def check(name: str) -> None:
        model = fitted(form, SEPARATED[name], CLEAR)
        assert SEPARATED[name].accuracy(model) == 1.0

    check_all(SEPARATED, check)


@every_form
def test_one_label_a_class_is_enough(form: str) -> None:
    if form in FEW_FOLDS:
        pytest.skip(FEW_FOLDS[form])

    for shape, spread in (({}, 0.6), (WIDE, 0.3)):
        few = {"source_per_class": 1, "labelled_per_class": 1, "spread": spread}
        problem = toy_problem(**few, **shape)
        model = fitted(form, problem, CLEAR)
        assert problem.accuracy(model) > 0.5


@every_form
def test_a_class_that_the_source_lacks_is_recognised(form: str) -> None:
    if description_of(form).class_of_target_only == "refused":
        pytest.skip("it refuses an incomplete domain")

    problem = toy_problem(spread=0.2)
    partial = some_source(problem, problem.source.y != 1)
    model = fitted(form, partial, ONE_DOMAIN)
    assert problem.accuracy(model) == 1.0


@every_form
def test_classes_are_recognised_beside_one_that_the_target_lacks(form: str) -> None:
    if description_of(form).class_of_source_only == "refused":
        pytest.skip("it refuses an incomplete domain")

    problem = toy_problem(spread=0.2)
    partial = some_rows(problem, problem.y != 1)
    model = fitted(form, partial, ONE_DOMAIN)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    right = model.transduction_ == partial.truth
    assert right[partial.truth != 1].mean() > 0.9
    if description_of(form).class_of_source_only == "never":
        assert 1 not in model.transduction_


@every_form
def test_without_unlabelled_rows_a_method_learns_for_later(form: str) -> None:
    problem = toy_problem(spread=0.2)
    known = some_rows(problem, problem.labelled)
    has_final_fit = "final_fit" in option_defaults(method_of(form))
    for options in [{}, {"final_fit": True}][: 1 + has_final_fit]:
        model = fitted(form, known, NO_UNLABELLED, **options)
        assert {len(entry.prediction) for entry in model.history_} == {0}
        # More where iterations change more than the labels of unlabelled rows.
        assert len(model.history_) == description_of(form).tests.get("iterations", 1)
        np.testing.assert_array_equal(model.transduction_, known.y)
        if not model.transductive:
            np.testing.assert_array_equal(model.predict(problem.X), problem.truth)


@every_form
def test_the_source_is_looked_at_as_declared(form: str) -> None:
    problem = toy_problem(spread=1.0, unlabelled_per_class=40)
    drawn = np.random.default_rng(1).standard_normal(problem.source.X.shape)
    reads = description_of(form).reads_of_source
    changes: Mapping[str, Any] = {
        "rows": {"X_source": drawn},
        "labels": {"y_source": np.roll(problem.source.y, 5)},
    }
    expected = problem.fit(quick(form, 256)).transduction_
    for part, change in changes.items():
        found = variant(problem, **change).fit(quick(form, 256)).transduction_
        assert (found != expected).any() == (part in reads)


def result(form: str, seed: Any) -> tuple[bytes, bytes]:
    """Return the labels and all numbers of a fit to classes that overlap."""
    problem = toy_problem(spread=1.0, unlabelled_per_class=40)
    model = problem.fit(quick(form, random_state=seed, **options_for(form, "seeded")))
    numbers = b"".join(values.tobytes() for values in numbers_of(model))
    return model.transduction_.tobytes(), numbers


@pytest.mark.parametrize(
    "form", [name for name in available() if "random_state" in option_defaults(name)]
)
def test_the_seed_decides_and_nothing_else(form: str) -> None:
    found = [result(form, seed) for seed in range(4)]
    assert len(set(found)) == 4
    assert len({labels for labels, _ in found}) > 1
    assert result(form, 2) == found[2]
    state = np.random.RandomState
    assert result(form, state(3)) == result(form, state(3))
    assert result(form, None) != result(form, None)
