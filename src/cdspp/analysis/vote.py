r"""A weighted vote of candidates: weights, estimates by rows, and the source's gain.

Every candidate labels the same held-out rows. Let d_i be the mean correctness of row i
with a candidate minus that with the reference, and g their mean over n rows. Few rows
do not reveal their own variance, so `PSEUDO_ROWS` rows of `PSEUDO_VARIANCE` are added,

.. math:: v = \frac{n \operatorname{var}(d) + 10 \cdot 0.2}{n + 10}, \qquad
    e^2 = \frac{2 v}{n}, \qquad m = g \, \frac{t^2}{t^2 + e^2},

where 2 accounts for the variation of training sets. The weight of a candidate is
proportional to :math:`\exp(m / T)`, and a row gets the class with the largest sum of
weights. Candidates that label all rows alike share the weight of one. All functions
take arrays; nothing here fits a model.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtri

from cdspp.analysis.summary import Floats
from cdspp.analysis.transfer import Transfer
from cdspp.core.linalg import Int
from cdspp.methods.vote import DECIMALS, sums_of_votes

# Constants of the rule.
SHRINKAGE = 0.10  # t
TEMPERATURE = 0.07  # T
PSEUDO_ROWS, PSEUDO_VARIANCE = 10, 0.2
TRAINING_SCATTER = 2.0  # of the variance over training sets to that over rows
LEVEL = 0.8  # of intervals
NO_EFFECT = 0.01  # largest gain, either way, that counts as none
# Rows of gain +1 or -1 that are added to those on which two votes differ.
PSEUDO_DIFFERING = 2.0

NOT_TESTED = -1  # in predictions of held-out rows

# By candidate, predictions or correctness, of shape (repeats, rows).
ByCandidate: TypeAlias = Mapping[str, NDArray[Any]]


class Estimate(NamedTuple):
    """An accuracy with its interval of `LEVEL`; NaN if no row was tested."""

    value: float
    low: float
    high: float


class SourceGain(NamedTuple):
    """The gain from a source: the accuracy of a vote minus that of the vote without it.

    `differing` is the share of rows on which both votes differ, `unknown` that of
    differing rows without a known label; the gain is exact if `unknown` is 0.
    """

    gain: float
    low: float
    high: float
    differing: float
    unknown: float

    @property
    def verdict(self) -> Transfer:
        """The verdict; no effect if within `NO_EFFECT` either way."""
        if self.low >= -NO_EFFECT and self.high <= NO_EFFECT:
            return Transfer.NO_EFFECT
        if self.low > 0:
            return Transfer.POSITIVE
        return Transfer.NEGATIVE if self.high < 0 else Transfer.INCONCLUSIVE


def correctness(predicted: Int, codes: Int) -> Floats:
    """Return whether predictions (..., n) of n rows are right; NaN if not tested."""
    return np.where(predicted == NOT_TESTED, np.nan, predicted == codes)


def row_means(correct: Floats) -> Floats:
    """Return the mean over repeats of each row; NaN if it was never tested."""
    tested = np.isfinite(correct)
    total, times = np.where(tested, correct, 0.0).sum(axis=0), tested.sum(axis=0)
    means = np.full(total.shape, np.nan)
    np.divide(total, times, out=means, where=times > 0)
    return means


def shrunk_gains(
    correct: ByCandidate, reference: str, *, shrinkage: float = SHRINKAGE
) -> dict[str, float]:
    """Return the gain of each candidate over the reference, shrunk towards zero.

    >>> correct = {"a": np.array([[1.0, 1, 1, 0]]), "b": np.array([[1.0, 0, 0, 0]])}
    >>> {name: round(m, 3) for name, m in shrunk_gains(correct, "b").items()}
    {'a': 0.043, 'b': 0.0}
    """
    d = _differences(correct, reference)
    tested, d = np.isfinite(d), np.nan_to_num(d)
    sums = tested.sum(axis=1), d.sum(axis=1), (d**2).sum(axis=1)
    return dict(zip(correct, _shrunk(sums, shrinkage).tolist(), strict=True))


def _differences(correct: ByCandidate, reference: str) -> Floats:
    return np.array([row_means(each - correct[reference]) for each in correct.values()])


def _shrunk(sums: Iterable[Floats], shrinkage: float) -> Floats:
    """Return shrunk means of differences from their number, sum and sum of squares."""
    n, total, squares = sums
    some = np.maximum(n, 1)
    mean = total / some
    variance = np.maximum(squares / some - mean**2, 0.0)
    pooled = (n * variance + PSEUDO_ROWS * PSEUDO_VARIANCE) / (n + PSEUDO_ROWS)
    error = TRAINING_SCATTER * pooled / some
    return np.asarray(mean * shrinkage**2 / (shrinkage**2 + error))


def sharers(predictions: Mapping[str, Sequence[Int]]) -> dict[str, int]:
    """Return by candidate the number of candidates, with it, that label all rows alike.

    `predictions` are arrays of the same shapes for each.
    """
    texts = {
        name: b"".join(np.asarray(part, dtype=np.int64).tobytes() for part in parts)
        for name, parts in predictions.items()
    }
    return {name: [*texts.values()].count(text) for name, text in texts.items()}


def weights(
    gains: Mapping[str, float],
    sharing: Mapping[str, int] | None = None,
    *,
    temperature: float = TEMPERATURE,
) -> dict[str, float]:
    """Return weights that sum to one; `sharing` is as returned by `sharers`.

    >>> {name: round(w, 2) for name, w in weights({"a": 0.07, "b": 0.0}).items()}
    {'a': 0.73, 'b': 0.27}
    """
    shrunk = np.array([*gains.values()])
    parts = np.array([1 if sharing is None else sharing[name] for name in gains])
    found = _softmax(shrunk, parts, temperature)
    return dict(zip(gains, found.tolist(), strict=True))


def _softmax(gains: Floats, parts: Int, temperature: float) -> Floats:
    raw = np.exp((gains - gains.max(axis=-1, keepdims=True)) / temperature) / parts
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))


def weights_of_others(
    correct: ByCandidate,
    reference: str,
    sharing: Mapping[str, int],
    *,
    shrinkage: float = SHRINKAGE,
    temperature: float = TEMPERATURE,
) -> Floats:
    """Return weights for each row from the differences of the other rows.

    The result has the shape (rows, candidates).
    """
    d = _differences(correct, reference)
    tested, d = np.isfinite(d), np.nan_to_num(d)
    sums = (x.sum(axis=1, keepdims=True) - x for x in (tested.astype(float), d, d**2))
    parts = np.array([sharing[name] for name in correct])
    return _softmax(_shrunk(sums, shrinkage).T, parts, temperature)


def vote_codes(predictions: Int, weights: Floats, n_classes: int) -> tuple[Int, Floats]:
    """Return the class with the most weight, and the weight of each class, by row.

    `predictions` (candidates, n) are class codes, `NOT_TESTED` gives no vote; `weights`
    are (candidates,) or (n, candidates). Ties go to the first class; the code is
    `NOT_TESTED` if no candidate votes.
    """
    shares = sums_of_votes(predictions, weights, n_classes)
    # Sums of the same weights in another order differ by rounding.
    rounded = shares.round(DECIMALS)
    codes = np.where(rounded.any(axis=1), rounded.argmax(axis=1), NOT_TESTED)
    return codes, shares


def held_out_votes(
    predicted: ByCandidate, weights_by_row: Floats, n_classes: int
) -> Int:
    """Return the vote's code for each repeat and row."""
    stacked = np.array([*predicted.values()]).transpose(1, 0, 2)
    found = np.empty((len(stacked), len(weights_by_row)), dtype=np.intp)
    for votes, codes in zip(found, stacked, strict=True):
        votes[:] = vote_codes(codes, weights_by_row, n_classes)[0]
    return found


