r"""Verdicts on the source, and the standard errors of the gains behind them.

**The precision of a gain.** A gain is a mean difference over paired trials, tested by
Student's t, because a percentile bootstrap of ten trials is too narrow. With two trials
t is 12.7, so fewer than `INTERVAL_TRIALS` have no interval. Trials share their test
rows, so their variation covers only other labelled samples of the same rows.

To cover other target rows as well, let ``D[t, i]`` be the difference of two fits on row
i in trial t, 1, 0 or -1, and missing if the row is labelled. With trial means `c`, row
means `r` and residuals `e` of the two-way layout, the variance of the mean is, by
moments,

.. math::

    v = \max(v_t + v_r - v_e, \; v_t, \; v_r), \qquad
    v_t = \frac{s^2(c)}{T}, \quad v_r = \frac{s^2(r)}{n}, \quad
    v_e = \frac{s^2(e)}{\text{cells}}

with Satterthwaite's degrees of freedom, at least T - 1. Rows come in *strata* whose
means add up: target domains of several tasks, and for balanced accuracy their classes.

**The verdict.** A method runs with the real source and with others in its place, its
*controls*. The gains of the real source over each are tested with these errors:

* *positive transfer*: better than under every control, by the largest one-sided p value
  (5 %, Holm). A method with shared information must also beat the baseline and
  target-only.
* *negative transfer*: worse than both controls without a source, by the same test.
* *no effect*: the 90 % intervals of the gains over both are within the margin (two
  one-sided tests at 5 %), widened by what three test rows may hide.
* *inconclusive*: anything else, with its reason; if the trials do not decide, with the
  minimum detectable gain at 80 % power. A gain over no source that does not exceed
  every corrupted source is not specific to the source's labels.

Holm's correction covers the tasks of a benchmark, and in a matrix the methods. If
accuracy and balanced accuracy lead to different verdicts, the verdict is inconclusive,
and so it is with fewer than five trials and with degenerate fits.
`cdspp.analysis.transfer` has the words.

References
----------
Searle, Casella and McCulloch, Variance Components, Wiley 1992,
doi:10.1002/9780470316856. Owen, The pigeonhole bootstrap, Annals of Applied Statistics
1 (2007), doi:10.1214/07-AOAS122.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from cdspp.analysis import transfer
from cdspp.analysis.summary import Floats, mean_sd, present
from cdspp.analysis.transfer import Transfer
from cdspp.core.names import SOURCE_STATES, WITHOUT_SOURCE
from cdspp.core.wording import in_points

Gains: TypeAlias = Mapping[str, "PairedGain"]  # of the real source over each control

_CORRUPTED = {*SOURCE_STATES} - {*WITHOUT_SOURCE}
ALPHA, LEVEL = 0.05, 0.95
POWER = 0.8  # of detecting a gain as positive transfer
MIN_TRIALS, INTERVAL_TRIALS = 5, 3  # fewest for a verdict, and for an interval
# Standard deviations from the median, estimated by the median absolute deviation.
OUTLIER, OUTLIER_TRIALS = 5.0, 5
# Below this, a difference of fractions is a rounding error.
ZERO = 1e-12


@dataclass(frozen=True)
class PairedGain:
    """The gain of one row over another on the same trials, as a fraction.

    `gain` is the mean difference, `error` its standard error with `df` degrees of
    freedom, `losses` counts negative differences. `one_decides` if a one-sided test at
    5 % changes without the trial farthest from the median, if that is an outlier.
    `row` is the weight of one test row in a trial, 0 if rows are unknown.
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
        """Return the t interval of the gain; NaN if there are too few trials."""
        if self.trials < INTERVAL_TRIALS:
            return math.nan, math.nan
        half = self.quantile((1 + level) / 2) * self.error
        return self.gain - half, self.gain + half

    def quantile(self, probability: float) -> float:
        """Return a quantile of the t distribution of the error."""
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
        if self.error <= ZERO:
            return 0.0 if self.gain > ZERO else 1.0
        return float(stdtr(self.df, -self.gain / self.error))

    @property
    def p_below(self) -> float:
        """One-sided p value against a mean difference of zero or more."""
        return replace(self, gain=-self.gain).p_above


def paired_gain(values: ArrayLike, comparator: ArrayLike) -> PairedGain:
    """Return the gain of accuracies by trial over others on the same splits."""
    return gain_of(np.asarray(values, float) - np.asarray(comparator, float))


