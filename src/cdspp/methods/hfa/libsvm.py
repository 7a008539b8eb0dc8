"""LIBSVM on kernels given as matrices, without what surrounds it in public classes.

A fit solves thousands of small machines, for each of which the checks of
`sklearn.svm.SVC` take several times what LIBSVM does: it is called as that class calls
it. The class stays the measure: it is used where the inner routine is not there, or
gives another machine on a small problem.
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

# What the public classes take where nothing else is asked for.
CACHE_MB = 200.0
C_SVC, ONE_CLASS = 0, 2


class Machine(NamedTuple):
    """Dual variables of all rows, of the sign of their side, and the intercept."""

    dual: Float
    intercept: float


def two_sides(kernel: Float, y: Float, costs: Float, tol: float) -> Machine:
    r"""Return the machine that separates two sides by hinge loss.

    .. math::

        \max_\alpha 1^T \alpha - \tfrac12 (\alpha \circ y)^T K (\alpha \circ y),
        \quad 0 \le \alpha_i \le C_i,\ y^T \alpha = 0

    The `kernel` K is C-ordered. Both sides, +1.0 and -1.0, occur in `y`; LIBSVM is
    given the side +1 first. `tol` is the violation of the optimality conditions to stop
    at. `MethodFailed` where the kernel holds numbers that are too large.
    """
    return _finite(_routines()[0](kernel, y, costs, tol))


def one_class(kernel: Float, nu: float, tol: float) -> Machine:
    """Return the machine of one class: ``min a^T K a / 2`` with ``0 <= a <= 1``.

    The sum of the dual variables a is `nu` times n; else as in `two_sides`.
    """
    return _finite(_routines()[1](kernel, nu, tol))


def _finite(machine: Machine) -> Machine:
    if not (np.isfinite(machine.dual).all() and np.isfinite(machine.intercept)):
        raise MethodFailed(
            "a support vector machine is not finite: lower trace_bound or the costs"
        )
    return machine


@cache
def _routines() -> tuple[Callable[..., Machine], Callable[..., Machine]]:
    """Return the inner routines where they give what the public classes give."""
    try:
        inner = _two_sides_inside, _one_class_inside
        if _probe(*inner) == _probe(_two_sides_by_class, _one_class_by_class):
            return inner
    # Another release: not there, other arguments, or another answer.
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    return _two_sides_by_class, _one_class_by_class


def _probe(
    solve: Callable[..., Machine], solve_one: Callable[..., Machine]
) -> list[tuple[bytes, float]]:
    """Return machines of a small problem with bounds that bind and others."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 4))
    kernel = rows @ rows.T + np.eye(12)
    y = np.where(np.arange(12) % 3 == 0, 1.0, -1.0)
    two = solve(kernel, y, np.linspace(0.1, 2.0, 12), 1e-3)
    one = solve_one(kernel, 0.1, 1e-3)
    return [(machine.dual.tobytes(), machine.intercept) for machine in (two, one)]


def _two_sides_inside(kernel: Float, y: Float, costs: Float, tol: float) -> Machine:
    return _inside(kernel, (y < 0).astype(np.float64), C_SVC, tol, sample_weight=costs)


def _one_class_inside(kernel: Float, nu: float, tol: float) -> Machine:
    return _inside(kernel, np.ones(len(kernel)), ONE_CLASS, tol, nu=nu)


def _inside(
    kernel: Float, labels: Float, svm_type: int, tol: float, **more: Any
) -> Machine:
    from sklearn.svm import _libsvm

    _libsvm.set_verbosity_wrap(0)
    options = {"kernel": "precomputed", "tol": tol, "cache_size": CACHE_MB, **more}
    support, _, _, duals, intercepts, *_ = _libsvm.fit(
        kernel, labels, svm_type=svm_type, **options
    )
    return _whole(len(kernel), support, duals, intercepts)


def _two_sides_by_class(kernel: Float, y: Float, costs: Float, tol: float) -> Machine:
    machine = SVC(kernel="precomputed", tol=tol, cache_size=CACHE_MB)
    with _unchecked():
        # LIBSVM takes the side first that scikit-learn's sorting puts first.
        machine.fit(kernel, -y, sample_weight=costs)
    # With two classes scikit-learn turns the signs: positive means the second one.
    duals, intercepts = -machine.dual_coef_, -machine.intercept_
    return _whole(len(kernel), machine.support_, duals, intercepts)


def _one_class_by_class(kernel: Float, nu: float, tol: float) -> Machine:
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=tol, cache_size=CACHE_MB)
    with _unchecked():
        machine.fit(kernel)
    return _whole(len(kernel), machine.support_, machine.dual_coef_, machine.intercept_)


def _unchecked() -> Any:
    return sklearn.config_context(assume_finite=True, skip_parameter_validation=True)


def _whole(n: int, support: Any, duals: Any, intercepts: Any) -> Machine:
    dual = np.zeros(n)
    dual[support] = duals[0]
    return Machine(dual, float(intercepts[0]))
