"""Transport plans: Sinkhorn's algorithm, and methods that label rows by a plan."""

from __future__ import annotations

import os
from abc import abstractmethod
from importlib import import_module
from typing import Any

import numpy as np

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import one_hot
from cdspp.core.memory import require_memory
from cdspp.methods.base import ConfidentClassifier, Float, Problem, Round
from cdspp.methods.shared.constraints import require_every_class

LARGEST = 1e50  # of the scalings, before the potentials take them in
COPIES = 6  # of a plan that are held at once
TOLERANCE = 1e-6  # of the row sums in total
# POT imports every array library that it finds; these methods only use NumPy.
OTHERS = ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")


def require_plan(method: str, n_source: int, n_target: int, squares: int = 0) -> None:
    """Refuse plans, and `squares` matrices per domain, that do not fit into memory."""
    require_memory(
        COPIES * n_source * n_target + squares * (n_source**2 + n_target**2),
        f"{method} holds plans of {n_source} x {n_target} rows",
        "Leave rows out, or choose a method that holds none.",
    )


def relative(values: Float) -> Float:
    """Return values divided by the largest, unless all are zero."""
    return values / (float(values.max(initial=0.0)) or 1.0)


def sinkhorn(cost: Float, epsilon: float, max_iter: int) -> Float:
    """Return the plan of least cost with an entropic term, between uniform masses."""
    f, g = potentials(cost, epsilon, max_iter)
    plan = np.exp((f[:, None] + g - cost) / epsilon)
    if not np.isfinite(plan).all():
        raise MethodFailed("the transport plan overflows; raise epsilon")
    return np.asarray(plan)


def potentials(cost: Float, epsilon: float, max_iter: int) -> tuple[Float, Float]:
    """Return the potentials f and g of the plan ``exp((f + g - cost) / epsilon)``.

    By Sinkhorn's scalings, which the potentials take in before these overflow
    (Schmitzer, SIAM J. Sci. Comput. 41(3), 2019).
    """
    n, m = cost.shape
    tiny = np.finfo(float).tiny
    f, g = cost.min(axis=1), np.zeros(m)
    kernel = np.exp((f[:, None] - cost) / epsilon)
    u, v = np.ones(n), np.ones(m)
    for _ in range(max_iter):
        u = 1.0 / n / np.maximum(kernel @ v, tiny)
        v = 1.0 / m / np.maximum(kernel.T @ u, tiny)
        if max(u.max(), v.max()) > LARGEST:
            f, g = f + epsilon * np.log(u), g + epsilon * np.log(v)
            kernel = np.exp((f[:, None] + g - cost) / epsilon)
            u, v = np.ones(n), np.ones(m)
        elif np.abs(u * (kernel @ v) - 1.0 / n).sum() < TOLERANCE:
            break
    return f + epsilon * np.log(u), g + epsilon * np.log(v)


def transport_library(module: str) -> Any:
    """Return a module of POT; ModuleNotFoundError says how to install it."""
    for name in OTHERS:
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{name}", "1")
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "ot":
            raise
        text = "transport plans need POT: pip install 'cdspp[transport]'"
        raise ModuleNotFoundError(text, name="ot") from error


def label_cost(problem: Problem) -> Float:
    """Return 1 where a source row and a labelled target row differ in class, else 0."""
    differ = problem.y_source[:, None] != problem.y_labelled
    return np.pad(differ.astype(np.float64), ((0, 0), (0, len(problem.X_unlabelled))))


class PlanClassifier(ConfidentClassifier):
    """A method that gives a target row the classes of the source rows it is tied to."""

    in_compare = False

    @abstractmethod
    def _fit_plan(self, problem: Problem, X: Float) -> None:
        """Fit the plan between the source and all target rows `X`, labelled first."""

    def _fit_problem(self, problem: Problem) -> list[Round]:
        require_every_class(problem, self.classes_)
        X = np.vstack([problem.X_labelled, problem.X_unlabelled])
        require_plan(type(self).__name__, len(problem.X_source), len(X))
        self._classes = one_hot(problem.y_source, problem.n_classes)
        self._fit_plan(problem, X)
        return []
