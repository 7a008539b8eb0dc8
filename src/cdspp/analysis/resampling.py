"""How sure a mean is: bootstrap intervals, paired gains, a paired test.

Two units are drawn: trials, which say how a number moves with the labelled samples,
and target domains, which say how it moves from one task to another. Tasks of the same
target share their test samples, so tasks alone are no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cdspp.analysis.summary import Floats, mean_sd, present

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "PairedGain",
    "block_interval",
    "bootstrap_interval",
    "paired_gain",
    "paired_test",
]

LEVEL = 0.95
RESAMPLES = 10_000
# Up to so many trials all patterns of signs are counted: 32 768 up to symmetry.
_MOST_EXACT = 16
# Sums that are equal on paper may differ by a trace of rounding.
_ROUNDING = 1e-9


def bootstrap_interval(
    values: ArrayLike,
    *,
    level: float = LEVEL,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean over trials.

    Trials are drawn with replacement `n_resamples` times; the interval holds the
    central share `level` of the means. The seed is fixed, so equal values give equal
    intervals. With ten trials such an interval is a little too short.

    Parameters
    ----------
    values : array-like of shape (n_trials,)
        One number a trial; missing trials (NaN) are left out.
    level : float, default=0.95
        Share of the resampled means inside the interval.
    n_resamples : int, default=10000
        Number of resamples.
    seed : int, default=0
        Seed of the generator.

    Returns
    -------
    low, high : float
        NaN where fewer than two trials are present.
    """
    trials = [[value] for value in present(values)]
    return block_interval(trials, level=level, n_resamples=n_resamples, seed=seed)


def block_interval(
    groups: Sequence[ArrayLike],
    *,
    level: float = LEVEL,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean over values that come in blocks.

    As many blocks as there are, each whole, are drawn with replacement; a resample's
    number is the mean over all values of its blocks, so a large block weighs more.
    Values of one block may depend on each other. With two blocks the interval runs
    from one block's mean to the other's; with few it is a rough guide.

    Parameters
    ----------
    groups : sequence of array-like
        The values of each block; missing ones (NaN) are left out, and so are blocks
        without any.
    level : float, default=0.95
        Share of the resampled means inside the interval.
    n_resamples : int, default=10000
        Number of resamples.
    seed : int, default=0
        Seed of the generator.

    Returns
    -------
    low, high : float
        NaN where fewer than two blocks are present.
    """
    blocks = [block for group in groups if (block := present(group)).size]
    if len(blocks) < 2:
        return float("nan"), float("nan")
    totals = np.array([block.sum() for block in blocks])
    counts = np.array([block.size for block in blocks])
    size = (n_resamples, len(blocks))
    draws = np.random.default_rng(seed).integers(len(blocks), size=size)
    means = totals[draws].sum(axis=1) / counts[draws].sum(axis=1)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


@dataclass(frozen=True)
class PairedGain:
    """How much one row is better than another, trial by trial.

    Attributes
    ----------
    gain, low, high : float
        Mean difference and its 95 % interval, as fractions.
    losses, trials : int
        In how many of the trials that both have the difference is negative.
    """

    gain: float
    low: float
    high: float
    losses: int
    trials: int


def paired_gain(values: ArrayLike, rival: ArrayLike) -> PairedGain:
    """Difference of two rows on the same splits, over the trials that both have.

    Parameters
    ----------
    values, rival : array-like of shape (n_trials,)
        Accuracies by trial; position k of both is the same split.

    Returns
    -------
    PairedGain
        Of `values` over `rival`; NaN and zero counts where no trial is shared.
    """
    difference = _differences(values, rival)
    low, high = bootstrap_interval(difference)
    losses = int(np.count_nonzero(difference < 0))
    return PairedGain(mean_sd(difference)[0], low, high, losses, int(difference.size))


def paired_test(values: ArrayLike, rival: ArrayLike) -> float:
    """Test two-sidedly whether two rows on the same splits have equal means.

    If the rows were interchangeable, each trial's difference might as well have had
    the other sign. The p value is the share of all patterns of signs whose mean is as
    far from zero as the observed one. Beyond 16 trials 10 000 patterns are drawn by a
    fixed seed, and the observed one counts as one more.

    Parameters
    ----------
    values, rival : array-like of shape (n_trials,)
        Accuracies by trial; position k of both is the same split.

    Returns
    -------
    float
        NaN where fewer than two trials are shared. With n of them it is at least
        2 / 2**n: 0.002 for ten.

    Examples
    --------
    >>> paired_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    0.25
    """
    difference = _differences(values, rival)
    if difference.size < 2:
        return float("nan")
    exact = difference.size <= _MOST_EXACT
    signs = _all_signs(difference.size) if exact else _drawn_signs(difference.size)
    limit = abs(difference.sum()) - _ROUNDING * np.abs(difference).sum()
    return float(np.mean(np.abs(signs @ difference) >= limit))


def _differences(values: ArrayLike, rival: ArrayLike) -> Floats:
    """Return the differences of the trials that both have."""
    return present(np.asarray(values, float) - np.asarray(rival, float))


def _all_signs(n_trials: int) -> Floats:
    """Return all patterns with a positive first sign; the others mirror them."""
    numbers = np.arange(2 ** (n_trials - 1))[:, np.newaxis]
    return np.where((numbers >> np.arange(n_trials)) & 1, -1.0, 1.0)


def _drawn_signs(n_trials: int) -> Floats:
    """Return random patterns under the observed one."""
    size = (RESAMPLES, n_trials)
    drawn = np.random.default_rng(0).choice([-1.0, 1.0], size=size)
    return np.vstack([np.ones(n_trials), drawn])
