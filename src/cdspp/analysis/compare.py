"""Should I use A for B? Repeated hold-out of the few labelled rows that one has.

In a study target rows are fully labelled and trials are many. Here a few rows have a
label, and the same question is put to them: is a method better with the source than in
every other source state. Held-out rows are in no fit, not even without their label.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from cdspp.analysis.decision import Comparison, HoldOut, conclude
from cdspp.analysis.summary import Floats
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.errors import (
    CollapseWarning,
    CostWarning,
    DataError,
    LabelWarning,
    MethodFailed,
)
from cdspp.core.names import BASELINE, NO_SCALE, REAL, REFERENCE, TARGET_ONLY
from cdspp.core.scaling import check_scale, fit_scaling
from cdspp.core.seeding import generator, integer_seed
from cdspp.methods import (
    available,
    make,
    method_class,
    method_module,
    seed_option,
)
from cdspp.methods.base import UNLABELLED, Int, SourceDomain
from cdspp.methods.labels import compare_classes, read_labels
from cdspp.stages.source_states import STATES, SourceState
from cdspp.study.cost import Size, fit_cost

__all__ = ["compare", "usual_methods"]


class _Problem(NamedTuple):
    """Rows and class codes; -1 where a target row has no label."""

    X: Floats
    codes: Int
    source: SourceDomain

    @property
    def unlabelled(self) -> Int:
        """Which target rows have no label."""
        return np.flatnonzero(self.codes == UNLABELLED)


class _Fold(NamedTuple):
    """One repeat: labelled rows to fit on, by class and in order, and rows to test."""

    number: int
    train: list[Int]
    test: Int


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    source: SourceDomain,
    methods: Sequence[str] | None = None,
    repeats: int = 15,
    test_share: float = 1 / 3,
    scale: str = NO_SCALE,
    max_rows: int = 2000,
    margin: float = 1.0,
    wanted: float = 5.0,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Say whether a source is worth using for a target with few labels.

    Parameters
    ----------
    X : array-like of shape (n_target, n_features)
        Target rows.
    y : array-like of shape (n_target,)
        Their labels, as `fit` takes them; every class needs two labelled rows.
    source : SourceDomain
        Labelled source rows.
    methods : sequence of str, optional
        Identifiers; `usual_methods` by default. Transductive ones cannot predict rows
        that are held out.
    repeats : int, default=15
        Stratified hold-outs; `MIN_TRIALS` at least.
    test_share : float, default=1/3
        Share of the labelled rows of each class that is held out, one row at least.
    scale : {"none", "unit", "standardise", "pca"}, default="none"
        How features are scaled (`cdspp.core.scaling.fit_scaling`): those of the source
        once, those of the target by the rows of each fit.
    max_rows : int, default=2000
        At most so many unlabelled target rows, and about as many source rows, take part
        in a fit; drawn anew in each repeat.
    margin, wanted : float, default=1.0, 5.0
        In points: gains within the margin count as equal, and a gain of `wanted` is
        what the number of labelled rows that would be needed refers to.
    seed : int, default=0
        Of hold-outs, source states and methods.
    progress : callable, optional
        Told what is about to be fitted, and how long it will take.

    Returns
    -------
    Comparison
        Frames, the decision and a sentence.

    Raises
    ------
    ConfigError
        A method or a scale is not known.
    DataError
        A class has fewer than two labelled rows, a method is transductive, or
        `repeats` are too few.

    Notes
    -----
    ``repeats`` fits a method and state, 6 states, and 2 more for fewer labels.
    """
    check_scale(scale)
    problem = _problem(X, y, source, scale)
    folds = [_fold(problem, number, test_share, seed) for number in range(repeats)]
    chosen = list(methods or usual_methods(problem))
    _check(chosen, repeats)
    fits = _Fits(problem, scale, max_rows, seed)
    found: dict[tuple[str, str], Floats] = {}
    fewer: dict[tuple[str, int], Floats] = {}
    for method in chosen:
        states = STATES if method_class(method).uses_source else (REAL,)
        counts = _fewer_labels(folds)
        n_fits = repeats * (len(states) + len(counts))
        seconds = n_fits * fits.seconds(method)
        progress(f"{method}: {n_fits} fits, about {math.ceil(seconds)} s")
        for state in states:
            found[method, state] = fits.accuracies(folds, method, state)
        for labels in counts:
            fewer[method, labels] = fits.accuracies(folds, method, REAL, labels)
    n_test, by_class = len(folds[0].test), [len(rows) for rows in folds[0].train]
    told = HoldOut(sum(by_class), n_test, max(by_class), chosen, found, fewer)
    return replace(conclude(told, margin / 100, wanted / 100), note=fits.note())


