r"""How sure a gain is: Student's t over trials, and over trials *and* target rows.

A percentile bootstrap of ten trials is too narrow. From two trials t is 12.7, so that
fewer than `INTERVAL_TRIALS` have no interval. Trials share their test rows: their
scatter alone holds for other labelled samples of the same rows.

For other target rows, too, let ``D[t, i]`` be the difference of two fits on row i in
trial t, 1, 0 or -1, and missing where the row is labelled. With trial means `c`, row
means `r` and residuals `e` of the two-way layout, the variance of the mean is by
moments

.. math::

    v = \max(v_t + v_r - v_e, \; v_t, \; v_r), \qquad
    v_t = \frac{s^2(c)}{T}, \quad v_r = \frac{s^2(r)}{n}, \quad
    v_e = \frac{s^2(e)}{\text{cells}}

with Satterthwaite's degrees of freedom, T - 1 at least. Rows come in *strata* whose
means add up: target domains of several tasks, and for balanced accuracy their classes.

References
----------
Searle, Casella and McCulloch, Variance Components, Wiley 1992,
doi:10.1002/9780470316856. Owen, The pigeonhole bootstrap, Annals of Applied Statistics
1 (2007), doi:10.1214/07-AOAS122.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from cdspp.analysis.summary import Floats, mean_sd, present

__all__ = [
    "INTERVAL_TRIALS",
    "ZERO",
    "PairedGain",
    "Stratum",
    "by_class",
    "crossed_gain",
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

    `gain` is the mean difference, `error` its standard error with `df` degrees of
    freedom, `losses` counts negative differences. `one_decides` where a one-sided test
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
        return float(stdtrit(self.df, probability))

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
        if self.error <= ZERO:
            return 0.0 if gain > ZERO else 1.0
        return float(stdtr(self.df, -gain / self.error))


def paired_gain(values: ArrayLike, rival: ArrayLike) -> PairedGain:
    """Return the gain of accuracies by trial over others on the same splits."""
    return gain_of(np.asarray(values, float) - np.asarray(rival, float))


def gain_of(differences: ArrayLike, *, resolution: float = 0.0) -> PairedGain:
    """Return the gain of the differences of trials; missing ones are left out.

    The standard error is `resolution` at least, as 1 / n of n rows: that no trial tells
    two rivals apart does not say that they are equal to the last row.
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


class Stratum(NamedTuple):
    """Differences by trial and row (NaN if missing), and the weight of their mean."""

    weight: float
    values: Floats


def by_class(stratum: Stratum, codes: NDArray[np.integer]) -> list[Stratum]:
    """Split rows by their class codes; classes that a trial does not test are out."""
    ran = np.isfinite(stratum.values).any(axis=1)
    parts = [stratum.values[:, codes == code] for code in np.unique(codes)]
    whole = [part for part in parts if np.isfinite(part[ran]).any(axis=1).all()]
    return [Stratum(stratum.weight / len(whole), part) for part in whole]


def crossed_gain(strata: Sequence[Stratum]) -> PairedGain:
    """Return the mean difference with its standard error over trials and rows."""
    known = [np.isfinite(part.values).any(axis=1) for part in strata]
    shared = np.logical_and.reduce(known)
    parts = [Stratum(w, values[shared]) for w, values in strata]
    # Rows that no trial tests are left out.
    parts = [Stratum(w, v[:, np.isfinite(v).any(axis=0)]) for w, v in parts]
    means = [w * np.nanmean(values, axis=1) for w, values in parts]
    by_trial = np.sum(means, axis=0)
    # What a test row weighs in a trial bounds the error; the heaviest counts.
    weights = [w / np.isfinite(v).sum(axis=1).mean() for w, v in parts if v.size]
    row = max(weights, default=math.inf)
    plain = gain_of(by_trial, resolution=row / max(len(by_trial), 1) ** 0.5)
    if plain.trials < 2:
        return plain
    of_trials = float(by_trial.var(ddof=1)) / plain.trials
    whole, residuals = zip(*map(_spread, parts), strict=True)
    most = max((part for part, _ in whole if not math.isnan(part)), default=0.0)
    # A stratum of a single row gets the largest row part of the others.
    rows = [(most, 1.0) if math.isnan(part) else (part, df) for part, df in whole]
    of_rows, residual = (sum(part for part, _ in each) for each in (rows, residuals))
    variance = max(of_trials + of_rows - residual, of_trials, of_rows)
    least_df = plain.trials - 1.0
    spread = [(of_trials, least_df), *rows, *residuals]
    below = sum(part**2 / df for part, df in spread if part > 0 and df > 0)
    df = max(variance**2 / below, least_df) if below else least_df
    return replace(plain, error=max(plain.error, variance**0.5), df=df, row=row)


def _spread(part: Stratum) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return variance and df that rows, and residuals, add; NaN of a single row."""
    values = part.weight * part.values
    n_trials, n_rows = values.shape
    of_trial, of_row = np.nanmean(values, axis=1), np.nanmean(values, axis=0)
    n_cells = int(np.isfinite(values).sum())
    left = values - of_trial[:, None] - of_row + np.nanmean(of_trial)
    df = n_cells - n_trials - n_rows + 1
    residual = float(np.nansum(left**2)) / df / n_cells if df > 0 else 0.0
    rows = float(of_row.var(ddof=1)) / n_rows if n_rows > 1 else math.nan
    return (rows, n_rows - 1.0), (residual, float(df))
