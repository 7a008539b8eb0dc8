"""LIBSVM on kernels given as matrices, without the checks of scikit-learn's classes.

A fit solves thousands of small machines, for each of which these checks take several
times as long as LIBSVM. The public classes serve where scikit-learn has no such inner
routine, or where it gives another machine on a small problem.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.svm import SVC, OneClassSVM

from cdspp.core.errors import MethodFailed
from cdspp.methods.base import Float

__all__ = ["Machine", "one_class", "two_sides"]

CACHE_MB = 200.0  # the default of the public classes
C_SVC, ONE_CLASS = 0, 2


class Machine(NamedTuple):
    """Dual variables of all rows, of the sign of their side, and the intercept."""

    dual: Float
    intercept: float


def two_sides(kernel: Float, y: Float, costs: Float, tol: float) -> Machine:
    """Return the machine that separates two sides by hinge loss, bounded by `costs`.

    The `kernel` K is C-ordered. Both sides, +1.0 and -1.0, occur in `y`; LIBSVM is
    given the side +1 first. `tol` is the violation of the optimality conditions to stop
    at. `MethodFailed` where the kernel holds numbers that are too large.
    """
    return _routine()(kernel, tol, y=y, costs=costs)


def one_class(kernel: Float, nu: float, tol: float) -> Machine:
    """Return the machine ``min a^T K a / 2``, ``0 <= a <= 1``, ``sum(a) = nu * n``."""
    return _routine()(kernel, tol, nu=nu)


@cache
def _routine() -> Callable[..., Machine]:
    """Return the inner routine where it gives what the public classes give."""
    try:
        if _probe(_inside) == _probe(_by_class):
            return _inside
    # Another release: not there, other arguments, or another answer.
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    return _by_class


def _probe(solve: Callable[..., Machine]) -> list[tuple[bytes, float]]:
    """Return machines of a small problem with bounds that bind and others."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 4))
    kernel = rows @ rows.T + np.eye(12)
    y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    two = solve(kernel, 1e-3, y=y, costs=np.linspace(0.1, 2.0, 12))
    one = solve(kernel, 1e-3, nu=0.1)
    return [(machine.dual.tobytes(), machine.intercept) for machine in (two, one)]


def _inside(
    kernel: Float, tol: float, *, y: Float | None = None, **more: Any
) -> Machine:
    from sklearn.svm import _libsvm

    _libsvm.set_verbosity_wrap(0)
    options = {"kernel": "precomputed", "tol": tol, "cache_size": CACHE_MB}
    if y is None:
        labels = np.ones(len(kernel))
        options |= {"svm_type": ONE_CLASS, "nu": more["nu"]}
    else:
        labels = (y < 0).astype(np.float64)
        options |= {"svm_type": C_SVC, "sample_weight": more["costs"]}
    support, _, _, duals, intercepts, *_ = _libsvm.fit(kernel, labels, **options)
    return _whole(len(kernel), support, duals, intercepts)


def _by_class(
    kernel: Float, tol: float, *, y: Float | None = None, **more: Any
) -> Machine:
    options = {"kernel": "precomputed", "tol": tol, "cache_size": CACHE_MB}
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        if y is None:
            one = OneClassSVM(nu=more["nu"], **options).fit(kernel)
            return _whole(len(kernel), one.support_, one.dual_coef_, one.intercept_)
        # LIBSVM takes the side first that scikit-learn's sorting puts first.
        two = SVC(**options).fit(kernel, -y, sample_weight=more["costs"])
    # With two classes scikit-learn turns the signs: positive means the second one.
    return _whole(len(kernel), two.support_, -two.dual_coef_, -two.intercept_)


def _whole(n: int, support: Any, duals: Any, intercepts: Any) -> Machine:
    dual, intercept = np.zeros(n), float(intercepts[0])
    dual[support] = duals[0]
    if not (np.isfinite(dual).all() and np.isfinite(intercept)):
        raise MethodFailed(
            "a support vector machine is not finite: lower trace_bound or the costs"
        )
    return Machine(dual, intercept)