def usual_methods(problem: Any) -> list[str]:
    """Return the methods that are compared by default.

    They are the baseline, CDSPP, CDSPP after PCA, the cheapest methods of two other
    families, and CDSPP on the target alone.

    Parameters
    ----------
    problem : object
        Has `X`, `codes` (-1 where unlabelled) and `source`.
    """
    size = _size(problem)
    own = [BASELINE, REFERENCE, "cdspp-pca", TARGET_ONLY]
    rivals = [
        name
        for name in available()
        if name not in (*own, "cdspp-sup")
        and not method_class(name).transductive
        and not method_class(name).needs_torch
    ]
    rivals.sort(key=lambda name: fit_cost(method_class(name), size).seconds)
    families: dict[str, str] = {}
    for name in rivals:
        families.setdefault(method_module(name).rpartition(".")[0], name)
    return [*own[:3], *list(families.values())[:2], own[3]]


def _size(problem: Any, max_rows: int | None = None) -> Size:
    """Return the size of a problem, of which at most so many rows take part."""
    known = problem.codes[problem.codes != UNLABELLED]
    n_source, d_source = np.shape(problem.source.X)
    n_unlabelled = len(problem.X) - len(known)
    most = max_rows or max(n_source, n_unlabelled)
    return Size(
        name="own",
        n_classes=len(np.unique(known)),
        n_source=min(n_source, most),
        d_source=d_source,
        n_labelled=len(known),
        n_unlabelled=min(n_unlabelled, most),
        d_target=problem.X.shape[1],
    )


def _problem(X: ArrayLike, y: ArrayLike, source: SourceDomain, scale: str) -> _Problem:
    rows: Floats = check_array(X, dtype=np.float64, input_name="X")
    given: Floats = check_array(source.X, dtype=np.float64, input_name="source.X")
    labels, labelled = read_labels(y)
    source_labels, known = read_labels(source.y)
    if not known.all() or len(labelled) != len(rows):
        raise DataError(
            f"compare: expected a label for each source row and an entry of y for each "
            f"of {len(rows)} target rows, got {int(known.sum())} of {len(known)} and "
            f"{len(labelled)}."
        )
    compare_classes(labels, source_labels, "compare")
    classes, counts = np.unique(labels, return_counts=True)
    if not len(classes) or counts.min() < 2:
        few = "no row has one"
        if len(classes):
            few = f"class {classes[counts.argmin()]} has {counts.min()}"
        raise DataError(
            f"compare: every class needs two labelled target rows, one to fit on and "
            f"one to test, but {few}. Label more rows."
        )
    every = np.unique(np.concatenate([labels, source_labels]))
    codes = np.full(len(rows), UNLABELLED, dtype=np.intp)
    codes[labelled] = np.searchsorted(every, labels)
    scaled = fit_scaling(scale, given).apply(given)
    coded = SourceDomain(scaled, np.searchsorted(every, source_labels))
    return _Problem(rows, codes, coded)


def _check(methods: Sequence[str], repeats: int) -> None:
    if repeats < MIN_TRIALS:
        raise DataError(
            f"compare: repeats must be {MIN_TRIALS} at least, got {repeats}."
        )
    if not any(method_class(name).uses_source for name in methods):
        raise DataError(
            f"compare: none of {', '.join(methods)} uses a source. Add one that does, "
            f"for instance {REFERENCE}."
        )
    for name in methods:
        if method_class(name).transductive:
            raise DataError(
                f"compare: {name} labels the rows it is fitted on, and held-out rows "
                "are in no fit. Choose another method."
            )


