"""What methods require of a problem: one reason each where they cannot run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import counts
from cdspp.methods.base import Problem

__all__ = ["require_every_class"]


def require_every_class(problem: Problem, classes: NDArray[Any]) -> None:
    """Check that each class has a source row and a labelled target row.

    Parameters
    ----------
    problem : Problem
        The problem.
    classes : ndarray of shape (n_classes,)
        Labels of the class codes, for the message.

    Raises
    ------
    MethodFailed
        Naming the first class without one.
    """
    sides = ((problem.y_source, "source"), (problem.y_labelled, "labelled target"))
    for codes, side in sides:
        missing = np.flatnonzero(counts(codes, problem.n_classes) == 0)
        if len(missing):
            raise MethodFailed(f"class {classes[missing[0]]} has no {side} row")
