"""Families of problems for `benchmarks.decisions`, whose target labels are all known.

A family has six draws. Each draw samples rows of both domains and hides all target
labels except 2, 3, 5 or 10 per class, in turn over the draws; in a small class, at most
half of the rows keep their labels. In at least a third of the families the source is
bad by construction. Six families are set aside: no choice of a rule depends on them.

Families and random streams were fixed before any rule was run on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.decision_data import (
    Sides,
    docs_and_code,
    embedded_digits,
    photographs,
    requests,
)
from cdspp.core.names import REAL, SHUFFLED_COLUMNS, SHUFFLED_PAIRS, SWAPPED
from cdspp.core.seeding import generator
from cdspp.methods.base import UNLABELLED, Float, Int, SourceDomain
from cdspp.stages.source_states import SourceState

__all__ = ["DRAWS", "FAMILIES", "LABELLED", "Draw", "Family"]

DRAWS = 6
LABELLED = (2, 3, 5, 10)  # rows per class, in turn over draws
# Changes of a source, in addition to the states of `cdspp.stages.source_states`.
NOISE, OTHER_CLASSES = "column-noise", "other-classes"
PERMUTED = "permuted-labels"
# By table of scikit-learn, the ranges of columns of the source and of the target.
COLUMNS = {"wine": ((0, 8), (6, 13)), "breast_cancer": ((0, 12), (9, 30))}
UPPER, LOWER = slice(0, 5), slice(3, 8)  # lines of pixels, of 8; two are in both


class Draw(NamedTuple):
    """A problem as `cdspp.compare` receives it, and the true labels.

    Attributes
    ----------
    X : ndarray of shape (n_target, n_features)
        Target rows.
    y : ndarray of shape (n_target,)
        Codes of their classes; -1 where the label is hidden.
    truth : ndarray of shape (n_target,)
        Codes of the classes of all rows.
    source : SourceDomain
        The source, with a bridge if the family has one.
    """

    X: Float
    y: Int
    truth: Int
    source: SourceDomain


@dataclass(frozen=True)
class Family:
    """A family of problems.

    Attributes
    ----------
    name : str
        Its name, which also seeds its random streams.
    make : callable
        Returns a draw, with its true source, from a random stream and a number.
    state : str
        Change of the source: a state of `cdspp.stages.source_states`; `NOISE` with the
        mean and deviation of each column; or `OTHER_CLASSES`, the later half of the
        classes under the names of the earlier half, which are those of the target.
    set_aside : bool
        Whether no choice of a rule may depend on it.
    """

    name: str
    make: Callable[[np.random.Generator, int], Draw]
    state: str = REAL
    set_aside: bool = False

    @property
    def bad(self) -> bool:
        """Whether the source is useless or harmful by construction."""
        return self.state != REAL

    def draw(self, number: int) -> Draw:
        """Return the draw of a number; equal numbers give equal draws.

        DataError: the data cannot be fetched.
        """
        rng = generator("decisions", self.name, number)
        draw = self.make(rng, number)
        if self.state == NOISE:
            return draw._replace(source=_noise(draw.source, rng))
        if self.state == OTHER_CLASSES:
            return _with_other_classes(draw)
        is_labelled = draw.y != UNLABELLED
        labelled_rows = SourceDomain(draw.X[is_labelled], draw.y[is_labelled])
        axes = "decisions", self.name, number
        source = SourceState(self.state).of(draw.source, labelled_rows, *axes)
        assert source is not None
        return draw._replace(source=source)


def _noise(source: SourceDomain, rng: np.random.Generator) -> SourceDomain:
    X = np.asarray(source.X)
    noise = X.mean(axis=0) + X.std(axis=0) * rng.standard_normal(X.shape)
    return replace(source, X=noise)


def _with_other_classes(draw: Draw) -> Draw:
    n_classes = len(np.unique(draw.truth)) // 2
    in_earlier_half, codes = draw.truth < n_classes, np.asarray(draw.source.y)
    in_later_half = codes >= n_classes
    rows = np.asarray(draw.source.X)[in_later_half]
    source = replace(draw.source, X=rows, y=codes[in_later_half] - n_classes)
    return Draw(
        draw.X[in_earlier_half],
        draw.y[in_earlier_half],
        draw.truth[in_earlier_half],
        source,
    )


def _hide_labels(truth: Int, number: int, rng: np.random.Generator) -> Int:
    """Return the labels with all but a few of each class hidden."""
    y = np.full_like(truth, UNLABELLED)
    for code in np.unique(truth):
        rows = rng.permutation(np.flatnonzero(truth == code))
        n_labelled = min(LABELLED[number % len(LABELLED)], len(rows) // 2)
        y[rows[:n_labelled]] = code
    return y


def _sample_rows(codes: Int, most: int, rng: np.random.Generator) -> Int:
    """Return random rows, at most `most` of each class, in ascending order."""
    rows_of_classes = [
        rng.permutation(np.flatnonzero(codes == code))[:most]
        for code in np.unique(codes)
    ]
    return np.sort(np.concatenate(rows_of_classes))


def _split_rows(codes: Int, share: float, rng: np.random.Generator) -> tuple[Int, Int]:
    """Split the rows of each class: a share for the source, the rest for the target."""
    to_source = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        to_source[rows[: round(share * len(rows))]] = True
    return to_source.nonzero()[0], (~to_source).nonzero()[0]


def _laboratories(
    rng: np.random.Generator, number: int, *, table: str, bridged: bool = True
) -> Draw:
    """Cut a table of scikit-learn by rows and by columns, of which some are in both."""
    from sklearn import datasets

    X, codes = getattr(datasets, f"load_{table}")(return_X_y=True)
    source_rows, target_rows = _split_rows(codes, 1 / 3, rng)
    (first, last), (other_first, other_last) = COLUMNS[table]
    shared = [(k - first, k - other_first) for k in range(other_first, last)]
    source = SourceDomain(
        X[source_rows, first:last],
        codes[source_rows],
        shared_columns=shared if bridged else None,
    )
    truth = codes[target_rows]
    rows = X[target_rows, other_first:other_last]
    return Draw(rows, _hide_labels(truth, number, rng), truth, source)


def _halves(rng: np.random.Generator, number: int) -> Draw:
    """Cut digits of scikit-learn into upper and lower pixels, with a stripe in both."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    source_rows, target_rows = _split_rows(digits.target, 1 / 2, rng)
    source_rows = source_rows[_sample_rows(digits.target[source_rows], 30, rng)]
    target_rows = target_rows[_sample_rows(digits.target[target_rows], 60, rng)]
    upper = digits.images[source_rows, UPPER].reshape(len(source_rows), -1)
    lower = digits.images[target_rows, LOWER].reshape(len(target_rows), -1)
    n_above = LOWER.start * digits.images.shape[2]
    shared = [(k, k - n_above) for k in range(n_above, upper.shape[1])]
    source = SourceDomain(upper, digits.target[source_rows], shared_columns=shared)
    truth = digits.target[target_rows]
    return Draw(lower, _hide_labels(truth, number, rng), truth, source)


