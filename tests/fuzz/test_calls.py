"""Odd arguments of the library: labels of known classes, or an error in words."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from fuzz.damage import attacks, tried
from support.toy_problem import toy_problem

from cdspp import SourceDomain
from cdspp.methods import available, make

PROBLEM = toy_problem()
QUICK: dict[str, dict[str, Any]] = {"cdspp": {"max_iter": 2}}
METHODS = ("cdspp", "cdspp-sup", "svm-t", "dama-sup", "shared-columns", "paired-map")


def odd_rows(X: np.ndarray, rng: random.Random) -> Any:
    """Return rows as somebody may pass them, not all of them fit to be used."""
    spoiled = X.copy()
    spoiled[rng.randrange(len(X)), 0] = rng.choice((np.nan, np.inf, 1e308, -1e308, 0))
    ways = (
        lambda: X,
        lambda: spoiled,
        lambda: X.tolist(),
        lambda: X.astype(object),
        lambda: X.astype(str),
        lambda: X.astype(complex),
        lambda: pd.DataFrame(X).assign(when=pd.Timestamp(0)),
        lambda: scipy.sparse.csr_array(X),
        lambda: np.asfortranarray(X)[::-1],
        lambda: X[: rng.randrange(4)],
        lambda: X[:, : rng.randrange(3)],
        lambda: X[0],
        lambda: X * rng.choice((0, 1e-300, 1e300)),
        lambda: np.repeat(X[:1], len(X), axis=0),
        lambda: np.ma.masked_array(X, X > 1),
        lambda: rng.choice((None, "X", 3, [], [[]], {}, [[1], [2, 3]])),
    )
    return rng.choice(ways)()


def odd_labels(y: np.ndarray, rng: random.Random) -> Any:
    """Return labels as somebody may pass them."""
    names = np.array(["a", "b", "c", "d", "e"])
    text = np.where(y < 0, "", names[y % 5])
    ways = (
        lambda: y,
        lambda: y.tolist(),
        lambda: text,
        lambda: pd.Series(text, dtype="category"),
        lambda: np.where(y < 0, np.nan, y + 0.5),
        lambda: y.astype(np.uint8),
        lambda: y.astype(bool),
        lambda: np.where(y == y.max(), y, -1),
        lambda: np.full(len(y), -1),
        lambda: y[: rng.randrange(len(y))],
        lambda: np.column_stack([y, y]),
        lambda: [None] * len(y),
        lambda: np.arange(len(y)),
        lambda: rng.choice((None, "y", 3, [], {})),
    )
    return rng.choice(ways)()


@attacks(60, 3000)
@pytest.mark.parametrize("method", METHODS)
def test_an_odd_call_gives_known_classes_or_an_error_in_words(
    method: str, seeds: range
) -> None:
    source = PROBLEM.source
    for seed in seeds:
        rng = random.Random(f"{method} {seed}")
        parts = [PROBLEM.X, PROBLEM.y, source.X, source.y]
        for place in rng.sample(range(4), rng.choice((1, 1, 2))):
            parts[place] = (odd_rows, odd_labels)[place % 2](parts[place], rng)
        X, y, X_source, y_source = parts
        model = make(method, **QUICK.get(method, {}))

        def call(model: Any = model, parts: Any = parts) -> Any:
            domain = SourceDomain(
                parts[2],
                parts[3],
                shared_columns=source.shared_columns,
                paired_rows=source.paired_rows,
            )
            return model.fit(parts[0], parts[1], source=domain)

        found = tried(call, f"{method} {seed}")
        if found is model:
            assert {*model.transduction_} <= {*model.classes_}, f"{method} {seed}"
            assert len(model.transduction_) == np.shape(X)[0], f"{method} {seed}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [name for name in available() if name not in METHODS]
)
def test_every_method_answers_odd_calls(method: str) -> None:
    test_an_odd_call_gives_known_classes_or_an_error_in_words(method, range(60))
