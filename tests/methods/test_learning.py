"""What every method learns: from clear classes, few labels, which rows, which seed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.every_case import check_all
from support.quick_methods import every_form, method_of, numbers_of, quick
from support.toy_problem import (
    SHAPES,
    ToyProblem,
    some_rows,
    some_source,
    toy_problem,
    variant,
)

from cdspp.methods import available, option_defaults

# Enough iterations or little enough regularisation to tell the classes apart.
ABLE: Mapping[str, Mapping[str, Any]] = {
    # Bounded below: the class means of these problems scatter widely.
    "ddacl": {"tau": 0.0005},
    "hfa": {"max_iter": 9},
    "shfa": {"max_iter": 9},
    "ssan": {"max_iter": 120},
    "jmea": {"n_components": 32, "max_iter": 150},
    "stn": {"n_components": 32, "max_iter": 150},
    "kpg-rl-gw": {"C": 10.0},
    "nn-t": {"max_iter": 200},
    "svm-t": {"C": 100.0},
}
FEW_DIRECTIONS = {"pa": "it uses ten atoms fewer than there are directions"}
MISLED = dict.fromkeys(
    (
        *("cdspp-bridge", "easy-adapt", "easy-adapt-plus"),
        *("shared-columns", "shared-columns-plus"),
        *("paired-map", "paired-map-plus", "procrustes"),
    ),
    "the bridge of a toy problem says nothing; see test_bridges.py",
)
# With one label per class the score of each held-out row has the wrong sign.
FEW_FOLDS = dict.fromkeys(
    ("svm-t platt", "svm-t platt raw"), "its folds need rows of each class"
)
COMPLETE = dict.fromkeys(
    ("cdls", "cdls-sup", "ddacl", "jmea", "ssan", "stn"),
    "it refuses an incomplete domain",
)
UNTIED = {"pca-coral": "nothing ties components of one domain to those of the other"}
# Few rows: these plans then find mirrored solutions.
FEW_TIES = dict.fromkeys(
    ("coot", "semi-relaxed-fgw", "ucoot"), "distances alone tie the rows"
)
BALANCED = dict.fromkeys(
    ("coot", "kpg-rl", "kpg-rl-gw", "kpg-rl-kp", "semi-relaxed-fgw", "ucoot"),
    "its plan takes all rows of one domain to the other",
)
SEPARATED: Mapping[str, ToyProblem] = {
    **{name: toy_problem(spread=0.3, **shape) for name, shape in SHAPES.items()},
    **{
        f"{width} target features": toy_problem(
            n_classes=3, d_target=width, spread=0.1, seed=2
        )
        for width in (3, 60)
    },
}
# Their iterations change more than the labels of unlabelled rows.
ITERATIONS_ANYWAY = {"cdls": 2, "ddacl": 2, "tit": 2}
# Of the source, where it is not all of it.
LOOKED_AT = {
    "nn-t": "nothing",
    "svm-t": "nothing",
    "target-only": "nothing",
    "pa": "rows",
}


def fitted(
    form: str, problem: ToyProblem, exempt: Mapping[str, str], **also: Any
) -> Any:
    """Return a fitted method that can learn, or skip with the reason why not."""
    if form in exempt:
        pytest.skip(exempt[form])
    return problem.fit(quick(form, **ABLE.get(method_of(form), {}), **also))


@every_form
def test_separated_classes_are_all_recognised(form: str) -> None:
    def check(name: str) -> None:
        exempt = FEW_DIRECTIONS | MISLED | UNTIED | FEW_TIES
        model = fitted(form, SEPARATED[name], exempt)
        assert SEPARATED[name].accuracy(model) == 1.0

    check_all(SEPARATED, check)


@every_form
def test_one_label_a_class_is_enough(form: str) -> None:
    def check(case: tuple[str, float]) -> None:
        shape, spread = case
        few = {"source_per_class": 1, "labelled_per_class": 1, "spread": spread}
        problem = toy_problem(**few, **SHAPES[shape])
        exempt = FEW_DIRECTIONS | FEW_FOLDS | MISLED | UNTIED | FEW_TIES
        model = fitted(form, problem, exempt)
        assert problem.accuracy(model) > 0.5

    check_all(list(product(("narrow", "wide"), (0.3, 0.6))), check)


@every_form
def test_a_class_that_the_source_lacks_is_recognised(form: str) -> None:
    def check(case: tuple[int, float]) -> None:
        code, spread = case
        problem = toy_problem(spread=spread)
        partial = some_source(problem, problem.source.y != code)
        exempt = COMPLETE | FEW_DIRECTIONS | MISLED | UNTIED | BALANCED
        model = fitted(form, partial, exempt)
        assert problem.accuracy(model) == 1.0

    check_all(list(product((1, 2), (0.1, 0.2))), check)


@every_form
def test_classes_are_recognised_beside_one_that_the_target_lacks(form: str) -> None:
    def check(code: int) -> None:
        problem = toy_problem(spread=0.2)
        partial = some_rows(problem, problem.y != code)
        exempt = COMPLETE | FEW_DIRECTIONS | MISLED | UNTIED | BALANCED
        model = fitted(form, partial, exempt)
        assert model.classes_.tolist() == [0, 1, 2, 3]
        right = model.transduction_ == partial.truth
        assert right[partial.truth != code].mean() > 0.9
        if method_of(form) in LOOKED_AT:
            assert code not in model.transduction_

    check_all((1, 3), check)


@every_form
def test_without_unlabelled_rows_a_method_learns_for_later(form: str) -> None:
    problem = toy_problem(spread=0.2)
    known = some_rows(problem, problem.labelled)
    has_final_fit = "final_fit" in option_defaults(method_of(form))
    for options in [{}, {"final_fit": True}][: 1 + has_final_fit]:
        model = fitted(form, known, MISLED | UNTIED | FEW_TIES, **options)
        assert {len(entry.prediction) for entry in model.history_} == {0}
        assert len(model.history_) == ITERATIONS_ANYWAY.get(form, 1)
        np.testing.assert_array_equal(model.transduction_, known.y)
        if not model.transductive:
            np.testing.assert_array_equal(model.predict(problem.X), problem.truth)


@every_form
def test_the_source_is_looked_at_as_declared(form: str) -> None:
    problem = toy_problem(spread=1.0, unlabelled_per_class=40)
    drawn = np.random.default_rng(1).standard_normal(problem.source.X.shape)
    looked_at = LOOKED_AT.get(method_of(form), "rows and labels")
    changes: Mapping[str, Any] = {
        "rows": {"X_source": drawn},
        "labels": {"y_source": np.roll(problem.source.y, 5)},
    }
    expected = problem.fit(quick(form)).transduction_
    for part, change in changes.items():
        found = variant(problem, **change).fit(quick(form)).transduction_
        assert (found != expected).any() == (part in looked_at)


def result(form: str, seed: Any) -> tuple[bytes, bytes]:
    """Return the labels and all numbers of a fit to classes that overlap."""
    problem = toy_problem(spread=1.0, unlabelled_per_class=40)
    model = problem.fit(quick(form, random_state=seed))
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