def _fold(problem: _Problem, number: int, share: float, seed: int) -> _Fold:
    """Hold some labelled rows of each class out, drawn from the seed."""
    rng = generator("compare", seed, number)
    train, test = [], []
    for code in np.unique(problem.codes[problem.codes != UNLABELLED]):
        rows = rng.permutation(np.flatnonzero(problem.codes == code))
        held = min(max(1, round(share * len(rows))), len(rows) - 1)
        test.append(rows[:held])
        train.append(rows[held:])
    return _Fold(number, train, np.concatenate(test))


def _fewer_labels(folds: Sequence[_Fold]) -> list[int]:
    """Return the numbers of labels per class below that of the whole fit."""
    most = max(len(rows) for rows in folds[0].train)
    return sorted({1, (most + 1) // 2} - {most})


@dataclass(frozen=True, eq=False)
class _Fits:
    """Fits on the rows that a fold leaves, scaled by these rows alone."""

    problem: _Problem
    scale: str
    max_rows: int
    seed: int

    def seconds(self, method: str) -> float:
        """Return how long one fit is expected to take."""
        return fit_cost(
            method_class(method), _size(self.problem, self.max_rows)
        ).seconds

    def note(self) -> str:
        """Say of which rows only some take part in a fit."""
        sizes = {
            "unlabelled target rows": len(self.problem.unlabelled),
            "source rows": len(np.asarray(self.problem.source.y)),
        }
        cut = [f"{n} {what}" for what, n in sizes.items() if n > self.max_rows]
        if not cut:
            return ""
        return f"of {' and '.join(cut)} at most about {self.max_rows} are in each fit"

    def accuracies(
        self,
        folds: Sequence[_Fold],
        method: str,
        state: str,
        labels: int | None = None,
    ) -> Floats:
        """Return the accuracies on held-out rows, NaN where the method fails."""
        found = [self._accuracy(fold, method, state, labels) for fold in folds]
        return np.array(found)

    def _accuracy(
        self, fold: _Fold, method: str, state: str, labels: int | None
    ) -> float:
        problem, number = self.problem, fold.number
        used = np.concatenate([rows[:labels] for rows in fold.train])
        rows = np.concatenate([used, self._unlabelled(number)])
        scaling = fit_scaling(self.scale, problem.X[rows])
        labelled = SourceDomain(scaling.apply(problem.X[used]), problem.codes[used])
        whole, axes = self._source(number), (self.seed, "compare", "own", number)
        source = SourceState(state).of(whole, labelled, *axes)
        drawn = integer_seed(method, self.seed, "compare", number)
        model = make(method, **seed_option(method, drawn))
        with warnings.catch_warnings():
            # What it costs is said before all fits.
            for told in (CollapseWarning, CostWarning, LabelWarning):
                warnings.simplefilter("ignore", told)
            try:
                X = scaling.apply(problem.X[rows])
                model.fit(X, problem.codes[rows], source=source)
            except MethodFailed:
                return math.nan
            predicted = model.predict(scaling.apply(problem.X[fold.test]))
        return float(np.mean(predicted == problem.codes[fold.test]))

    def _unlabelled(self, number: int) -> Int:
        """Return the unlabelled rows of a repeat, all where they are few."""
        rows = self.problem.unlabelled
        if len(rows) <= self.max_rows:
            return rows
        rng = generator("compare", self.seed, number, "unlabelled")
        return np.sort(rng.permutation(rows)[: self.max_rows])

    def _source(self, number: int) -> SourceDomain:
        """Return the source of a repeat: where it is large, a share of each class."""
        X, y = np.asarray(self.problem.source.X), np.asarray(self.problem.source.y)
        if len(y) <= self.max_rows:
            return self.problem.source
        rng = generator("compare", self.seed, number, "source")
        kept = []
        for code in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == code))
            kept.append(rows[: math.ceil(len(rows) * self.max_rows / len(y))])
        chosen = np.sort(np.concatenate(kept))
        return SourceDomain(X[chosen], y[chosen])
