"""Requirements of methods: ranges of options in scikit-learn terms, rows per class."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import counts
from cdspp.methods.base import Problem

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")


def require_every_class(problem: Problem, classes: NDArray[Any]) -> None:
    """Check that each class has a source row and a labelled target row."""
    sides = ((problem.y_source, "source"), (problem.y_labelled, "labelled target"))
    for codes, side in sides:
        if len(missing := np.flatnonzero(counts(codes, problem.n_classes) == 0)):
            raise MethodFailed(f"class {classes[missing[0]]} has no {side} row")