def _sample_draw(
    rng: np.random.Generator,
    number: int,
    *,
    load: Callable[[], Sides],
    most: tuple[int, int],
    n_pairs: int = 0,
) -> Draw:
    """Sample rows of two sides, at most `most` per class, and `n_pairs` pairs."""
    sides = load()
    (X_source, X_target), (codes, truth) = sides.X, sides.codes
    source_rows, target_rows = (
        _sample_rows(codes, most[0], rng),
        _sample_rows(truth, most[1], rng),
    )
    pairs = None
    if sides.pairs is not None and n_pairs:
        pair_rows = np.sort(rng.permutation(len(sides.pairs[0]))[:n_pairs])
        pairs = sides.pairs[0][pair_rows], sides.pairs[1][pair_rows]
    source = SourceDomain(
        X_source[source_rows],
        codes[source_rows],
        shared_columns=sides.shared,
        paired_rows=pairs,
    )
    truth = truth[target_rows]
    return Draw(X_target[target_rows], _hide_labels(truth, number, rng), truth, source)


def _digits_with_pairs(rng: np.random.Generator, number: int) -> Draw:
    n_pairs = 80 + 4 * number
    return _sample_draw(
        rng, number, load=embedded_digits, most=(20, 40), n_pairs=n_pairs
    )


def _requests(rng: np.random.Generator, number: int, *, n_pairs: int) -> Draw:
    """Sample requests of 110 intents, six of each without a label."""
    most = 6, LABELLED[number % len(LABELLED)] + 6
    return _sample_draw(rng, number, load=requests, most=most, n_pairs=n_pairs)


_docs = partial(_sample_draw, load=partial(docs_and_code, False), most=(25, 60))
_words = partial(_sample_draw, load=partial(docs_and_code, True), most=(25, 60))
_decaf = partial(
    _sample_draw,
    load=partial(photographs, ("surf", "amazon"), ("decaf6", "dslr")),
    most=(20, 60),
)
_googlenet = partial(
    _sample_draw,
    load=partial(photographs, ("surf", "caltech"), ("googlenet", "webcam")),
    most=(20, 60),
)
_wine = partial(_laboratories, table="wine")
_cancer = partial(_laboratories, table="breast_cancer")

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("wine", _wine),
        Family("cancer", _cancer),
        Family("digits", _halves),
        Family("docs to code", _docs),
        Family("embedded digits, pairs", _digits_with_pairs),
        Family("requests, 100 pairs", partial(_requests, n_pairs=100)),
        Family("photographs, DeCAF6", _decaf),
        Family("wine, permuted labels", _wine, PERMUTED),
        Family("cancer, noise", _cancer, NOISE),
        Family("digits, permuted classes", _halves, SWAPPED),
        Family("docs to code, wrong words", _words, SHUFFLED_COLUMNS),
        Family("photographs, other classes", _googlenet, OTHER_CLASSES),
        Family("wine, no bridge", partial(_wine, bridged=False), set_aside=True),
        Family("docs to code, words", _words, set_aside=True),
        Family("requests, 200 pairs", partial(_requests, n_pairs=200), set_aside=True),
        Family("photographs, GoogLeNet", _googlenet, set_aside=True),
        Family(
            "requests, wrong pairs",
            partial(_requests, n_pairs=100),
            SHUFFLED_PAIRS,
            set_aside=True,
        ),
        Family("digits, other classes", _halves, OTHER_CLASSES, set_aside=True),
    )
}
