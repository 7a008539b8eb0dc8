r"""How sure a gain is for other labelled samples *and* other target rows.

Trials share their test rows: their scatter alone tells of other labelled samples of the
same rows. Let ``D[t, i]`` be the difference of two fits on row i in trial t, 1, 0 or
-1, and missing where the row is labelled. With trial means `c`, row means `r` and
residuals `e` of the two-way layout, the variance of the mean is by moments

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
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.analysis.paired import PairedGain, gain_of
from cdspp.analysis.summary import Floats

__all__ = ["Stratum", "by_class", "crossed_gain"]

_Spread = tuple[float, float]  # a part of the variance, and its degrees of freedom


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
    """Return the mean difference with its standard error over trials and rows.

    The difference of a trial is the sum over strata of the weighted mean over rows;
    trials that a stratum lacks are left out. One test row less or more in each trial
    bounds the standard error from below.
    """
    known = [np.isfinite(part.values).any(axis=1) for part in strata]
    shared = np.logical_and.reduce(known)
    parts = [Stratum(w, values[shared]) for w, values in strata]
    # Rows that no trial tests are left out.
    parts = [Stratum(w, v[:, np.isfinite(v).any(axis=0)]) for w, v in parts]
    means = [w * np.nanmean(values, axis=1) for w, values in parts]
    by_trial = np.sum(means, axis=0)
    # What a test row weighs in a trial; the heaviest counts.
    weights = [w / np.isfinite(v).sum(axis=1).mean() for w, v in parts if v.size]
    row = max(weights, default=math.inf)
    plain = gain_of(by_trial, resolution=row / max(len(by_trial), 1) ** 0.5)
    if not plain.known:
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


def _spread(part: Stratum) -> tuple[_Spread, _Spread]:
    """Return what rows and residuals of a stratum add; NaN of a single row."""
    values = part.weight * part.values
    n_trials, n_rows = values.shape
    of_trial, of_row = np.nanmean(values, axis=1), np.nanmean(values, axis=0)
    n_cells = int(np.isfinite(values).sum())
    left = values - of_trial[:, None] - of_row + np.nanmean(of_trial)
    df = n_cells - n_trials - n_rows + 1
    residual = float(np.nansum(left**2)) / df / n_cells if df > 0 else 0.0
    rows = float(of_row.var(ddof=1)) / n_rows if n_rows > 1 else math.nan
    return (rows, n_rows - 1.0), (residual, float(df))
