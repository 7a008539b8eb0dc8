"""Should I use A for B? Repeated hold-out of the few labelled rows that one has.

Held-out rows are in no fit, not even without their label.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from cdspp.analysis.advice import conclude
from cdspp.analysis.decision import Comparison, Fit, HoldOut
from cdspp.analysis.summary import Floats
from cdspp.analysis.verdicts import MIN_TRIALS
from cdspp.core.errors import (
    BridgeWarning,
    CollapseWarning,
    CostWarning,
    DataError,
    LabelWarning,
    MethodFailed,
)
from cdspp.core.labels import require_common
from cdspp.core.names import ALONE, PCA, REAL, STANDARDISE, SWAPPED
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.seeding import generator, integer_seed
from cdspp.core.wording import counted, shortened
from cdspp.methods import available, make, method_class, name_of, seed_option
from cdspp.methods.base import UNLABELLED, Int, SourceDomain
from cdspp.methods.bridge import PAIRS, SHARED, column_names, read_bridge
from cdspp.methods.labels import check_classes, compare_classes, read_labels
from cdspp.methods.problem import number_errors
from cdspp.stages.source_states import STATES, SourceState, bridge_states
from cdspp.study.cost import Size, fit_cost

__all__ = ["compare", "usual_methods"]

# What takes part by default where the source has a bridge.
BRIDGED = {
    SHARED: ("shared-columns", "shared-columns-plus"),
    PAIRS: ("paired-map-plus",),
}
# What it costs is said before all fits, a collapse after them.
REPORTED_APART = BridgeWarning, CollapseWarning, CostWarning, LabelWarning


class _Problem(NamedTuple):
    """Rows and codes, -1 without a label; the source and its pairs are scaled."""

    X: Floats
    codes: Int
    labelled: Int
    unlabelled: Int
    source: SourceDomain
    two_classes: bool  # of the source, so that swapping them mirrors them
    scaling: Scaling
    note: str


# One repeat: labelled rows to fit on, by class and in order, and rows to test.
_Fold: TypeAlias = tuple[list[Int], Int]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    source: SourceDomain,
    methods: Sequence[Any] | None = None,
    repeats: int = 15,
    test_share: float = 1 / 5,
    scale: str = STANDARDISE,
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
        Labelled source rows, perhaps with shared columns or paired rows; methods that
        use these then take part.
    methods : sequence, optional
        Identifiers, class paths such as ``"mine:MyMethod"``, classes or instances;
        `usual_methods` by default. Transductive ones cannot predict rows
        that are held out.
    repeats : int, default=15
        Stratified hold-outs; `MIN_TRIALS` at least.
    test_share : float, default=1/5
        Share of the labelled rows of each class to hold out, at least one row; the rows
        of a class take equal turns.
    scale : {"none", "unit", "standardise", "standardise-each", "pca"}, \
default="standardise"
        How features are scaled (`cdspp.core.scaling.fit_scaling`): those of the source
        once, those of the target by the rows of each fit, shared columns as in the
        source, or with "standardise-each" by each domain's own rows. Columns
        of tables have units of their own; unscaled, fits may collapse.
    max_rows : int, default=2000
        Most unlabelled target rows of a fit, and about as many labelled ones and source
        rows; each repeat subsamples anew.
    margin, wanted : float, default=1.0, 5.0
        In points. Gains within the margin count as equal. The answer estimates how many
        labelled rows would detect a gain of `wanted`, or the largest possible gain if
        that is smaller.
    seed : int, default=0
        Seed of hold-outs, source states and methods.
    progress : callable, optional
        Receives a line of text before the fits of each method, with the expected time.

    Returns
    -------
    Comparison
        Frames, the decision and a sentence.

    Raises
    ------
    ConfigError
        A method or a scale is not known.
    DataError
        A class has fewer than two labelled rows, a method is transductive or needs a
        bridge that the source lacks, or `repeats` is too small.

    Notes
    -----
    Each method is fitted ``repeats`` times in each of 7 states, and in 2 of them again
    with half the labels. Two classes leave out the state swapped-classes, because
    mirrored classes give the same answer. One more state shuffles the bridge, if any.
    """
    problem = _problem(X, y, source, scale)
    chosen = [name_of(method) for method in methods or usual_methods(problem)]
    _check(chosen, repeats, problem.source)
    folds = _folds(problem, repeats, test_share, max_rows, seed)
    fits = _Fits(problem, folds, scale, max_rows, seed)
    sizes = [len(rows) for train, _ in folds for rows in train]  # of each class
    right: dict[Fit, Floats] = {}
    collapsed: dict[Fit, float] = {}
    for method in chosen:
        asked = list(_asked(method, max(sizes), problem))
        n_fits = repeats * len(asked)
        cost = fit_cost(method_class(method), _size(problem, max_rows))
        seconds = math.ceil(n_fits * cost.seconds)
        progress(f"{method}: {n_fits} fits, about {seconds} s")
        for fit in asked:
            right[fit], collapsed[fit] = fits.held_out(fit)
    classes, bridge = problem.codes[problem.labelled], _bridge_parts(problem.source)
    labels = min(sizes), max(sizes)
    held_out = HoldOut(classes, *labels, chosen, right, collapsed, bridge)
    found = conclude(held_out, margin / 100, wanted / 100, scale)
    return replace(found, note="; ".join(filter(None, [*fits.notes(), found.note])))


