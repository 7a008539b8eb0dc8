"""Options out of range, of every method: each is named, with the class that has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from support.toy_problem import toy_problem

from cdspp.methods import available, make, method_class, option_defaults

Values = Mapping[str, list[Any]]

# The nearest value out of range on each side, or one of another type.
SUBSPACE: Values = {"alpha": [0.0], "n_components": [0], "eigenvector_scaling": ["two"]}
CDSPP_SUP: Values = {
    **SUBSPACE,
    "center": ["yes"],
    "normalize_means": [1.5],
    "classifier": [object()],
}
CDSPP: Values = {
    **CDSPP_SUP,
    "max_iter": [0],
    "selection": ["none"],
    "final_fit": ["no"],
    "keep_projections": [1.5],
}
DAMA: Values = {**SUBSPACE, "mu": [-0.1], "n_neighbors": [0]}
CDLS_SUP: Values = {"n_components": [0], "ridge": [0.0], "nu": [0.0, 1.5]}
AUGMENTATION: Values = {
    "trace_bound": [0.0],
    "C_source": [0.0, -1.0],
    "C_target": [0.0],
    "p": [0.5, 0.9],
    "max_iter": [0],
    "max_inner_iter": [0],
    "tol": [-1e-3],
    "svm_tol": [0.0],
}
NETWORK: Values = {
    "n_components": [0],
    "learning_rate": [0.0],
    "max_iter": [0],
    "device": [3],
    "random_state": ["seed"],
}

OUT_OF_RANGE: Mapping[str, Values] = {
    "cdls": {
        **CDLS_SUP,
        "delta": [0.0, 1.5],
        "max_iter": [0],
        "mixed_normaliser": ["no"],
        "norms_of_all_classes": ["no"],
    },
    "cdls-sup": CDLS_SUP,
    "cdspp": CDSPP,
    "cdspp-pca": {**CDSPP, "pca_components": [0]},
    "cdspp-sup": CDSPP_SUP,
    "dama": DAMA,
    "dama-plus": {**DAMA, "max_iter": [0], "keep_projections": [1.5]},
    "dama-sup": DAMA,
    "ddacl": {
        "beta": [-1.0],
        "tau": [-1.0],
        "ridge": [0.0],
        "n_components": [0],
        "max_iter": [0],
        "n_line_searches": [0],
        "random_state": ["seed"],
    },
    "hfa": AUGMENTATION,
    "pa": {
        "n_components": [0],
        "n_atoms": [0],
        "alpha": [-1.0],
        "mu": [0.0],
        "gamma": [0.0],
        "max_iter": [1],
        "C": [0.0],
        "random_state": ["seed"],
    },
    "shfa": {
        **AUGMENTATION,
        "prior": ["oracle"],
        "C_unlabelled": [0.0],
        "solver": ["smo"],
    },
    "ssan": {
        **NETWORK,
        "temperature": [0.0],
        "alpha": [-0.5, 1.5],
        "beta": [-1.0],
        "gamma": [-1.0],
        "weight_decay": [-1.0],
    },
    "stn": {**NETWORK, "beta": [-1.0], "tau": [-1.0]},
    "svm-t": {
        "strategy": ["votes"],
        "l2": [1.5],
        "C": [0.0],
        "random_state": ["seed"],
    },
    "target-only": CDSPP,
    "tit": {
        "n_components": [0],
        "alpha": [0.0],
        "beta": [-1.0],
        "delta": [-1.0],
        "n_neighbors": [0],
        "max_iter": [0],
        "C": [0.0],
    },
}
CASES = [
    pytest.param(name, option, value, id=f"{name}-{option}-{number}")
    for name, options in OUT_OF_RANGE.items()
    for option, values in options.items()
    for number, value in enumerate(values)
]


@pytest.mark.parametrize("name", available())
def test_every_option_has_a_range(name: str) -> None:
    assert set(OUT_OF_RANGE[name]) == set(option_defaults(name))


@pytest.mark.parametrize(("name", "option", "value"), CASES)
def test_an_option_out_of_range_is_named(name: str, option: str, value: Any) -> None:
    message = f"'{option}' parameter of {method_class(name).__name__} must be"
    with pytest.raises(ValueError, match=message):
        toy_problem().fit(make(name, **{option: value}))
