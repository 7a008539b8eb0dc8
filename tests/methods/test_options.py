"""Options out of range, of every method: each is named, with the class that has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from support.quick_methods import options_for
from support.toy_problem import toy_problem

from cdspp.methods import available, make, method_class, option_defaults

Values = Mapping[str, list[Any]]

# The nearest value out of range on each side, or one of another type. The tests in the
# description of a method has values for other options, and for options of another range
# there, under `out_of_range`.
OUT_OF_RANGE: Values = {
    "C": [0.0],
    "C_source": [0.0, -1.0],
    "C_target": [0.0],
    "C_unlabelled": [0.0],
    "alpha": [0.0],
    "beta": [-1.0],
    "center": ["yes"],
    "classifier": [object()],
    "delta": [0.0, 1.5],
    "device": [3],
    "eigenvector_scaling": ["two"],
    "epsilon": [0.0],
    "estimator": ["forest"],
    "final_fit": ["no"],
    "gamma": [0.0],
    "keep_projections": [1.5],
    "l2": [1.5],
    "label_cost": [0.0],
    "learning_rate": [0.0],
    "max_inner_iter": [0],
    "max_iter": [0],
    "mixed_normaliser": ["no"],
    "mu": [-0.1],
    "n_atoms": [0],
    "n_components": [0],
    "n_line_searches": [0],
    "target_axes": ["some"],
    "dtype": ["float16"],
    "n_neighbors": [0],
    "n_steps": [0],
    "normalize_means": [1.5],
    "norms_of_all_classes": ["no"],
    "nu": [0.0, 1.5],
    "p": [0.5, 0.9],
    "pair_weight": [-1.0],
    "pca_components": [0],
    "prior": ["oracle"],
    "random_state": ["seed"],
    "relaxation": [0.0],
    "ridge": [0.0],
    "second_weight": [-1.0],
    "selection": ["none"],
    "solver": ["smo"],
    "source_estimator": ["forest"],
    "source_weight": ["equal"],
    "start": [0],
    "strategy": ["votes"],
    "svm_tol": [0.0],
    "target_weight": [-1.0],
    "tau": [-1.0],
    "temperature": [0.0],
    "tol": [-1e-3],
    "trace_bound": [0.0],
    "unit_rows": ["sometimes"],
    "unlabelled_weight": [0.0],
    "weight_decay": [-1.0],
}
CASES = [
    pytest.param(name, option, value, id=f"{name}-{option}-{number}")
    for name in available()
    for option in option_defaults(name)
    for number, value in enumerate(
        options_for(name, "out_of_range").get(option) or OUT_OF_RANGE.get(option, [])
    )
]


def test_every_option_has_a_range_and_every_range_an_option() -> None:
    options = {name: {*option_defaults(name)} for name in available()}
    for name, names in options.items():
        own = options_for(name, "out_of_range").keys()
        assert names - OUT_OF_RANGE.keys() <= own <= names, f"out_of_range of {name}"
    assert {*OUT_OF_RANGE} <= set().union(*options.values())


@pytest.mark.parametrize(("name", "option", "value"), CASES)
def test_an_option_out_of_range_is_named(name: str, option: str, value: Any) -> None:
    message = f"'{option}' parameter of {method_class(name).__name__} must be"
    with pytest.raises(ValueError, match=message):
        toy_problem().fit(make(name, **{option: value}))