def usual_methods(problem: Any) -> list[str]:
    """Return the methods compared by default, for `X`, `codes` and `source`.

    They are few, since each one more asks the others for larger gains: baselines, the
    method with a form for the target alone, the cheapest methods of two other families,
    those that make most of a bridge, and that form.
    """
    size = _size(problem)
    known = {name: method_class(name) for name in available()}
    alone = [name for name, cls in known.items() if cls.without_source_of]
    whole = [known[name].without_source_of for name in alone]
    baselines = [n for n, c in known.items() if c.supervised and not c.uses_source]
    family = {name: cls.__module__.rpartition(".")[0] for name, cls in known.items()}
    own = {family[name] for name in (*baselines, *whole)}
    rivals = [
        name
        for name, cls in known.items()
        if family[name] not in own
        and cls.in_compare
        and not (cls.transductive or cls.needs_torch or cls.bridges)
    ]
    rivals.sort(key=lambda name: fit_cost(known[name], size).seconds)
    families: dict[str, str] = {}
    for name in rivals:
        families.setdefault(family[name], name)
    bridged = [name for kind in _bridge_parts(problem.source) for name in BRIDGED[kind]]
    return [*baselines, *whole, *list(families.values())[:2], *bridged, *alone]


def _size(problem: Any, max_rows: int | None = None) -> Size:
    known = problem.codes[problem.codes != UNLABELLED]
    n_source, d_source = np.shape(problem.source.X)
    n_unlabelled = len(problem.X) - len(known)
    most = max_rows or max(n_source, n_unlabelled)
    return Size(
        name="own",
        n_classes=len(np.unique(known)),
        n_source=min(n_source, most),
        d_source=d_source,
        n_labelled=min(len(known), max_rows or len(known)),
        n_unlabelled=min(n_unlabelled, most),
        d_target=problem.X.shape[1],
    )


