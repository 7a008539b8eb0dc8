"""Ranges that parameters of several methods have, in scikit-learn's terms."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval

__all__ = ["COUNT", "NON_NEGATIVE", "POSITIVE"]

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
