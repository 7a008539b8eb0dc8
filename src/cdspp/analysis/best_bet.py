r"""The best bet: the method to deploy if labelled rows are too few to settle it.

Candidates are fixed before any row is read. On the same hold-outs, let d_i be the mean
correctness of row i with a candidate minus that with `target-only`, over n labelled
rows, and g their mean. Few rows do not reveal their own variance, so `PSEUDO_ROWS`
rows of variance `PSEUDO_VARIANCE` are added,

.. math:: v = \frac{n \operatorname{var}(d) + 10 \cdot 0.2}{n + 10}, \qquad
    e^2 = \frac{2 v}{n},

where 2 accounts for the variation of training sets. With a prior N(\mu, \tau^2) of the
true gain, by the kind of information that a method uses, the posterior of the gain is
normal with

.. math:: s^2 = \frac{1}{1 / e^2 + 1 / \tau^2}, \qquad
    m = s^2 \left(\frac{g}{e^2} + \frac{\mu}{\tau^2}\right).

The bet is the candidate with the largest m if m is a point or more, and otherwise
`target-only`. `python -m benchmarks decisions` measures its regret, its false bets and
the coverage of its intervals.
"""

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from cdspp.methods import method_class
from cdspp.methods.bridge import PAIRS, SHARED

TARGET_ONLY = "target-only"  # the reference of every candidate
# Candidates with the source: one for labels only, one per kind of bridge, one for both.
LABELS_CANDIDATE = "cdspp"
BRIDGE_CANDIDATES = {SHARED: "shared-columns-plus", PAIRS: "paired-map-plus"}
EVERY_BRIDGE = "cdspp-bridge"
BRIDGE, LABELS, NO_SOURCE = "bridge", "labels only", "no source"
OPEN, LIKELY, SETTLED = "open", "likely", "settled"
PSEUDO_ROWS, PSEUDO_VARIANCE = 10, 0.2
TRAINING_SCATTER = 2.0
LEAST_GAIN = 0.01  # smallest expected gain for a bet on another method
LIKELY_FROM = 0.65
LEVEL = 0.8  # of intervals: those of nominal 95 % would cover less


class Posterior(NamedTuple):
    """A normal distribution of the true gain over the reference, as a fraction."""

    mean: float
    sd: float

    @property
    def interval(self) -> tuple[float, float]:
        """The central interval of probability `LEVEL`."""
        half = float(ndtri((1 + LEVEL) / 2)) * self.sd
        return self.mean - half, self.mean + half

    def above(self, gain: float) -> float:
        """Return the probability that the true gain is above another."""
        return float(ndtr((self.mean - gain) / self.sd))

    @property
    def probability(self) -> float:
        """The probability that the candidate is better than the reference."""
        return self.above(0.0)

    @property
    def loss(self) -> float:
        """The probability that the candidate loses a point or more."""
        return 1.0 - self.above(-LEAST_GAIN)


# Priors of the true gain by kind of information, fixed before any row is read.
PRIORS = {
    BRIDGE: Posterior(0.0, 0.10),
    LABELS: Posterior(-0.01, 0.04),
    NO_SOURCE: Posterior(-0.03, 0.05),
}


def default_candidates(bridge: Collection[str]) -> list[str]:
    """Return the candidates for the available kinds of bridge, the likeliest first."""
    bridged = [BRIDGE_CANDIDATES[kind] for kind in bridge]
    bridged += [EVERY_BRIDGE] if bridged else []
    return [*bridged, LABELS_CANDIDATE, TARGET_ONLY]


def information(method: str, bridge: Collection[str]) -> str:
    """Return the kind of information that a method uses beyond the target."""
    cls = method_class(method)
    if not cls.uses_source:
        return NO_SOURCE
    return BRIDGE if cls.bridges.intersection(bridge) else LABELS


def posterior(differences: ArrayLike, prior: Posterior) -> Posterior:
    """Return the posterior of a gain from the mean differences of labelled rows.

    Parameters
    ----------
    differences : array-like of shape (n_labelled,)
        By row, correctness with the candidate minus that with the reference, averaged
        over the hold-outs that test the row; NaN if none does.
    prior : Posterior
        One of `PRIORS`.

    Examples
    --------
    >>> found = posterior([1, 0, 0, 1, 0, 0, 0, 0], PRIORS[BRIDGE])
    >>> round(found.mean, 3), round(found.sd, 3), round(found.probability, 3)
    (0.043, 0.091, 0.68)
    """
    values = np.asarray(differences, dtype=float)
    values = values[np.isfinite(values)]
    if not (n := values.size):
        return prior
    pooled = n * values.var() + PSEUDO_ROWS * PSEUDO_VARIANCE
    error = TRAINING_SCATTER * pooled / (n + PSEUDO_ROWS) / n
    variance = 1 / (1 / error + 1 / prior.sd**2)
    mean = variance * (values.mean() / error + prior.mean / prior.sd**2)
    return Posterior(float(mean), math.sqrt(variance))


def best_bet(posteriors: Mapping[str, Posterior]) -> str:
    """Return the method with the largest mean gain if that is `LEAST_GAIN` or more.

    Otherwise, or if no method has a posterior, it is the reference.
    """
    first = max(posteriors, key=lambda name: posteriors[name].mean, default=TARGET_ONLY)
    enough = first != TARGET_ONLY and posteriors[first].mean >= LEAST_GAIN
    return first if enough else TARGET_ONLY


def evidence(bet: str, gain: Posterior) -> str:
    """Return the evidence for a bet, from the distance of its gain to zero."""
    certainty = gain.probability if bet != TARGET_ONLY else 1 - gain.probability
    return LIKELY if certainty >= LIKELY_FROM else OPEN
