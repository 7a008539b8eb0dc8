"""Platt scaling as LIBSVM has it: a sigmoid on decision values, and its five folds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_sigmoid", "gnu_random", "libsvm_folds"]

N_FOLDS = 5

MAX_STEPS = 100
GRADIENT_STOP = 1e-5
RIDGE = 1e-12
SMALLEST_STEP = 1e-10


def _loss(z: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """Return the cross-entropy of ``1 / (1 + exp(z))``, safe for large `z`."""
    return float(np.sum(targets * z + np.logaddexp(0.0, -z)))


def fit_sigmoid(
    values: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[float, float]:
    r"""Fit ``p(f) = 1 / (1 + exp(A f + B))`` by regularised maximum likelihood [1]_.

    To decision values of rows that took no part in the fit of their machine. The slope
    A is negative where larger values mean the positive class; uninformative values may
    invert it, which is kept. Newton's method with backtracking on the targets
    ``(N_+ + 1) / (N_+ + 2)`` and ``1 / (N_- + 2)``, in O(n) a step.

    References
    ----------
    .. [1] Lin, H.-T., Lin, C.-J., Weng, R. C., "A note on Platt's probabilistic outputs
       for support vector machines", Machine Learning 68, 2007.
       :doi:`10.1007/s10994-007-5018-6`
    """
    n_positive = float(positive.sum())
    n_negative = len(positive) - n_positive
    high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0)
    targets = np.where(positive, high, low)
    theta = np.array([0.0, np.log((n_negative + 1.0) / (n_positive + 1.0))])
    design = np.column_stack([values, np.ones_like(values)])
    loss = _loss(design @ theta, targets)
    for _ in range(MAX_STEPS):
        p = 1.0 / (1.0 + np.exp(np.clip(design @ theta, -700.0, 700.0)))
        gradient = design.T @ (targets - p)
        if np.abs(gradient).max() < GRADIENT_STOP:
            break
        hessian = (design.T * (p * (1.0 - p))) @ design + RIDGE * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        slope, step = float(gradient @ direction), 1.0
        while step >= SMALLEST_STEP:
            trial = theta + step * direction
            trial_loss = _loss(design @ trial, targets)
            if trial_loss < loss + 1e-4 * step * slope:
                theta, loss = trial, trial_loss
                break
            step /= 2.0
        else:
            break
    return float(theta[0]), float(theta[1])


def gnu_random(seed: int = 1) -> Iterator[int]:
    """Yield what ``rand()`` of the GNU C library returns after ``srand(seed)``.

    An additive feedback generator: each number is the sum of those 3 and 31 places
    before it, modulo 2^32, without its lowest bit. The first 31 come from a linear
    congruential generator, and the next 310 sums are not given out.
    """
    state = [seed]
    while len(state) < 31:
        state.append(16807 * state[-1] % (2**31 - 1))
    state += state[:3]
    for place in count(34):
        state.append((state[place - 3] + state[place - 31]) % 2**32)
        if place >= 344:
            yield state[place] >> 1


def libsvm_folds(n: int) -> list[NDArray[np.intp]]:
    """Return the folds into which LIBSVM shuffles n rows for Platt scaling.

    The same in each training, as its interfaces to MATLAB and Octave seed the C
    library's generator with 1 each time. Rows within a fold stand in shuffled order;
    with fewer than five rows some folds are empty.
    """
    order = np.arange(n)
    for place, number in enumerate(islice(gnu_random(), n)):
        other = place + number % (n - place)
        order[[place, other]] = order[[other, place]]
    borders = [fold * n // N_FOLDS for fold in range(1, N_FOLDS)]
    return np.split(order, borders)
