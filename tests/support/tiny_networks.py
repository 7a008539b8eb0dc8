"""What the tests of STN and SSAN share: a tiny problem, encoders by scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from support.toy_problem import ToyProblem, toy_problem

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Problem

__all__ = ["affine", "code", "leaky", "prepared", "squared", "tiny_problem"]


def prepared(problem: ToyProblem) -> Problem:
    """Return a toy problem as the network is given it."""
    labelled = ~problem.unlabelled
    return Problem(
        row_normalise(np.asarray(problem.source.X)),
        np.asarray(problem.source.y),
        row_normalise(problem.X[labelled]),
        problem.y[labelled],
        row_normalise(problem.X[~labelled]),
        int(problem.truth.max()) + 1,
    )


def tiny_problem(**options: Any) -> Problem:
    """Return a problem of three classes with two labelled rows each, prepared."""
    sizes = {"n_classes": 3, "source_per_class": 2, "labelled_per_class": 2}
    return prepared(toy_problem(d_source=4, d_target=3, **sizes, **options))


def affine(layer: Any, x: list[float]) -> list[float]:
    """Return what a layer gives before its rectifier."""
    return [
        sum(w * v for w, v in zip(row, x, strict=True)) + b
        for row, b in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    ]


def leaky(values: list[float]) -> list[float]:
    """Return rectified values."""
    return [v if v > 0 else 0.2 * v for v in values]


def code(encoder: Any, x: list[float]) -> list[float]:
    """Return the code of a row."""
    z = leaky(affine(encoder.second, leaky(affine(encoder.first, x))))
    length = math.sqrt(sum(v * v for v in z))
    return [v / length for v in z]


def squared(a: list[float], b: list[float]) -> float:
    """Return the squared distance of two points."""
    return sum((u - v) ** 2 for u, v in zip(a, b, strict=True))