def _problem(X: ArrayLike, y: ArrayLike, source: SourceDomain, scale: str) -> _Problem:
    with number_errors(X, "X"):
        rows: Floats = check_array(X, dtype=np.float64, input_name="X")
    with number_errors(source.X, "source.X"):
        given: Floats = check_array(source.X, dtype=np.float64, input_name="source.X")
    labels, labelled = read_labels(y)
    source_labels, known = read_labels(source.y)
    if not known.all() or len(labelled) != len(rows):
        raise DataError(
            f"compare: expected a label for each source row and an entry of y for each "
            f"of {len(rows)} target rows, got {int(known.sum())} of {len(known)} and "
            f"{len(labelled)}."
        )
    require_common({"y": labels, "source.y": source_labels})
    check_classes(labels)
    check_classes(source_labels, "source.y")
    compare_classes(labels, source_labels, "compare")
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        few = f"class {classes[counts.argmin()]} has {counts.min()}"
        raise DataError(
            "compare: every class needs two labelled target rows, one to fit on and "
            f"one to test, but {few}. Label more rows."
        )
    every = np.unique(np.concatenate([labels, source_labels]))
    codes = np.full(len(rows), UNLABELLED, dtype=np.intp)
    codes[labelled] = np.searchsorted(every, labels)
    scaling = fit_scaling(scale, given)
    coded = SourceDomain(scaling.apply(given), np.searchsorted(every, source_labels))
    bridge = read_bridge(source, (given, rows), (source.X, X), check_array)
    shared = list(zip(bridge.source.tolist(), bridge.target.tolist(), strict=True))
    if shared and scale != PCA:
        coded = replace(coded, shared_columns=shared)
    if bridge.n_pairs:
        pairs = scaling.apply(bridge.pairs_source), bridge.pairs_target
        coded = replace(coded, paired_rows=pairs)
    places = labelled.nonzero()[0], (~labelled).nonzero()[0]
    two_classes = len(np.unique(source_labels)) == 2
    note = _unshared(source, X, bool(shared) and scale == PCA)
    return _Problem(rows, codes, *places, coded, two_classes, scaling, note)


def _unshared(source: SourceDomain, X: Any, lost: bool) -> str:
    if lost:
        return "principal components leave no columns to share; scale otherwise"
    ours, theirs = column_names(source.X), column_names(X)
    if source.shared_columns is not None or ours is None or theirs is None:
        return ""
    known = set(theirs)
    both = [name for name in ours if name in known]
    have = "has" if len(both) == 1 else "have"
    text = (
        f"{counted(len(both), 'column')} {have} the same name in both domains: "
        f"{shortened(both)}; SourceDomain(..., shared_columns='same-names') uses that"
    )
    return text if both else ""


def _bridge_parts(source: SourceDomain) -> dict[str, str]:
    phrases = {}
    if source.shared_columns is not None:
        phrases[SHARED] = counted(len(source.shared_columns), "shared column")
    if source.paired_rows is not None:
        phrases[PAIRS] = counted(len(source.paired_rows[0]), "paired row")
    return phrases


def _check(methods: Sequence[str], repeats: int, source: SourceDomain) -> None:
    if repeats < MIN_TRIALS:
        raise DataError(
            f"compare: repeats must be {MIN_TRIALS} at least, got {repeats}."
        )
    if not any(method_class(name).uses_source for name in methods):
        raise DataError(
            f"compare: none of {', '.join(methods)} uses a source. Add one that does."
        )
    for name in methods:
        if method_class(name).transductive:
            raise DataError(
                f"compare: {name} labels the rows it is fitted on, and held-out rows "
                "are in no fit. Choose another method."
            )
        needed = method_class(name).bridges
        lacks = not needed & _bridge_parts(source).keys()
        if method_class(name).needs_bridge and lacks:
            raise DataError(
                f"compare: {name} needs {' or '.join(sorted(needed))} of the source, "
                "which has none that can be used. Give them, or leave the method out."
            )


def _folds(
    problem: _Problem, repeats: int, share: float, max_rows: int, seed: int
) -> list[_Fold]:
    """Hold some labelled rows of each class out, all of them in turn."""
    rng = generator("compare", seed)
    n_labelled = len(problem.labelled)
    train: list[list[Int]] = [[] for _ in range(repeats)]
    test: list[list[Int]] = [[] for _ in range(repeats)]
    for code in np.unique(problem.codes[problem.labelled]):
        rows = np.flatnonzero(problem.codes == code)
        n_parts = min(len(rows), max(2, round(1 / share)))
        parts: list[Int] = []
        while len(parts) < repeats:
            parts += np.array_split(rng.permutation(rows), n_parts)
        for number, held in enumerate(parts[:repeats]):
            test[number].append(held)
            others = rng.permutation(np.setdiff1d(rows, held))
            train[number].append(others[: math.ceil(len(rows) * max_rows / n_labelled)])
    return list(zip(train, map(np.concatenate, test), strict=True))


