"""What the tests of STN and SSAN share: a tiny problem, formulas in arrays, slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support.toy_problem import toy_problem

from cdspp.methods.base import Problem


def tiny_problem(**options: Any) -> Problem:
    """Return a problem of three classes with two labelled rows each, prepared."""
    sizes = {"n_classes": 3, "source_per_class": 2, "labelled_per_class": 2}
    return toy_problem(d_source=4, d_target=3, **sizes, **options).prepared()


def affine(layer: Any, X: np.ndarray) -> np.ndarray:
    """Return what a layer gives before its rectifier."""
    weight, bias = (part.detach().numpy() for part in (layer.weight, layer.bias))
    return X @ weight.T + bias


def leaky(values: np.ndarray) -> np.ndarray:
    """Return rectified values."""
    return np.where(values > 0, values, 0.2 * values)


def codes(network: Any, problem: Problem) -> list[np.ndarray]:
    """Return the codes of the source, of the labelled and of the unlabelled rows."""
    found = []
    for encoder, X in (
        (network.source, problem.X_source),
        (network.target, problem.X_labelled),
        (network.target, problem.X_unlabelled),
    ):
        Z = leaky(affine(encoder.second, leaky(affine(encoder.first, X))))
        found.append(Z / np.linalg.norm(Z, axis=1, keepdims=True))
    return found


def slopes(parameter: Any, entry: int, values: Callable[[], Any]) -> np.ndarray:
    """Return the slopes of what a function returns along an entry of a parameter."""
    weights, step, ends = parameter.data.view(-1), 1e-6, []
    for sign in (1, -1):
        weights[entry] += sign * step
        ends.append(np.array(values()))
        weights[entry] -= sign * step
    return (ends[0] - ends[1]) / (2 * step)
