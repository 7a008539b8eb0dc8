"""Should I use A for B? Repeated hold-out of the few labelled rows that one has.

In a study target rows are fully labelled and trials are many. Here a few rows have a
label, and the same question is put to them: is a method better with the source than in
every other source state. Held-out rows are in no fit, not even without their label.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from cdspp.analysis.answers import interval_text
from cdspp.analysis.paired import PairedGain, gain_of
from cdspp.analysis.summary import Floats, mean_sd
from cdspp.analysis.verdicts import (
    EQUAL,
    HELPS,
    HURTS,
    MIN_TRIALS,
    UNDECIDED,
    judge_pair,
    judge_tasks,
)
from cdspp.core.errors import CollapseWarning, DataError, LabelWarning, MethodFailed
from cdspp.core.names import ALONE, BASELINE, REAL, REFERENCE, TARGET_ONLY
from cdspp.core.seeding import generator, integer_seed
from cdspp.core.wording import counted, in_points
from cdspp.methods import available, make, method_class, seed_option
from cdspp.methods.base import UNLABELLED, Int, SourceDomain
from cdspp.methods.labels import compare_classes, read_labels
from cdspp.stages.source_states import STATES, SourceState
from cdspp.study.cost import Size, fit_cost

__all__ = [
    "ALONE_BETTER",
    "CANNOT_TELL",
    "USE",
    "Comparison",
    "compare",
    "usual_methods",
]

USE, ALONE_BETTER, CANNOT_TELL = "use", "train on the target alone", "cannot tell"


@dataclass(frozen=True, eq=False)
class Comparison:
    """What repeated hold-out says of a source.

    Attributes
    ----------
    accuracies : DataFrame
        By method, source state and number of labelled rows per class in the fit: mean
        accuracy over repeats, and its deviation. Other states than the real one are
        run with all labels alone.
    gains : DataFrame
        By method and state: the gain of the real source, with its 95 % interval.
    verdicts : DataFrame
        By method: the verdict after Holm's correction over methods.
    decision : str
        `USE`, `ALONE_BETTER` or `CANNOT_TELL`.
    method : str
        Which method to use: with the source if the decision is `USE`.
    sentence : str
        All of it in words.
    """

    accuracies: pd.DataFrame
    gains: pd.DataFrame
    verdicts: pd.DataFrame
    decision: str
    method: str
    sentence: str


class _Problem(NamedTuple):
    """Rows and class codes; -1 where a target row has no label."""

    X: Floats
    codes: Int
    source: SourceDomain


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
    margin, wanted : float, default=1.0, 5.0
        In points: gains within the margin count as equal, and a gain of `wanted` is
        what the number of labelled rows that would be needed refers to.
    seed : int, default=0
        Of hold-outs, source states and methods.
    progress : callable, optional
        Told what is about to be fitted.

    Returns
    -------
    Comparison
        Frames, the decision and a sentence.

    Raises
    ------
    DataError
        A class has fewer than two labelled rows, a method is transductive, or
        `repeats` are too few.
    """
    problem = _problem(X, y, source)
    folds = [_fold(problem, number, test_share, seed) for number in range(repeats)]
    chosen = list(methods or usual_methods(problem))
    _check(chosen, repeats)
    found: dict[tuple[str, str], Floats] = {}
    curves: dict[tuple[str, int], Floats] = {}
    for method in chosen:
        progress(method)
        for state in STATES if method_class(method).uses_source else [REAL]:
            whole = [_accuracy(problem, fold, method, state, seed) for fold in folds]
            found[method, state] = np.array(whole)
        for labels in _fewer_labels(folds):
            curves[method, labels] = np.array(
                [_accuracy(problem, f, method, REAL, seed, labels) for f in folds]
            )
    return _conclude(problem, folds, chosen, found, curves, margin / 100, wanted / 100)


def usual_methods(problem: Any) -> list[str]:
    """Return the methods that are compared by default: two of them the cheapest rivals.

    Parameters
    ----------
    problem : object
        Has `X`, `codes` (-1 where unlabelled) and `source`.
    """
    n_labelled = int(np.sum(problem.codes != UNLABELLED))
    n_source, d_source = np.shape(problem.source.X)
    size = Size(
        name="own",
        n_classes=len(np.unique(problem.codes[problem.codes != UNLABELLED])),
        n_source=n_source,
        d_source=d_source,
        n_labelled=n_labelled,
        n_unlabelled=len(problem.X) - n_labelled,
        d_target=problem.X.shape[1],
    )
    own = [BASELINE, REFERENCE, "cdspp-pca", TARGET_ONLY]
    rivals = [
        name
        for name in available()
        if name not in (*own, "cdspp-sup")
        and not method_class(name).transductive
        and not method_class(name).needs_torch
    ]
    rivals.sort(key=lambda name: fit_cost(method_class(name), size).seconds)
    return [*own[:3], *rivals[:2], own[3]]


def _problem(X: ArrayLike, y: ArrayLike, source: SourceDomain) -> _Problem:
    rows: Floats = check_array(X, dtype=np.float64, input_name="X")
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
    coded = SourceDomain(source.X, np.searchsorted(every, source_labels))
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


