"""Families of problems for `benchmarks.decisions`, whose target labels are all known.

A draw is a family, a number of labels a class, and a number. The number determines the
rows of both domains, and in which order labels are revealed, so that fewer labels are
a part of more. At most half of the rows of a class are labelled. In a third of the
families the source is useless or harmful by construction.

The families of `SET_ASIDE`, a third of all, share no data set with the others. They are
for the end: no choice of a candidate, a rule or a constant depends on them. Families
and random streams were fixed before any rule was run on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks import decision_data as data
from benchmarks.decision_data import Sides, Table
from cdspp.core.names import PERMUTED_CLASSES, REAL, SHUFFLED_COLUMNS, SHUFFLED_PAIRS
from cdspp.core.seeding import generator
from cdspp.methods.base import UNLABELLED, Float, Int, SourceDomain
from cdspp.stages.source_states import SourceState

__all__ = ["FAMILIES", "LABELS", "SET_ASIDE", "Draw", "Family"]

LABELS = (0, 1, 2, 3, 5, 10, 30)  # rows a class
# Which rows are labelled: as many of each class; rows at random, at least one of each
# class; or as many of each class but one row of the first.
EQUAL, NATURAL, SINGLETON = "equal", "natural", "singleton"
# Changes of a source, in addition to the states of `cdspp.stages.source_states`.
NOISE, OTHER_CLASSES = "column-noise", "other-classes"
PERMUTED = "permuted-labels"
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
        Returns target rows, their classes and the true source from a random stream.
    state : str
        Change of the source: a state of `cdspp.stages.source_states`; `NOISE` with the
        mean and deviation of each column; or `OTHER_CLASSES`, the later half of the
        classes under the names of the earlier half, which are those of the target.
    labelled : {'equal', 'natural', 'singleton'}
        Which rows are labelled.
    """

    name: str
    make: Callable[[np.random.Generator], tuple[Float, Int, SourceDomain]]
    state: str = REAL
    labelled: str = EQUAL

    @property
    def bad(self) -> bool:
        """Whether the source is useless or harmful by construction."""
        return self.state != REAL

    @property
    def set_aside(self) -> bool:
        """Whether no choice may depend on the family."""
        return self.name in SET_ASIDE

    def draw(self, labels: int, number: int) -> Draw:
        """Return a draw; equal arguments give equal draws.

        DataError: the data cannot be fetched.
        """
        axes = "decisions", self.name, number
        rng = generator(*axes)
        X, truth, source = self.make(rng)
        if self.state == NOISE:
            source = _noise(source, rng)
        elif self.state == OTHER_CLASSES:
            X, truth, source = _with_other_classes(X, truth, source)
        else:
            changed = SourceState(self.state).of(source, source, *axes)
            assert changed is not None
            source = changed
        y = _reveal(truth, labels, self.labelled, generator(*axes, "labels"))
        return Draw(X, y, truth, source)


def _noise(source: SourceDomain, rng: np.random.Generator) -> SourceDomain:
    X = np.asarray(source.X)
    noise = X.mean(axis=0) + X.std(axis=0) * rng.standard_normal(X.shape)
    return replace(source, X=noise)


def _with_other_classes(
    X: Float, truth: Int, source: SourceDomain
) -> tuple[Float, Int, SourceDomain]:
    n_classes = len(np.unique(truth)) // 2
    in_earlier_half, codes = truth < n_classes, np.asarray(source.y)
    in_later_half = codes >= n_classes
    rows = np.asarray(source.X)[in_later_half]
    other = replace(source, X=rows, y=codes[in_later_half] - n_classes)
    return X[in_earlier_half], truth[in_earlier_half], other


