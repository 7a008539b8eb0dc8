"""LIBSVM on kernels given as matrices, without the checks of scikit-learn's classes.

These take several times as long as LIBSVM on a small machine. The public classes serve
where scikit-learn has no such inner routine, or where it gives another machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sklearn
from sklearn.svm import SVC, OneClassSVM

from cdspp.core.errors import MethodFailed
from cdspp.methods.base import Float

# The size, in MB, is the default of the public classes.
OPTIONS = {"kernel": "precomputed", "cache_size": 200.0}
C_SVC, ONE_CLASS = 0, 2


def two_sides(kernel: Float, y: Float, costs: Float, tol: float) -> tuple[Float, float]:
    """Return signed dual variables and intercept of a hinge-loss machine.

    Both sides, +1.0 and -1.0, occur in `y`, and the kernel is C-ordered.
    """
    return _routine()(kernel, tol, y, sample_weight=costs)


def one_class(Q: Float, tol: float) -> Float:
    """Return the minimiser of ``a^T Q a / 2``, ``a >= 0``, with a sum of about 1."""
    # Five digits, as in the authors' code: with LIBSVM's tolerance such a start shows.
    share = float(f"{1.0 / len(Q):.5g}")
    return _routine()(Q, tol, nu=share)[0] if len(Q) > 1 else np.ones(1)


@cache
def _routine() -> Callable[..., tuple[Float, float]]:
    """Return the inner routine where it gives what the public classes give."""
    try:
        if _probe(_inside) == _probe(_by_class):
            return _inside
    # Another release: not there, other arguments, or another answer.
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    return _by_class


def _probe(solve: Callable[..., tuple[Float, float]]) -> list[tuple[bytes, float]]:
    """Return machines of a small problem with bounds that bind and others."""
    rows = np.random.default_rng(0).standard_normal((12, 4))
    kernel = rows @ rows.T + np.eye(12)
    y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    two = solve(kernel, 1e-3, y, sample_weight=np.linspace(0.1, 2.0, 12))
    one = solve(kernel, 1e-3, nu=0.1)
    return [(dual.tobytes(), intercept) for dual, intercept in (two, one)]


def _inside(
    kernel: Float, tol: float, y: Float | None = None, **extra: Any
) -> tuple[Float, float]:
    from sklearn.svm import _libsvm

    _libsvm.set_verbosity_wrap(0)
    labels = np.ones(len(kernel)) if y is None else (y < 0).astype(np.float64)
    extra |= OPTIONS | {"tol": tol, "svm_type": ONE_CLASS if y is None else C_SVC}
    support, _, _, duals, intercepts, *_ = _libsvm.fit(kernel, labels, **extra)
    return _whole(len(kernel), support, duals, intercepts)


def _by_class(
    kernel: Float, tol: float, y: Float | None = None, **extra: Any
) -> tuple[Float, float]:
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        if y is None:
            one = OneClassSVM(tol=tol, **OPTIONS, **extra).fit(kernel)
            return _whole(len(kernel), one.support_, one.dual_coef_, one.intercept_)
        # LIBSVM takes the side first that scikit-learn's sorting puts first.
        two = SVC(tol=tol, **OPTIONS).fit(kernel, -y, **extra)
    # With two classes scikit-learn turns the signs: positive means the second one.
    return _whole(len(kernel), two.support_, -two.dual_coef_, -two.intercept_)


def _whole(n: int, support: Any, duals: Any, intercepts: Any) -> tuple[Float, float]:
    dual, intercept = np.zeros(n), float(intercepts[0])
    dual[support] = duals[0]
    if not (np.isfinite(dual).all() and np.isfinite(intercept)):
        raise MethodFailed(
            "a support vector machine is not finite: lower trace_bound or the costs"
        )
    return dual, intercept