def _asked(method: str, most: int, problem: _Problem) -> Iterator[Fit]:
    """Yield what is fitted: in every state, and with half the labels in two."""
    uses_source = method_class(method).uses_source
    bridged = problem.source.with_bridges(method_class(method).bridges)
    states = [*STATES, *bridge_states(bridged)]
    for state in states if uses_source else (REAL,):
        if not (state == SWAPPED and problem.two_classes):
            yield Fit(method, state, most)
    if most > 1:
        for state in (REAL, ALONE) if uses_source else (REAL,):
            yield Fit(method, state, (most + 1) // 2)


@dataclass(frozen=True, eq=False)
class _Fits:
    """Fits on the rows that a fold leaves, scaled by these rows alone."""

    problem: _Problem
    folds: Sequence[_Fold]
    scale: str
    max_rows: int
    seed: int
    failures: dict[str, str] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        sizes = {
            "labelled target rows": len(self.problem.labelled),
            "unlabelled target rows": len(self.problem.unlabelled),
            "source rows": len(np.asarray(self.problem.source.y)),
        }
        cut = [f"{n} {what}" for what, n in sizes.items() if n > self.max_rows]
        if cut:
            rows = f"{', '.join(cut[:-1])} and {cut[-1]}" if cut[1:] else cut[0]
            yield f"of {rows} at most about {self.max_rows} are in each fit"
        if self.problem.two_classes:
            yield f"{SWAPPED} is left out: with two classes it is no control"
        for method, reason in self.failures.items():
            yield f"{method_class(method).display_name} failed: {reason}"
        yield self.problem.note

    def held_out(self, fit: Fit) -> tuple[Floats, float]:
        labelled = self.problem.labelled
        right = np.full((len(self.folds), len(labelled)), np.nan)
        collapsed = 0
        for number, (row, (_, test)) in enumerate(zip(right, self.folds, strict=True)):
            model, scaling = self._fitted(number, fit)
            collapsed += model is None or bool(model.collapsed_)
            if model is None:
                continue
            predicted = model.predict(scaling.apply(self.problem.X[test]))
            places = np.searchsorted(labelled, test)
            row[places] = predicted == self.problem.codes[test]
        return right, collapsed / len(self.folds)

    def _fitted(self, number: int, fit: Fit) -> tuple[Any, Scaling]:
        problem, (train, _) = self.problem, self.folds[number]
        used = np.concatenate([rows[: fit.labels] for rows in train])
        rng = generator("compare", self.seed, number, "unlabelled")
        others = np.sort(rng.permutation(problem.unlabelled)[: self.max_rows])
        rows = np.concatenate([used, others])
        whole = self._source(number).with_bridges(method_class(fit.method).bridges)
        scaling = fit_scaling(self.scale, problem.X[rows])
        if whole.shared_columns is not None:
            theirs, ours = np.transpose(whole.shared_columns)
            scaling = scaling.with_columns_of(problem.scaling, ours, theirs)
        if whole.paired_rows is not None:
            left, right = whole.paired_rows
            whole = replace(whole, paired_rows=(left, scaling.apply(right)))
        labelled = SourceDomain(scaling.apply(problem.X[used]), problem.codes[used])
        axes = (self.seed, "compare", "own", number)
        source = SourceState(fit.state).of(whole, labelled, *axes)
        drawn = integer_seed(fit.method, self.seed, "compare", number)
        model = make(fit.method, **seed_option(fit.method, drawn))
        with warnings.catch_warnings():
            for category in REPORTED_APART:
                warnings.simplefilter("ignore", category)
            try:
                X = scaling.apply(problem.X[rows])
                return model.fit(X, problem.codes[rows], source=source), scaling
            except MethodFailed as error:
                self.failures.setdefault(fit.method, str(error))
                return None, scaling

    def _source(self, number: int) -> SourceDomain:
        """Return the source of a repeat: where it is large, a share of each class."""
        source = self.problem.source
        X, y = np.asarray(source.X), np.asarray(source.y)
        if len(y) <= self.max_rows:
            return source
        rng = generator("compare", self.seed, number, "source")
        kept = []
        for code in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == code))
            kept.append(rows[: math.ceil(len(rows) * self.max_rows / len(y))])
        chosen = np.sort(np.concatenate(kept))
        return replace(source, X=X[chosen], y=y[chosen])