def _reveal(truth: Int, labels: int, kind: str, rng: np.random.Generator) -> Int:
    """Return the labels of some rows, at most half of each class."""
    order = rng.permutation(len(truth))
    classes, sizes = np.unique(truth, return_counts=True)
    rank = np.empty(len(truth), dtype=np.intp)  # of a row among those of its class
    for code in classes:
        rank[order[truth[order] == code]] = np.arange(np.sum(truth == code))
    allowed = rank < (sizes // 2)[np.searchsorted(classes, truth)]
    revealed = allowed & (rank < labels)
    if kind == SINGLETON:
        revealed &= (truth != classes[0]) | (rank < 1)
    if kind == NATURAL and labels:
        first = allowed & (rank < 1)
        others = order[(allowed & ~first)[order]]
        revealed = first.copy()
        revealed[others[: (labels - 1) * len(classes)]] = True
    return np.where(revealed, truth, UNLABELLED)


def _sample_rows(codes: Int, n_rows: int, rng: np.random.Generator) -> Int:
    """Return about `n_rows` random rows, ascending, with the class shares of all."""
    share = min(n_rows / len(codes), 1.0)
    parts = [
        rng.permutation(rows)[: max(round(share * len(rows)), 4)]
        for rows in (np.flatnonzero(codes == code) for code in np.unique(codes))
    ]
    return np.sort(np.concatenate(parts))


def _split_rows(
    codes: Int, n_rows: tuple[int, int], rng: np.random.Generator
) -> tuple[Int, Int]:
    """Return rows of the source and other rows of the target."""
    in_source = _sample_rows(codes, n_rows[0], rng)
    others = np.setdiff1d(np.arange(len(codes)), in_source)
    return in_source, others[_sample_rows(codes[others], n_rows[1], rng)]


def _cut_table(
    rng: np.random.Generator,
    *,
    load: Callable[[], Table],
    columns: tuple[int, int],
    n_shared: int,
    n_rows: tuple[int, int],
    rare: float = 1.0,
) -> tuple[Float, Int, SourceDomain]:
    """Cut a table by rows and by random columns, of which some are in both domains.

    Of the first class, only the share `rare` is kept.
    """
    X, codes = load()
    kept = np.flatnonzero((codes != 0) | (rng.random(len(codes)) < rare))
    X, codes = X[kept], codes[kept]
    in_source, in_target = _split_rows(codes, n_rows, rng)
    order = rng.permutation(X.shape[1])
    ours = np.r_[order[:n_shared], order[columns[1] : columns[1] + columns[0]]]
    source = SourceDomain(
        X[in_source][:, ours[: columns[0]]],
        codes[in_source],
        shared_columns=[(k, k) for k in range(n_shared)] or None,
    )
    return X[in_target][:, order[: columns[1]]], codes[in_target], source


def _mix_iris(rng: np.random.Generator) -> tuple[Float, Int, SourceDomain]:
    """Split iris by rows; columns of the source are three mixtures of the four."""
    X, codes = data.table("iris")
    in_source, in_target = _split_rows(codes, (60, 90), rng)
    mixed = X[in_source] @ rng.standard_normal((4, 3))
    return X[in_target], codes[in_target], SourceDomain(mixed, codes[in_source])


def _digits(
    rng: np.random.Generator, *, bridged: bool = True, moved: bool = False
) -> tuple[Float, Int, SourceDomain]:
    """Split digits into upper and lower pixels with a stripe in both, or move them.

    Digits of the target that are `moved` lie a pixel further to the right. Without a
    bridge, each class of the target is a fifth smaller than the one before.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, codes = digits.images, digits.target
    in_source, in_target = _split_rows(codes, (300, 350 if bridged else 600), rng)
    if not bridged:
        shares = 0.8 ** codes[in_target]
        in_target = in_target[rng.random(len(in_target)) < shares]
    lines = [slice(0, 8)] * 2 if moved else [UPPER, LOWER]
    X_source = images[in_source, lines[0]].reshape(len(in_source), -1)
    shown = np.roll(images, 1, axis=2) if moved else images
    X = shown[in_target, lines[1]].reshape(len(in_target), -1)
    n_above = lines[1].start * images.shape[2]
    shared = [(k, k - n_above) for k in range(n_above, X_source.shape[1])]
    bridge = shared if bridged else None
    source = SourceDomain(X_source, codes[in_source], shared_columns=bridge)
    return X, codes[in_target], source


def _sample_sides(
    rng: np.random.Generator,
    *,
    load: Callable[[], Sides],
    n_rows: tuple[int, int],
    n_pairs: int = 0,
    n_classes: int = 0,
) -> tuple[Float, Int, SourceDomain]:
    """Sample rows of two sides, pairs, and classes (by default all)."""
    sides = load()
    codes, truth = sides.codes
    drawn = np.unique(truth)
    if n_classes:
        drawn = np.sort(rng.permutation(drawn)[:n_classes])
    ours, theirs = (np.flatnonzero(np.isin(side, drawn)) for side in sides.codes)
    ours = ours[_sample_rows(codes[ours], n_rows[0], rng)]
    theirs = theirs[_sample_rows(truth[theirs], n_rows[1], rng)]
    pairs = None
    if sides.pairs is not None and n_pairs:
        pair_rows = np.sort(rng.permutation(len(sides.pairs[0]))[:n_pairs])
        pairs = sides.pairs[0][pair_rows], sides.pairs[1][pair_rows]
    source = SourceDomain(
        sides.X[0][ours],
        np.searchsorted(drawn, codes[ours]),
        shared_columns=sides.shared,
        paired_rows=pairs,
    )
    return sides.X[1][theirs], np.searchsorted(drawn, truth[theirs]), source


def _translations(
    rng: np.random.Generator, *, languages: tuple[str, str], n_pairs: int
) -> tuple[Float, Int, SourceDomain]:
    """Split documents in two languages into pairs, a source and a target."""
    (first, second), (codes, _) = (sides := data.reuters(*languages)).X, sides.codes
    order = rng.permutation(len(codes))
    pairs, in_source, in_target = np.split(order, [n_pairs, n_pairs + 200])
    source = SourceDomain(
        first[in_source], codes[in_source], paired_rows=(first[pairs], second[pairs])
    )
    return second[in_target], codes[in_target], source


_wine = partial(
    _cut_table,
    load=partial(data.table, "wine"),
    columns=(8, 8),
    n_shared=3,
    n_rows=(80, 98),
)
_cancer = partial(
    _cut_table,
    load=partial(data.table, "breast_cancer"),
    columns=(16, 16),
    n_shared=6,
    n_rows=(250, 300),
)
_diabetes = partial(
    _cut_table, load=data.diabetes, columns=(6, 7), n_shared=4, n_rows=(180, 260)
)
_tags = partial(
    _cut_table, load=data.tags, columns=(36, 36), n_shared=16, n_rows=(300, 350)
)
_embedded_digits = partial(
    _sample_sides, load=data.embedded_digits, n_rows=(200, 350), n_pairs=100
)
_docs, _words = (
    partial(_sample_sides, load=partial(data.docs_and_code, words), n_rows=(250, 350))
    for words in (False, True)
)
_requests = partial(
    _sample_sides, load=data.requests, n_rows=(360, 360), n_pairs=100, n_classes=24
)
_same_words = partial(data.photographs_words, "amazon", "webcam", 150)
_decaf = partial(data.photographs, ("surf", "caltech"), ("decaf6", "dslr"))

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("wine, three columns", _wine),
        Family("wine, no bridge", partial(_wine, columns=(7, 6), n_shared=0)),
        Family("wine, a singleton class", _wine, labelled=SINGLETON),
        Family("wine, wrong columns", _wine, SHUFFLED_COLUMNS),
        Family("cancer, six columns", _cancer, labelled=NATURAL),
        Family(
            "cancer, one column, few ill",
            partial(_cancer, columns=(6, 6), n_shared=1, rare=0.25),
        ),
        Family("cancer, permuted labels", _cancer, PERMUTED),
        Family(
            "generated, wide",
            partial(
                _cut_table,
                load=data.generated,
                columns=(110, 120),
                n_shared=40,
                n_rows=(350, 350),
            ),
            labelled=NATURAL,
        ),
        Family("digits, a stripe", _digits),
        Family("digits, moved", partial(_digits, moved=True)),
        Family("digits, no bridge", partial(_digits, bridged=False), labelled=NATURAL),
        Family("digits, exchanged classes", _digits, PERMUTED_CLASSES),
        Family("digits, other classes", _digits, OTHER_CLASSES),
        Family("embedded digits, 100 pairs", _embedded_digits),
        Family("embedded digits, 20 pairs", partial(_embedded_digits, n_pairs=20)),
        Family("embedded digits, wrong pairs", _embedded_digits, SHUFFLED_PAIRS),
        Family("docs to code", _docs, labelled=NATURAL),
        Family("docs to code, words", _words),
        Family("docs to code, wrong words", _words, SHUFFLED_COLUMNS),
        Family("requests, 100 pairs", _requests),
        Family("requests, 300 pairs", partial(_requests, n_pairs=300)),
        Family("requests, noise", _requests, NOISE),
        Family("iris, no bridge", _mix_iris),
        Family(
            "iris, two columns, a singleton class",
            partial(
                _cut_table,
                load=partial(data.table, "iris"),
                columns=(3, 3),
                n_shared=2,
                n_rows=(60, 90),
            ),
            labelled=SINGLETON,
        ),
        Family("diabetes, four columns", _diabetes, labelled=NATURAL),
        Family("diabetes, noise", _diabetes, NOISE),
        Family(
            "translations, 100 pairs",
            partial(_translations, languages=("en", "sp"), n_pairs=100),
        ),
        Family(
            "translations, wrong pairs",
            partial(_translations, languages=("fr", "it"), n_pairs=60),
            SHUFFLED_PAIRS,
        ),
        Family("tags, sixteen columns", _tags),
        Family("tags, other classes", _tags, OTHER_CLASSES),
        Family(
            "photographs, same words",
            partial(_sample_sides, load=_same_words, n_rows=(250, 295)),
        ),
        Family(
            "photographs, exchanged classes",
            partial(_sample_sides, load=_decaf, n_rows=(250, 157)),
            PERMUTED_CLASSES,
        ),
        Family(
            "library to code, twenty classes",
            partial(_sample_sides, load=data.functions, n_rows=(300, 350)),
            labelled=NATURAL,
        ),
    )
}
SET_ASIDE = frozenset(
    {
        "iris, no bridge",
        "iris, two columns, a singleton class",
        "diabetes, four columns",
        "diabetes, noise",
        "translations, 100 pairs",
        "translations, wrong pairs",
        "tags, sixteen columns",
        "tags, other classes",
        "photographs, same words",
        "photographs, exchanged classes",
        "library to code, twenty classes",
    }
)
