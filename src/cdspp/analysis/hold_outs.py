"""Repeated hold-outs of labelled target rows, and the fits behind `compare`.

No fit sees held-out rows, not even without labels.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from cdspp.analysis.summary import Floats
from cdspp.core import errors
from cdspp.core.labels import require_common
from cdspp.core.names import PCA, STANDARDISE_EACH
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.seeding import generator, integer_seed
from cdspp.core.wording import counted, listed, shortened
from cdspp.methods import make_seeded, method_class
from cdspp.methods.base import UNLABELLED, Int, SourceDomain
from cdspp.methods.bridge import PAIRS, SHARED, column_names, read_bridge
from cdspp.methods.cost import Size
from cdspp.methods.labels import check_classes, compare_classes, in_form_of, read_labels
from cdspp.methods.problem import number_errors

# Costs are reported before all fits, degenerate fits after them.
IGNORED_WARNINGS = (
    errors.BridgeWarning,
    errors.CollapseWarning,
    errors.CostWarning,
    errors.LabelWarning,
)

# One repeat: labelled rows to fit, by class and in random order, and rows to test.
Fold: TypeAlias = tuple[list[Int], Int]


@dataclass(frozen=True, eq=False)
class Problem:
    """Target rows with class codes, -1 without a label; the source is scaled."""

    X: Floats
    codes: Int
    classes: NDArray[Any]
    source: SourceDomain
    scaling: Scaling
    note: str = ""

    @classmethod
    def of(cls, X: ArrayLike, y: ArrayLike, source: SourceDomain, scale: str) -> Self:
        """Validate rows and labels; DataError names data that cannot be compared."""
        checked: list[Floats] = []
        for name, values in (("X", X), ("source.X", source.X)):
            with number_errors(values, name):
                checked.append(check_array(values, dtype=np.float64, input_name=name))
        rows, in_source = checked
        codes, source_codes, classes = _class_codes(y, source.y, len(rows))
        scaling = fit_scaling(scale, in_source)
        coded = SourceDomain(scaling.apply(in_source), source_codes)
        with warnings.catch_warnings():
            if scale == STANDARDISE_EACH:  # which is unaffected by units
                warnings.simplefilter("ignore", errors.UnitWarning)
            bridge = read_bridge(source, (in_source, rows), (source.X, X), check_array)
        shared = list(zip(bridge.source.tolist(), bridge.target.tolist(), strict=True))
        if shared and scale != PCA:
            coded = replace(coded, shared_columns=shared)
        if bridge.n_pairs:
            pairs = scaling.apply(bridge.pairs_source), bridge.pairs_target
            coded = replace(coded, paired_rows=pairs)
        note = _unused_columns(source, X, bool(shared) and scale == PCA)
        return cls(rows, codes, classes, coded, scaling, note)

    @property
    def labelled(self) -> Int:
        """Positions of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELLED)

    @property
    def unlabelled(self) -> Int:
        """Positions of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELLED)

    @property
    def two_classes(self) -> bool:
        """True if the source has two classes."""
        return len(np.unique(np.asarray(self.source.y))) == 2

    @property
    def fewest(self) -> int:
        """The number of labelled rows of the smallest class."""
        return int(np.unique(self.codes[self.labelled], return_counts=True)[1].min())

    @property
    def bridge(self) -> dict[str, str]:
        """The kinds of bridge that the source has, each with its size as text."""
        phrases = {}
        if self.source.shared_columns is not None:
            n_shared = len(self.source.shared_columns)
            phrases[SHARED] = counted(n_shared, "shared column")
        if self.source.paired_rows is not None:
            phrases[PAIRS] = counted(len(self.source.paired_rows[0]), "paired row")
        return phrases

    def size(self, max_rows: int | None = None) -> Size:
        """Return the size of a fit, with at most `max_rows` of each kind."""
        n_source, d_source = np.shape(self.source.X)
        n_labelled, n_unlabelled = len(self.labelled), len(self.unlabelled)
        most = max_rows or max(n_source, n_unlabelled)
        return Size(
            name="own",
            n_classes=len(np.unique(self.codes[self.labelled])),
            n_source=min(n_source, most),
            d_source=d_source,
            n_labelled=min(n_labelled, max_rows or n_labelled),
            n_unlabelled=min(n_unlabelled, most),
            d_target=self.X.shape[1],
        )


def _class_codes(
    y: ArrayLike, y_source: ArrayLike, n_rows: int
) -> tuple[Int, Int, NDArray[Any]]:
    labels, labelled = read_labels(y)
    source_labels, mask = read_labels(y_source)
    if not mask.all() or len(labelled) != n_rows:
        expected = "a label for each source row and an entry of y for each of"
        got = f"{int(mask.sum())} of {len(mask)} and {len(labelled)}"
        fault = f"compare: expected {expected} {n_rows} target rows, got {got}"
        raise errors.DataError(f"{fault}.")
    source_labels = in_form_of(labels, source_labels)
    require_common({"y": labels.tolist(), "source.y": source_labels.tolist()})
    check_classes(labels)
    check_classes(source_labels, "source.y")
    compare_classes(labels, source_labels, "compare")
    classes = np.unique(np.concatenate([labels, source_labels]))
    codes = np.full(n_rows, UNLABELLED, dtype=np.intp)
    codes[labelled] = np.searchsorted(classes, labels)
    return codes, np.searchsorted(classes, source_labels), classes


def _unused_columns(source: SourceDomain, X: Any, by_components: bool) -> str:
    if by_components:
        return "principal components leave no columns to share; use another scale"
    in_source, in_target = column_names(source.X), column_names(X)
    if source.shared_columns is not None or in_source is None or in_target is None:
        return ""
    common = [name for name in in_source if name in set(in_target)]
    if not common:
        return ""
    have = "has" if len(common) == 1 else "have"
    finding = f"{counted(len(common), 'column')} {have} the same name in both domains"
    remedy = "SourceDomain(..., shared_columns='same-names') shares them"
    return f"{finding}: {shortened(common)}; {remedy}"


def make_folds(
    problem: Problem, repeats: int, share: float, max_rows: int, seed: int
) -> list[Fold]:
    """Hold out a share of the labelled rows of each class, all of them in turn."""
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


@dataclass(frozen=True, eq=False)
class HoldOuts:
    """Fits on the training rows of a fold, scaled by these rows only; each runs once.

    `failures` has the first reason for which a method failed.
    """

    problem: Problem
    folds: Sequence[Fold]
    scale: str
    max_rows: int
    seed: int
    failures: dict[str, str] = field(default_factory=dict)
    _correct: dict[tuple[str, int], tuple[Floats, bool]] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """Yield notes on the rows of the fits, and on methods that failed."""
        sizes = {
            "labelled target rows": len(self.problem.labelled),
            "unlabelled target rows": len(self.problem.unlabelled),
            "source rows": len(np.asarray(self.problem.source.y)),
        }
        subsampled = [f"{n} {kind}" for kind, n in sizes.items() if n > self.max_rows]
        if subsampled:
            yield f"each fit uses at most about {self.max_rows} of {listed(subsampled)}"
        for method, reason in self.failures.items():
            yield f"{method_class(method).display_name} failed: {reason}"
        if self.problem.note:
            yield self.problem.note

    def correct(self, method: str, repeats: int) -> Floats:
        """Return whether labelled rows are predicted correctly, by repeat and row.

        NaN if a row is not held out, or the method failed.
        """
        return np.array([self._repeat(method, number)[0] for number in range(repeats)])

    def degenerate(self, method: str, repeats: int) -> float:
        """Return the share of fits that collapsed, diverged or failed."""
        flags = [self._repeat(method, number)[1] for number in range(repeats)]
        return sum(flags) / len(flags) if flags else 0.0

    def _repeat(self, method: str, number: int) -> tuple[Floats, bool]:
        if (method, number) not in self._correct:
            train, test = self.folds[number]
            labelled = self.problem.labelled
            row = np.full(len(labelled), np.nan)
            train_rows = np.concatenate(train)
            model, scaling = self._fit_model(self.problem, method, train_rows, number)
            if model is not None:
                predicted = model.predict(scaling.apply(self.problem.X[test]))
                right = predicted == self.problem.codes[test]
                row[np.searchsorted(labelled, test)] = right
            self._correct[method, number] = row, model is None or bool(model.collapsed_)
        return self._correct[method, number]

    def label_all(self, problem: Problem, method: str) -> Int | None:
        """Return the codes of all unlabelled rows by a fit on all labelled ones.

        If there are many rows, a sample is fitted. None: the method failed.
        """
        train = problem.labelled
        if len(train) > self.max_rows:
            rng = generator("compare", self.seed, "final", "labelled")
            train = np.sort(rng.permutation(train)[: self.max_rows])
        model, scaling = self._fit_model(problem, method, train, len(self.folds))
        if model is None:
            return None
        places, step = problem.unlabelled, self.max_rows
        if len(places) <= step:
            return np.asarray(model.transduction_[len(train) :])
        parts = [places[k : k + step] for k in range(0, len(places), step)]
        predictions = [model.predict(scaling.apply(problem.X[part])) for part in parts]
        return np.concatenate(predictions)

    def _fit_model(
        self, problem: Problem, method: str, train: Int, number: int
    ) -> tuple[Any, Scaling]:
        """Return a model fitted on labelled rows `used`; None if it failed."""
        rng = generator("compare", self.seed, number, "unlabelled")
        others = np.sort(rng.permutation(problem.unlabelled)[: self.max_rows])
        rows = np.concatenate([train, others])
        domain = self._source(number).with_bridges(method_class(method).bridges)
        scaling = fit_scaling(self.scale, problem.X[rows])
        if domain.shared_columns is not None:
            source_columns, columns = np.transpose(domain.shared_columns)
            scaling = scaling.with_columns_of(problem.scaling, columns, source_columns)
        if domain.paired_rows is not None:
            left, right = domain.paired_rows
            domain = replace(domain, paired_rows=(left, scaling.apply(right)))
        fit_seed = integer_seed(method, self.seed, "compare", number)
        model = make_seeded(method, fit_seed)
        with warnings.catch_warnings():
            for category in IGNORED_WARNINGS:
                warnings.simplefilter("ignore", category)
            try:
                X = scaling.apply(problem.X[rows])
                return model.fit(X, problem.codes[rows], source=domain), scaling
            except errors.MethodFailed as error:
                self.failures.setdefault(method, str(error))
                return None, scaling

    def _source(self, number: int) -> SourceDomain:
        """Return the source of a repeat; of a large source, a share of each class."""
        source = self.problem.source
        X, y = np.asarray(source.X), np.asarray(source.y)
        if len(y) <= self.max_rows:
            return source
        rng = generator("compare", self.seed, number, "source")
        samples = []
        for code in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == code))
            samples.append(rows[: math.ceil(len(rows) * self.max_rows / len(y))])
        positions = np.sort(np.concatenate(samples))
        return replace(source, X=X[positions], y=y[positions])
