"""What HFA and SHFA share as estimators: parameters, first column, prediction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Float, HeterogeneousClassifier, Int
from cdspp.methods.hfa.augmented_kernels import (
    GaussianKernel,
    Schedule,
    TargetExpansion,
    root_sums,
)
from cdspp.methods.shared.constraints import COUNT, NON_NEGATIVE, POSITIVE

__all__ = ["FeatureAugmentation"]

log = logging.getLogger(__name__)


class FeatureAugmentation(HeterogeneousClassifier):
    """Base class of HFA and SHFA, which describe their parameters.

    A subclass sets `_values`, the decision values of target rows of unit length.

    Attributes
    ----------
    n_columns_ : ndarray of shape (n_classes,)
        Number of columns, each with a weight of its own, that a class was learnt with.
    """

    n_columns_: Int
    _values: TargetExpansion

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        "trace_bound": [POSITIVE],
        "C_source": [POSITIVE],
        "C_target": [POSITIVE],
        "p": [Interval(Real, 1, None, closed="left")],
        "max_iter": [COUNT],
        "max_inner_iter": [COUNT],
        "tol": [NON_NEGATIVE],
        "svm_tol": [POSITIVE],
    }

    def __init__(
        self,
        trace_bound: float,
        C_source: float,
        C_target: float,
        p: float,
        max_iter: int,
        max_inner_iter: int,
        tol: float,
        svm_tol: float,
    ) -> None:
        self.trace_bound = trace_bound
        self.C_source = C_source
        self.C_target = C_target
        self.p = p
        self.max_iter = max_iter
        self.max_inner_iter = max_inner_iter
        self.tol = tol
        self.svm_tol = svm_tol

    def _schedule(self) -> Schedule:
        return Schedule(self.p, self.max_iter, self.max_inner_iter, self.tol)

    def _note(self, code: int, n_columns: int) -> None:
        """Keep the number of columns of a class, and tell of the progress."""
        self.n_columns_[code] = n_columns
        count = len(self.n_columns_)
        log.info("class %d of %d: %d columns", code + 1, count, n_columns)

    def _first_column(
        self, source: GaussianKernel, target: GaussianKernel
    ) -> tuple[Float, Float]:
        """Return the column of equal directions and its expansion in target rows."""
        sums, inverse_sums = root_sums(target.gram)
        sums = np.concatenate([root_sums(source.gram)[0], sums])
        factor = np.sqrt(self.trace_bound / len(sums))
        return factor * sums, factor * inverse_sums

    def _predict_codes(self, X: Float) -> tuple[Int, Float | None]:
        return self._values.predict(row_normalise(X)), None
