"""Changes that say nothing new about the classes, and who promises not to see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.every_case import check_all
from support.quick_methods import quick
from support.toy_problem import (
    SHAPES,
    ToyProblem,
    renamed,
    scaled,
    shuffled,
    stretched,
    toy_problem,
    turned,
    variant,
)

from cdspp.methods.descriptions import read_descriptions

pytestmark = pytest.mark.usefixtures("few_trees")


class Changed(NamedTuple):
    """A changed problem, and the labels that those of the original turn into."""

    problem: ToyProblem
    translate: Callable[[np.ndarray], np.ndarray] = np.asarray


def in_another_order(problem: ToyProblem) -> Changed:
    """Return the problem with the samples of both domains shuffled."""
    other, order = shuffled(problem)
    return Changed(other, lambda labels: labels[order])


def called(*names: int) -> Callable[[ToyProblem], Changed]:
    """Return what gives the classes other names, in another order."""
    table = np.array(names)
    return lambda problem: Changed(
        renamed(problem, table), lambda labels: table[labels]
    )


def padded(problem: ToyProblem) -> ToyProblem:
    """Return the problem with source features that are always zero."""
    return variant(problem, X_source=np.pad(problem.source.X, ((0, 0), (0, 30))))


def lifted(problem: ToyProblem, more: int) -> Changed:
    """Return the problem rotated, into more dimensions if so wanted."""
    width = max(problem.X.shape[1], problem.source.X.shape[1])
    return Changed(turned(problem, width + more))


CHANGES: Mapping[str, Mapping[str, Callable[[ToyProblem], Changed]]] = {
    "order": {"another order": in_another_order},
    "names": {"names mixed": called(7, 3, 9, 5)},
    "rotation": {
        f"rotation, {more} features more": lambda p, more=more: lifted(p, more)
        for more in (0, 300)
    },
    "lengths": {
        f"lengths, times {factor}": lambda p, f=factor: Changed(stretched(p, f))
        for factor in (1.0, 1e100)
    },
    "scale": {"a domain times three": lambda p: Changed(scaled(p, 3.0, 1 / 3.0))},
    "extremes": {
        f"domains times {factor}": lambda p, f=factor: Changed(scaled(p, f, 1 / f))
        for factor in (1e-200, 1e200)
    },
    "padding": {"features of zeros": lambda p: Changed(padded(p))},
}
KINDS = frozenset(CHANGES)


class Promise(NamedTuple):
    """What a form of a method does not see, and the problems to tell it by."""

    form: str
    kinds: frozenset[str] = KINDS
    spreads: Sequence[float] = (0.6, 1.0)
    shapes: Sequence[str] = ("narrow", "wide")
    options: Mapping[str, Any] = {}
    differing: int = 0
    probabilities: float | None = None
    axes: float | None = None


ORDER, NAMES = frozenset({"order"}), frozenset({"names"})
SCALES = frozenset({"lengths", "scale", "extremes"})

OF_FORMS = [
    Promise("shfa exact", spreads=(0.4,), options={"max_iter": 4}),
    Promise("svm-t platt raw", KINDS - SCALES - ORDER, (1.0,)),
    Promise("svm-t platt", KINDS - ORDER, (1.0,)),
    Promise("svm-t decision raw", KINDS - SCALES, (1.0,)),
    Promise("svm-t decision", KINDS, (1.0,)),
    Promise("svm-t raw", KINDS - SCALES - NAMES, (1.0,)),
]


def dependence(name: str) -> Mapping[str, str]:
    """Return the changes that affect the labels of a method, with the reason."""
    reasons = read_descriptions()[name].depends_on.items()
    return {kind: why for why, kinds in reasons for kind in kinds}


def promises_of(name: str) -> Iterator[Promise]:
    """Yield what a method promises, with the problems of its description."""
    kept = KINDS - dependence(name).keys()
    for problem in read_descriptions()[name].tests.get("problems", [{}]):
        changes = {*problem.get("changes", kept)}
        others = {key: value for key, value in problem.items() if key != "changes"}
        if kinds := kept & changes:
            yield Promise(name, kinds, **others)


PROMISES = [
    *(each for name in read_descriptions() for each in promises_of(name)),
    *OF_FORMS,
]


@cache
def drawn(shape: str, spread: float) -> ToyProblem:
    """Return a problem that leaves some labels in doubt."""
    coded = {"d_source": 60, "d_target": 40, "unlabelled_per_class": 6}
    return toy_problem(spread=spread, **{**SHAPES, "coded": coded}[shape])


@cache
def usual(row: int, shape: str, spread: float) -> Any:
    """Return the method of a promise, fitted on the problem as it is."""
    return drawn(shape, spread).fit(quick(PROMISES[row].form, **PROMISES[row].options))


@pytest.mark.parametrize(
    "row", range(len(PROMISES)), ids=[promise.form for promise in PROMISES]
)
def test_a_change_that_says_nothing_new_is_not_seen(row: int) -> None:
    promise = PROMISES[row]
    changes = [(kind, name) for kind in sorted(promise.kinds) for name in CHANGES[kind]]
    cases = list(product(changes, promise.shapes, promise.spreads))
    check_all(cases, lambda case: check_change(row, *case[0], *case[1:]))


def check_change(row: int, kind: str, change: str, shape: str, spread: float) -> None:
    promise = PROMISES[row]
    problem, expected = drawn(shape, spread), usual(row, shape, spread)
    other, translate = CHANGES[kind][change](problem)
    found = other.fit(quick(promise.form, **promise.options))
    wrong = found.transduction_ != translate(expected.transduction_)
    assert wrong.sum() <= promise.differing
    same = np.testing.assert_allclose
    if promise.probabilities and kind != "names":
        P = translate(expected.predict_proba(problem.X))
        same(found.predict_proba(other.X), P, atol=promise.probabilities)
    if promise.axes:
        same(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    if promise.axes and kind in ORDER | SCALES:
        same(found.projection_, expected.projection_, atol=promise.axes)
