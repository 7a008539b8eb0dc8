"""Limited-memory BFGS with a Wolfe-Powell line search, stopped after a few searches.

It follows C. E. Rasmussen's `minimize` (2011). Methods whose result depends on where
the optimiser stops need this implementation, because another L-BFGS stops elsewhere.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cdspp.methods.base import Float

Objective = Callable[[Float], tuple[float, Float]]

N_PAIRS = 4
MAX_EVALUATIONS = 20
# Slope and decrease in the Wolfe-Powell conditions.
SLOPE_SHARE = 0.1
DECREASE_SHARE = 0.05
# Smallest distance of a new step to the ends of an interval, longest extrapolation.
MARGIN = 0.1
EXTRAPOLATION = 5.0
MAX_GROWTH = 100.0


def minimise(
    objective: Objective, x: Float, n_line_searches: int
) -> tuple[Float, list[float]]:
    """Return the last point, and the values at the start and after each line search.

    Two failures in a row, or a zero gradient, end the search early.
    """
    pairs: deque[tuple[Float, Float, float]] = deque(maxlen=N_PAIRS)
    value, gradient = objective(x)
    trace, is_trusted, last_change = [value], False, -1.0 / MAX_GROWTH
    for _ in range(n_line_searches):
        if not gradient @ gradient > 0.0:
            break
        direction = _direction(pairs, gradient)
        slope = float(direction @ gradient)
        if not slope < 0.0:
            direction, slope = -gradient, -float(gradient @ gradient)
            pairs.clear()
            is_trusted = False
        search = _LineSearch(objective, x, direction, _Point(0, value, slope, gradient))
        first_step = min(1.0, MAX_GROWTH * abs(last_change) / abs(slope))
        point, is_acceptable = search.run(first_step)
        if is_acceptable:
            step, change = point.step * direction, point.gradient - gradient
            if curvature := float(step @ change):
                pairs.append((step, change, curvature))
            is_trusted, last_change = True, point.step * slope
        x, value, gradient = x + point.step * direction, point.value, point.gradient
        trace.append(value)
        if not is_acceptable:
            if not is_trusted:
                break
            is_trusted = False
            pairs.clear()
    return x, trace


def _direction(pairs: Sequence[tuple[Float, Float, float]], gradient: Float) -> Float:
    """Return the quasi-Newton direction from steps, gradient changes, and products."""
    if not pairs:
        return -gradient / (gradient @ gradient)
    remainder, weights = gradient.copy(), []
    for step, change, curvature in reversed(pairs):
        weights.append((step @ remainder) / curvature)
        remainder -= weights[-1] * change
    # Scaled by the oldest pair, while textbooks use the newest.
    _, oldest, curvature = pairs[0]
    direction = remainder * (-curvature / (oldest @ oldest))
    for (step, change, curvature), weight in zip(pairs, reversed(weights), strict=True):
        direction -= ((change @ direction) / curvature + weight) * step
    return np.asarray(direction)


class _Point(NamedTuple):
    step: float
    value: float
    slope: float
    gradient: Float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.value) and math.isfinite(self.slope)


class _LineSearch:
    def __init__(
        self, objective: Objective, x: Float, direction: Float, start: _Point
    ) -> None:
        self._objective, self._x, self._direction = objective, x, direction
        self._start, self._cap = start, SLOPE_SHARE * abs(start.slope)
        self._budget = MAX_EVALUATIONS

    def run(self, step: float) -> tuple[_Point, bool]:
        """Search from a first step; return the final point and whether it succeeded."""
        end = self._interpolate(*self._extrapolate(step))
        return end, abs(end.slope) <= self._cap and end.value <= self._bound(end.step)

    def _bound(self, step: float) -> float:
        """Return the largest value that is acceptable at a step."""
        return self._start.value + step * DECREASE_SHARE * self._start.slope

    def _evaluate(self, step: float) -> _Point:
        self._budget -= 1
        value, gradient = self._objective(self._x + step * self._direction)
        return _Point(step, value, float(gradient @ self._direction), gradient)

    def _extrapolate(self, width: float) -> tuple[_Point, _Point, float]:
        """Lengthen the step until it is too long; return the last two points."""
        low, step = self._start, width
        while True:
            high = self._evaluate(step)
            while not high.finite and self._budget > 0:
                step = (low.step + step) / 2.0
                high = self._evaluate(step)
            too_far = high.slope > -self._cap or high.value > self._bound(step)
            if too_far or self._budget < 1:
                return low, high, width
            self._cap = max(self._cap, -SLOPE_SHARE * high.slope)
            previous, low = low, high
            width = low.step - previous.step
            longest = EXTRAPOLATION * width
            guess = _cubic_minimum(width, previous, low)
            if not width <= guess <= longest:
                guess = longest
            step = previous.step + max(guess, low.step + MARGIN * width)

    def _interpolate(self, low: _Point, high: _Point, width: float) -> _Point:
        """Shrink the interval until its better end satisfies both conditions."""
        while True:
            best = high if low.value > high.value else low
            # As in the original: the width of the last interval, not the step.
            is_lower = best.value < self._bound(width)
            if (abs(best.slope) < self._cap and is_lower) or self._budget < 1:
                return best
            if is_lower:
                self._cap = max(self._cap, -SLOPE_SHARE * best.slope)
            width = high.step - low.step
            guess = _cubic_minimum(width, low, high)
            if not 0.0 <= guess <= width:
                guess = width / 2.0
            guess = min(max(guess, MARGIN * width), (1.0 - MARGIN) * width)
            point = self._evaluate(low.step + guess)
            is_too_far = point.slope > 0.0 or point.value > self._bound(point.step)
            if is_too_far or not point.finite:
                high = point
            else:
                low = point


def _cubic_minimum(width: float, low: _Point, high: _Point) -> float:
    """Return the minimum of the cubic, relative to the first point, or NaN."""
    rise = high.value - low.value
    a = -6.0 * rise + 3.0 * (low.slope + high.slope) * width
    b = 3.0 * rise - (2.0 * low.slope + high.slope) * width
    radicand = b * b - a * low.slope * width
    if not radicand >= 0.0:
        return math.nan
    denominator = b + math.sqrt(radicand)
    return -low.slope * width * width / denominator if denominator else math.nan
