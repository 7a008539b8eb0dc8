"""Base of the methods that label target rows by a plan over labelled source rows."""

from __future__ import annotations

import os
from abc import abstractmethod
from importlib import import_module
from typing import Any

import numpy as np

from cdspp.core.linalg import one_hot, softmax
from cdspp.methods.base import ConfidentClassifier, Float, Problem, Round
from cdspp.methods.shared.constraints import require_every_class
from cdspp.methods.transport.sinkhorn import require_plan

__all__ = ["PlanClassifier", "label_cost", "transport_library"]

# POT imports every array library that it finds; these methods use NumPy alone.
OTHERS = ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")


def transport_library(module: str) -> Any:
    """Return a module of POT; ModuleNotFoundError says how to install it."""
    for name in OTHERS:
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{name}", "1")
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != "ot":
            raise
        told = "transport plans need POT: pip install 'cdspp[transport]'"
        raise ModuleNotFoundError(told, name="ot") from error


def label_cost(problem: Problem) -> Float:
    """Return 1 where a source row and a labelled target row differ in class, else 0.

    The columns are the labelled target rows, then the unlabelled ones.
    """
    differ = problem.y_source[:, None] != problem.y_labelled
    open_ = np.zeros((len(problem.y_source), len(problem.X_unlabelled)))
    return np.hstack([differ.astype(np.float64), open_])


class PlanClassifier(ConfidentClassifier):
    """A method that gives a target row the classes of the source rows it is tied to.

    A subclass fits a plan in `_fit_plan` and gives `_ties`, the logarithms of how
    strongly rows are tied to each source row, up to a constant for each row.
    """

    in_compare = False

    @abstractmethod
    def _fit_plan(self, problem: Problem, X: Float) -> None:
        """Fit the plan between the source and all target rows `X`, labelled first."""

    @abstractmethod
    def _ties(self, X: Float) -> Float:
        """Return ties of target rows to the source rows, (n, n_source)."""

    def _fit_problem(self, problem: Problem) -> list[Round]:
        require_every_class(problem, self.classes_)
        X = np.vstack([problem.X_labelled, problem.X_unlabelled])
        require_plan(type(self).__name__, len(problem.X_source), len(X))
        self._classes = one_hot(problem.y_source, problem.n_classes)
        self._fit_plan(problem, X)
        if not len(problem.X_unlabelled):
            return []
        found = self._probabilities(problem.X_unlabelled)
        return [Round(1, *self._most_probable(found))]

    def _probabilities(self, X: Float) -> Float:
        return softmax(self._ties(X)) @ self._classes
