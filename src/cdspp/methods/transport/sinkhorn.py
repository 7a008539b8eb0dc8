"""Entropic optimal transport between uniform masses."""

from __future__ import annotations

import numpy as np

from cdspp.core.errors import MethodFailed
from cdspp.core.memory import require_memory
from cdspp.methods.base import Float

__all__ = ["potentials", "require_plan", "sinkhorn"]

LARGEST = 1e50  # of the scalings, before the potentials take them in
COPIES = 6  # of a plan that are held at once


def require_plan(method: str, n_source: int, n_target: int) -> None:
    """Refuse a plan of n_source x n_target numbers that does not fit into memory."""
    require_memory(
        COPIES * n_source * n_target,
        f"{method} holds plans of {n_source} x {n_target} rows",
        "Leave rows out, or choose a method that holds none.",
    )


def sinkhorn(
    cost: Float, epsilon: float, max_iter: int, tolerance: float = 1e-6
) -> Float:
    r"""Return the plan of least cost with an entropic term, between uniform masses.

    .. math::

        \min_\pi \langle \pi, C \rangle + \varepsilon \sum_{ij} \pi_{ij} \log \pi_{ij},
        \qquad \pi 1 = 1 / n, \quad \pi^T 1 = 1 / m

    Sinkhorn's scalings of ``exp((f + g - C) / epsilon)``; the potentials f and g take
    them in before they overflow (Schmitzer, SIAM J. Sci. Comput. 41(3), 2019). The
    iteration, two products of matrix and vector in O(n m), ends where row sums are
    within `tolerance` of 1 / n in total; column sums are exact.
    """
    f, g = _converged(cost, epsilon, max_iter, tolerance)
    plan = np.exp((f[:, None] + g - cost) / epsilon)
    if not np.isfinite(plan).all():
        raise MethodFailed("the transport plan overflows; raise epsilon")
    return np.asarray(plan)


def potentials(
    cost: Float, epsilon: float, max_iter: int, tolerance: float = 1e-6
) -> Float:
    """Return the potential f of each row of `cost`, as `sinkhorn` finds it."""
    return _converged(cost, epsilon, max_iter, tolerance)[0]


def _converged(
    cost: Float, epsilon: float, max_iter: int, tolerance: float
) -> tuple[Float, Float]:
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
        elif np.abs(u * (kernel @ v) - 1.0 / n).sum() < tolerance:
            break
    return f + epsilon * np.log(u), g + epsilon * np.log(v)