def class_shares(labels: Int, codes: Int, n_classes: int) -> Floats:
    """Return the class shares expected of rows: those of the labels by the vote.

    With few labels, a correction by the errors on held-out rows adds more noise than it
    removes bias. Without such rows, the shares are those of the labelled rows, whose
    classes are `codes`.
    """
    rows = labels if len(labels) else codes
    return np.bincount(rows, minlength=n_classes) / len(rows)


def _row_weights(tested: NDArray[np.bool_], codes: Int, shares: Floats) -> Floats:
    """Return weights of rows that give tested classes their shares and sum to one."""
    sizes = np.bincount(codes[tested], minlength=len(shares))
    raw = np.where(tested, shares[codes] / np.maximum(sizes[codes], 1), 0.0)
    return np.asarray(raw / (raw.sum() or 1.0))


def mean_accuracy(correct: Floats, codes: Int, shares: Floats) -> float:
    """Return the mean correctness of tested rows at given class shares."""
    tested = np.isfinite(correct)
    by_row = _row_weights(tested, codes, shares)
    return float(by_row @ np.nan_to_num(correct)) if by_row.any() else math.nan


def accuracy(
    correct: Floats,
    codes: Int,
    shares: Floats,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """Return the accuracy at given class shares, with its interval.

    They are the median and quantiles of the beta distribution by Jeffreys' prior for
    the effective number of rows, so that ten rows of ten are no certainty. It is
    divided by `TRAINING_SCATTER`, because the fits of hold-outs share rows. Classes
    without a tested row are left out.

    Parameters
    ----------
    correct : ndarray of shape (n,)
        Mean correctness of each row over its hold-outs; NaN if it was never tested.
    codes, shares : ndarray of shape (n,), (n_classes,)
        Classes of the rows, and the class shares.
    bounds : tuple of float, default=(0, 1)
        What the accuracy is known to lie between.
    """
    by_row = _row_weights(np.isfinite(correct), codes, shares)
    squares = TRAINING_SCATTER * float((by_row**2).sum())
    n = 1 / squares if by_row.any() else math.nan
    value = np.clip(mean_accuracy(correct, codes, shares), 0.0, 1.0)
    quantiles = np.array([0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2])
    a, b = value * n + 0.5, (1 - value) * n + 0.5
    least, most = betainc(a, b, np.array(bounds))
    found = betaincinv(a, b, least + quantiles * (most - least))
    return Estimate(*np.clip(found, *bounds).tolist())


def bounds_of(known: NDArray[np.bool_], n_rows: int) -> tuple[float, float]:
    """Return bounds of an accuracy on rows of which some are `known` to be right."""
    n = max(n_rows, 1)
    return float(known.sum() / n), float(1 - (~known).sum() / n)


def of_the_rest(estimate: Estimate, known: NDArray[np.bool_], n_rows: int) -> Estimate:
    """Return the accuracy on the rows whose label is still unknown.

    `estimate` is for all of `n_rows`; `known` says for those with a known label whether
    the vote was right.
    """
    rest = n_rows - len(known)
    if not rest:
        return estimate
    right = (np.array(estimate) * n_rows - known.sum()) / rest
    return Estimate(*np.clip(right, 0.0, 1.0).tolist())


def source_gain(
    votes: tuple[Int, Int],
    truth: Int,
    held_out: tuple[Int, Int],
    codes: Int,
    shares: Floats,
) -> SourceGain:
    """Return the gain of a vote over that without the source on unlabelled rows.

    Rows on which both agree gain nothing. Differing rows whose label is known count
    exactly; the others have the mean gain of held-out rows on which both differ.

    Parameters
    ----------
    votes : tuple of two ndarrays of shape (n_unlabelled,)
        Labels of unlabelled rows by the vote, and by that without the source.
    truth : ndarray of shape (n_unlabelled,)
        Labels that are known by now, -1 for others.
    held_out : tuple of two ndarrays of shape (repeats, n)
        Labels of held-out rows by both.
    codes, shares : ndarray of shape (n,), (n_classes,)
        Classes of the labelled rows, and the expected class shares.
    """
    first, second = votes
    if not (n := len(first)):
        return SourceGain(math.nan, math.nan, math.nan, math.nan, math.nan)
    differ, known = first != second, truth != NOT_TESTED
    gains = (first == truth).astype(float) - (second == truth)
    exact = float(gains[known & differ].sum())
    unknown = int((differ & ~known).sum())
    rate, error, variance = _gain_where_different(held_out, codes, shares)
    spread = math.sqrt(unknown**2 * error + unknown * variance)
    half = float(ndtri((1 + LEVEL) / 2)) * spread
    centre = exact + unknown * rate
    ends = np.clip([centre - half, centre + half], exact - unknown, exact + unknown)
    low, high = (ends / n).tolist()
    return SourceGain(centre / n, low, high, float(differ.mean()), unknown / n)


def _gain_where_different(
    held_out: tuple[Int, Int], codes: Int, shares: Floats
) -> tuple[float, float, float]:
    """Return the mean gain of differing rows, its squared error, and its variance."""
    first, second = held_out
    right, other = correctness(first, codes), correctness(second, codes)
    differing = row_means(np.where(np.isnan(right), np.nan, first != second))
    d = row_means(right - other)
    by_row = _row_weights(np.isfinite(d), codes, shares)
    if by_row.any():
        by_row /= (by_row**2).sum()  # they sum to the effective number of rows
    squares = row_means((right - other) ** 2)
    d, differing, squares = map(np.nan_to_num, (d, differing, squares))
    n = float(by_row @ differing) + PSEUDO_DIFFERING
    rate = float(by_row @ d) / n
    variance = (float(by_row @ squares) + PSEUDO_DIFFERING) / n - rate**2
    return rate, variance / n, variance
