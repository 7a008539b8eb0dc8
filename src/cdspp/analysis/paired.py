"""How sure a mean over trials is: Student's t on values, and on paired differences.

Trials are few, so intervals come from the t distribution: a percentile bootstrap of ten
trials is too narrow. They say how a number moves with the labelled samples; of other
target rows, too, where `cdspp.analysis.crossed` makes the standard error. With fewer
than `INTERVAL_TRIALS` there is none: from two trials, t is 12.7 and the interval as
wide as chance has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from cdspp.analysis.summary import Floats, mean_sd, present

__all__ = [
    "INTERVAL_TRIALS",
    "ZERO",
    "PairedGain",
    "gain_of",
    "interval_note",
    "mean_interval",
    "paired_gain",
]

LEVEL = 0.95
INTERVAL_TRIALS = 3  # the fewest that have an interval
# Standard deviations from the median, estimated by the median absolute deviation.
OUTLIER, OUTLIER_TRIALS = 5.0, 5
# Differences of equal fractions may leave a trace of rounding.
ZERO = 1e-12


@dataclass(frozen=True)
class PairedGain:
    """How much one row is better than another, trial by trial, as a fraction.

    `gain` is the mean difference over the `trials` that both have, `error` its standard
    error with `df` degrees of freedom (NaN with fewer than two trials). `losses` counts
    negative differences, `least` is the least one. `one_decides` where a one-sided test
    at 5 % changes without the trial farthest from the median, if that is an outlier.
    `row` is the weight of one test row in a trial, 0 where rows are not known.
    """

    gain: float
    error: float
    losses: int
    trials: int
    least: float = math.nan
    one_decides: bool = False
    df: float = math.nan
    row: float = 0.0

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the t interval of the gain; NaN from too few trials."""
        if self.trials < INTERVAL_TRIALS:
            return math.nan, math.nan
        half = self.quantile((1 + level) / 2) * self.error
        return self.gain - half, self.gain + half

    def quantile(self, probability: float) -> float:
        """Return a quantile of the t distribution that belongs to the error."""
        return float(stdtrit(self.df, probability)) if self.known else math.nan

    @property
    def known(self) -> bool:
        """Whether there are trials enough for a standard error."""
        return self.trials > 1

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.interval()[1]

    @property
    def p_above(self) -> float:
        """One-sided p value against a mean difference of zero or less."""
        return self._tail(self.gain)

    @property
    def p_below(self) -> float:
        """One-sided p value against a mean difference of zero or more."""
        return self._tail(-self.gain)

    def _tail(self, gain: float) -> float:
        if not self.known:
            return math.nan
        if self.error <= ZERO:
            return 0.0 if gain > ZERO else 1.0
        return float(stdtr(self.df, -gain / self.error))


def paired_gain(values: ArrayLike, rival: ArrayLike) -> PairedGain:
    """Return the gain of accuracies by trial over others on the same splits."""
    return gain_of(np.asarray(values, float) - np.asarray(rival, float))


def gain_of(differences: ArrayLike, *, resolution: float = 0.0) -> PairedGain:
    """Return the gain of the differences of trials; missing ones are left out.

    The standard error is `resolution` at least. Of n rows that are tested, 1 / n is
    the change that one of them more or less makes: that no trial tells two rivals apart
    does not say that they are equal to the last row.
    """
    found = present(differences)
    gain = _gain_of_all(found, resolution)
    far = (
        np.abs(found - np.median(found)) if found.size >= OUTLIER_TRIALS else found[:0]
    )
    if not far.size or far.max() <= OUTLIER * 1.4826 * np.median(far):
        return gain
    others = _gain_of_all(np.delete(found, far.argmax()), resolution)
    return replace(gain, one_decides=_words(gain) != _words(others))


def _gain_of_all(found: Floats, resolution: float) -> PairedGain:
    mean, sd = mean_sd(found)
    losses = int(np.count_nonzero(found < -ZERO))
    error = max(sd * (1 / max(found.size, 1)) ** 0.5, resolution)
    least = float(found.min()) if found.size else math.nan
    return PairedGain(mean, error, losses, found.size, least, df=found.size - 1.0)


def _words(gain: PairedGain) -> tuple[bool, bool]:
    return gain.p_above < 1 - LEVEL, gain.p_below < 1 - LEVEL


def mean_interval(values: ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """Return the t interval of a mean accuracy, cut at 0 and 1; NaN from few trials."""
    low, high = np.clip(gain_of(present(values)).interval(level), 0.0, 1.0)
    return float(low), float(high)


def interval_note(trials: Iterable[int]) -> str:
    """Return what a caption says of means of so many trials that lack an interval."""
    lacking = any(0 < number < INTERVAL_TRIALS for number in trials)
    return f" Fewer than {INTERVAL_TRIALS} trials have no interval." if lacking else ""