def gain_of(differences: ArrayLike, *, resolution: float = 0.0) -> PairedGain:
    """Return the gain from the differences of trials; missing ones are left out.

    The standard error is at least `resolution`, such as 1 / n for n rows: even if all
    differences are zero, two methods may differ on a row that was not drawn.
    """
    values = present(differences)
    gain = _gain_of_all(values, resolution)
    if gain.trials < OUTLIER_TRIALS:
        return gain
    distances = np.abs(values - np.median(values))
    if distances.max() <= OUTLIER * 1.4826 * np.median(distances):
        return gain
    others = _gain_of_all(np.delete(values, distances.argmax()), resolution)
    found = {_transfer(each.p_above, each.p_below) for each in (gain, others)}
    return replace(gain, one_decides=len(found) > 1)


def _gain_of_all(values: Floats, resolution: float) -> PairedGain:
    mean, sd = mean_sd(values)
    losses = int(np.count_nonzero(values < -ZERO))
    error = max(sd * (1 / max(values.size, 1)) ** 0.5, resolution)
    least = float(values.min()) if values.size else math.nan
    return PairedGain(mean, error, losses, values.size, least, df=values.size - 1.0)


def mean_interval(values: ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """Return the t interval of a mean accuracy, cut at 0 and 1; NaN for few trials."""
    low, high = np.clip(gain_of(values).interval(level), 0.0, 1.0)
    return float(low), float(high)


def interval_note(trials: Iterable[int]) -> str:
    """Return a note for a caption if some means lack the trials for an interval."""
    lacking = any(0 < number < INTERVAL_TRIALS for number in trials)
    return f" Fewer than {INTERVAL_TRIALS} trials have no interval." if lacking else ""


class Stratum(NamedTuple):
    """Differences by trial and row (NaN if missing), and the weight of their mean."""

    weight: float
    values: Floats


def detectable_text(gain: float) -> str:
    """Return the minimum detectable gain at the power `POWER` in words."""
    return f"minimum detectable gain {in_points(gain)} at {100 * POWER:.0f} % power"


def by_class(stratum: Stratum, codes: NDArray[np.integer]) -> list[Stratum]:
    """Split rows by their class codes; classes that a trial does not test are out."""
    tested = np.isfinite(stratum.values).any(axis=1)
    parts = [stratum.values[:, codes == code] for code in np.unique(codes)]
    complete = [part for part in parts if np.isfinite(part[tested]).any(axis=1).all()]
    return [Stratum(stratum.weight / len(complete), part) for part in complete]


def two_way_gain(strata: Sequence[Stratum]) -> PairedGain:
    """Return the mean difference with its standard error over trials and rows."""
    shared = np.all([np.isfinite(v).any(axis=1) for _, v in strata], axis=0)
    parts = [Stratum(w, v[shared]) for w, v in strata]
    parts = [Stratum(w, v[:, np.isfinite(v).any(axis=0)]) for w, v in parts]
    by_trial = np.sum([w * np.nanmean(v, axis=1) for w, v in parts], axis=0)
    # The weight of a test row in a trial bounds the error; the heaviest counts.
    weights = [w / np.isfinite(v).sum(axis=1).mean() for w, v in parts if v.size]
    row = max(weights, default=math.inf)
    plain = gain_of(by_trial, resolution=row / max(len(by_trial), 1) ** 0.5)
    if plain.trials < 2:
        return plain
    of_trials = float(by_trial.var(ddof=1)) / plain.trials
    row_parts, residuals = zip(*map(_variance_parts, parts), strict=True)
    most = max((part for part, _ in row_parts if not math.isnan(part)), default=0.0)
    # A stratum of a single row receives the largest row part of the others.
    rows = [(most, 1.0) if math.isnan(part) else (part, df) for part, df in row_parts]
    of_rows, residual = (sum(part for part, _ in each) for each in (rows, residuals))
    variance = max(of_trials + of_rows - residual, of_trials, of_rows)
    spread = [(of_trials, plain.df), *rows, *residuals]
    below = sum(part**2 / df for part, df in spread if part > 0 and df > 0)
    df = max(variance**2 / below, plain.df) if below else plain.df
    return replace(plain, error=max(plain.error, variance**0.5), df=df, row=row)


def _variance_parts(part: Stratum) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return variance and df of rows, and of residuals; NaN for a single row."""
    values = part.weight * part.values
    n_trials, n_rows = values.shape
    of_trial, of_row = np.nanmean(values, axis=1), np.nanmean(values, axis=0)
    n_cells = int(np.isfinite(values).sum())
    deviations = values - of_trial[:, None] - of_row + np.nanmean(of_trial)
    df = n_cells - n_trials - n_rows + 1
    residual = float(np.nansum(deviations**2)) / df / n_cells if df > 0 else 0.0
    rows = float(of_row.var(ddof=1)) / n_rows if n_rows > 1 else math.nan
    return (rows, n_rows - 1.0), (residual, float(df))


@dataclass(frozen=True)
class Verdict:
    """The verdict on a task or an average, and its numbers; p values are Holm's.

    `reason` explains why it is inconclusive, or states the margin of no effect.
    `p_without` is the largest p value over comparators that are no corrupted source.
    The gain over the comparator `strongest` is least certain; `detectable` is the
    minimum detectable gain over every comparator at the power `POWER`.
    """

    transfer: Transfer
    reason: str = ""
    p_helps: float = math.nan
    p_hurts: float = math.nan
    p_without: float = math.nan
    strongest: str = ""
    detectable: float = math.nan


def decide_all(
    tasks: Sequence[Gains], *, margin: float, degenerate: Sequence[bool] = ()
) -> list[Verdict]:
    """Return the verdicts on a benchmark's tasks together; the margin is a fraction."""
    unusable = degenerate or [False] * len(tasks)
    reasons = [_untested(*pair) for pair in zip(tasks, unusable, strict=True)]
    verdicts = [Verdict(Transfer.INCONCLUSIVE, reason) for reason in reasons]
    places = [place for place, reason in enumerate(reasons) if not reason]
    nones = [[g for s, g in tasks[i].items() if s in WITHOUT_SOURCE] for i in places]
    wholes = [[g for s, g in tasks[i].items() if s not in _CORRUPTED] for i in places]
    helps = holm([max(g.p_above for g in tasks[i].values()) for i in places])
    without = holm([max((g.p_above for g in gains), default=1.0) for gains in wholes])
    hurts = holm([max((g.p_below for g in gains), default=1.0) for gains in nones])
    numbers = zip(helps, hurts, without, strict=True)
    for place, over_none, p_values in zip(places, nones, numbers, strict=True):
        task = tasks[place]
        strongest = max(
            task, key=lambda state: (task[state].p_above, -task[state].gain)
        )
        detectable = max(
            (gain.quantile(1 - ALPHA / len(places)) + gain.quantile(POWER)) * gain.error
            for gain in task.values()
        )
        equal = bool(over_none) and all(_is_equivalent(g, margin) for g in over_none)
        found = _transfer(p_values[0], p_values[1], equal)
        reason = transfer.margin_text(margin) if found is Transfer.NO_EFFECT else ""
        if found is Transfer.INCONCLUSIVE:
            reason = inconclusive_reason(p_values[2])
        verdicts[place] = Verdict(found, reason, *p_values, strongest, detectable)
    return verdicts


def _untested(task: Gains, degenerate: bool) -> str:
    """Return why a task is not tested; empty if it is."""
    if not task:
        return transfer.NOT_RUN
    if min(gain.trials for gain in task.values()) < MIN_TRIALS:
        return transfer.TOO_FEW
    return transfer.DEGENERATE if degenerate else ""


def inconclusive_reason(*p_without: float) -> str:
    """Return why tests do not decide, from the p values against no source."""
    if all(p < ALPHA for p in p_without):
        return transfer.NOT_SPECIFIC
    return transfer.NOT_DECIDED


def decide_pair(gain: PairedGain, margin: float) -> Transfer:
    """Return the verdict on one gain: positive if better than this comparator."""
    if gain.trials < MIN_TRIALS:
        return Transfer.INCONCLUSIVE
    return _transfer(gain.p_above, gain.p_below, _is_equivalent(gain, margin))


def _transfer(p_helps: float, p_hurts: float, equal: bool = False) -> Transfer:
    if p_helps < ALPHA:
        return Transfer.POSITIVE
    if p_hurts < ALPHA:
        return Transfer.NEGATIVE
    return Transfer.NO_EFFECT if equal else Transfer.INCONCLUSIVE


def _is_equivalent(gain: PairedGain, margin: float) -> bool:
    """Test equivalence: two one-sided tests at 5 % keep the gain within the margin.

    Differences may be so rare that no test row shows one: with none among n rows, up to
    3 / n of all rows may differ (the rule of three), with a variance of 3 / n^2.
    """
    widened = replace(gain, error=math.hypot(gain.error, 3**0.5 * gain.row))
    low, high = widened.interval(1 - 2 * ALPHA)
    return -margin - ZERO < low and high < margin + ZERO


def joint_verdict(plain: Verdict, balanced: Verdict) -> tuple[Transfer, str]:
    """Return verdict and reason from those by accuracy and by balanced accuracy."""
    if plain.transfer is not balanced.transfer:
        return Transfer.INCONCLUSIVE, transfer.DISAGREE
    same = plain.reason == balanced.reason
    return plain.transfer, plain.reason if same else transfer.NOT_DECIDED


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down procedure."""
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return [float(value) for value in np.minimum(steps, 1.0)[np.argsort(order)]]
