"""PA: enough directions, weights beyond the arithmetic, its cost."""

from __future__ import annotations

from typing import Any

import pytest
from support.toy_problem import ToyProblem, toy_problem

from cdspp import PA
from cdspp.core.errors import MethodFailed


def wide_toy(**changes: Any) -> ToyProblem:
    """Return a problem with enough directions for more than one coefficient."""
    sizes = {"d_source": 60, "d_target": 40, "spread": 0.4, "unlabelled_per_class": 6}
    return toy_problem(**{**sizes, **changes})


def quick(**options: Any) -> PA:
    """Return PA with few codings and atoms."""
    return PA(**{"n_atoms": 40, "max_iter": 4, "random_state": 0, **options})


@pytest.mark.parametrize(
    ("d_source", "options"), [(60, {}), (40, {}), (40, {"target_axes": "labelled"})]
)
def test_separated_classes_are_recognised(d_source: int, options: Any) -> None:
    problem = wide_toy(d_source=d_source, d_target=100 - d_source)
    model = problem.fit(quick(**options))
    assert problem.accuracy(model) > 0.9
    assert len(model.history_) == model.n_iter_ == 3
    assert all(entry.confidence is None for entry in model.history_)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_weights_beyond_the_arithmetic_are_named() -> None:
    with pytest.raises(MethodFailed, match="lower alpha"):
        wide_toy().fit(quick(alpha=1e308))