def _accuracy(
    problem: _Problem,
    fold: _Fold,
    method: str,
    state: str,
    seed: int,
    labels: int | None = None,
) -> float:
    """Return the accuracy on held-out rows, NaN where the method fails."""
    used = np.concatenate([rows[:labels] for rows in fold.train])
    unlabelled = np.flatnonzero(problem.codes == UNLABELLED)
    rows = np.concatenate([used, unlabelled])
    source = SourceState(state).of(problem.source, seed, "compare", "own", fold.number)
    drawn = integer_seed(method, seed, "compare", fold.number)
    model = make(method, **seed_option(method, drawn))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        warnings.simplefilter("ignore", LabelWarning)
        try:
            model.fit(problem.X[rows], problem.codes[rows], source=source)
        except MethodFailed:
            return math.nan
        predicted = model.predict(problem.X[fold.test])
    return float(np.mean(predicted == problem.codes[fold.test]))


def _conclude(
    problem: _Problem,
    folds: Sequence[_Fold],
    methods: Sequence[str],
    found: dict[tuple[str, str], Floats],
    curves: dict[tuple[str, int], Floats],
    margin: float,
    wanted: float,
) -> Comparison:
    """Judge what was found, and say it."""
    n_test = len(folds[0].test)
    n_train = sum(len(rows) for rows in folds[0].train)
    overlap = n_test / n_train
    asked = [name for name in methods if method_class(name).uses_source]
    gains = {
        name: {
            state: gain_of(found[name, REAL] - found[name, state], overlap=overlap)
            for state in STATES
            if state != REAL
        }
        for name in asked
    }
    verdicts = _verdicts(gains, found, margin)
    decision, method = _decide(verdicts, methods, found)
    sentence = _sentence(decision, method, gains, verdicts, n_test + n_train, wanted)
    return Comparison(
        _accuracies(folds, found, curves),
        _gains(gains, margin),
        verdicts,
        decision,
        method,
        sentence,
    )


def _verdicts(
    gains: dict[str, dict[str, PairedGain]],
    found: dict[tuple[str, str], Floats],
    margin: float,
) -> pd.DataFrame:
    """Judge the methods together: Holm's correction covers all that were tried."""
    judged = judge_tasks(list(gains.values()), margin=margin)
    return pd.DataFrame(
        {
            "method": name,
            "display_name": method_class(name).display_name,
            "accuracy": mean_sd(found[name, REAL])[0],
            "alone": mean_sd(found[name, ALONE])[0],
            "verdict": verdict.word,
            **{k: v for k, v in vars(verdict).items() if k != "word"},
        }
        for name, verdict in zip(gains, judged, strict=True)
    )


def _decide(
    verdicts: pd.DataFrame,
    methods: Sequence[str],
    found: dict[tuple[str, str], Floats],
) -> tuple[str, str]:
    """Return the decision, and the best method that goes with it."""
    helped = verdicts[verdicts["verdict"] == HELPS]
    if len(helped):
        return USE, str(helped.loc[helped["accuracy"].idxmax(), "method"])
    alone = {
        name: mean_sd(found[name, ALONE if (name, ALONE) in found else REAL])[0]
        for name in methods
    }
    best = max(alone, key=lambda name: (not math.isnan(alone[name]), alone[name]))
    settled = verdicts["verdict"].isin([HURTS, EQUAL]).all()
    return (ALONE_BETTER if settled else CANNOT_TELL), best


def _sentence(
    decision: str,
    method: str,
    gains: dict[str, dict[str, PairedGain]],
    verdicts: pd.DataFrame,
    n_labelled: int,
    wanted: float,
) -> str:
    name = method_class(method).display_name
    if decision == USE:
        return (
            f"Use the source with {name}: over no source it gains "
            f"{interval_text(gains[method][ALONE])}, and it is better than in every "
            "other source state."
        )
    tried = counted(len(verdicts), "method")
    if decision == ALONE_BETTER:
        return (
            f"Train on the target alone, for instance by {name}: of {tried} the source "
            "helps none, and for each it is settled that it hurts or makes no "
            "difference."
        )
    open_ones = verdicts[verdicts["verdict"] == UNDECIDED]
    least = float(open_ones["detectable"].min())
    text = f"Cannot tell: for none of {tried} is the source surely of use"
    if not math.isnan(least):
        needed = math.ceil(n_labelled * max((least / wanted) ** 2, 1.0))
        text += (
            f"; with {n_labelled} labelled rows a gain below {in_points(least)} points "
            f"would be missed, and one of {in_points(wanted)} needs about {needed}"
        )
    return f"{text}. Until then {name} without the source is the plain choice."


def _accuracies(
    folds: Sequence[_Fold],
    found: dict[tuple[str, str], Floats],
    curves: dict[tuple[str, int], Floats],
) -> pd.DataFrame:
    most = max(len(rows) for rows in folds[0].train)
    cells = [(name, state, most, values) for (name, state), values in found.items()]
    cells += [(name, REAL, labels, values) for (name, labels), values in curves.items()]
    return pd.DataFrame(
        {
            "method": name,
            "display_name": method_class(name).display_name,
            "state": state,
            "labels": labels,
            "mean": mean_sd(values)[0],
            "sd": mean_sd(values)[1],
            "repeats": int(np.isfinite(values).sum()),
        }
        for name, state, labels, values in cells
    )


def _gains(gains: dict[str, dict[str, PairedGain]], margin: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "method": name,
            "display_name": method_class(name).display_name,
            "state": state,
            "gain": gain.gain,
            "low": gain.low,
            "high": gain.high,
            "p_above": gain.p_above,
            "p_below": gain.p_below,
            "pair": judge_pair(gain, margin),
        }
        for name, states in gains.items()
        for state, gain in states.items()
    )
