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

# One repeat: labelled rows to fit, by class and in random order, and rows to test.
Fold: TypeAlias = tuple[list[Int], Int]
STAND_INS = 4  # most classes that stand in for those with a single label


@dataclass(frozen=True, eq=False)
class Problem:
    """Target rows with class codes, -1 without a label; a source, if any, is scaled."""

    X: Floats
    codes: Int
    classes: NDArray[Any]
    source: SourceDomain | None
    scaling: Scaling | None = None  # of the source
    note: str = ""

    @classmethod
    def of(
        cls, X: ArrayLike, y: ArrayLike, source: SourceDomain | None, scale: str
    ) -> Self:
        """Validate rows and labels; DataError names data that cannot be compared."""
        rows = _checked_rows("X", X)
        in_source = None if source is None else _checked_rows("source.X", source.X)
        codes, source_codes, classes = _class_codes(y, source, len(rows))
        if source is None or in_source is None:
            fit_scaling(scale, rows)  # an unknown scale is named before the fits
            return cls(rows, codes, classes, None)
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

    def with_labels(self, places: Int, codes: Int) -> Self:
        """Return the problem with the classes of further rows."""
        every = self.codes.copy()
        every[places] = codes
        return replace(self, codes=every)

    @property
    def labelled(self) -> Int:
        """Positions of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELLED)

    @property
    def unlabelled(self) -> Int:
        """Positions of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELLED)

    @property
    def class_sizes(self) -> Int:
        """Numbers of labelled rows of each class."""
        return np.bincount(self.codes[self.labelled], minlength=len(self.classes))

    @property
    def bridge(self) -> dict[str, str]:
        """The kinds of information that the source shares, with their sizes as text."""
        phrases = {}
        if self.source is not None and self.source.shared_columns is not None:
            n_shared = len(self.source.shared_columns)
            phrases[SHARED] = counted(n_shared, "shared column")
        if self.source is not None and self.source.paired_rows is not None:
            phrases[PAIRS] = counted(len(self.source.paired_rows[0]), "paired row")
        return phrases

    def size(self, max_rows: int | None = None) -> Size:
        """Return the size of a fit, with at most `max_rows` of each kind."""
        n_labelled, n_unlabelled = len(self.labelled), len(self.unlabelled)
        n_source, d_source = n_labelled, self.X.shape[1]
        if self.source is not None:
            n_source, d_source = np.shape(self.source.X)
        most = max_rows or max(n_source, n_unlabelled)
        return Size(
            name="own",
            n_classes=int((self.class_sizes > 0).sum()),
            n_source=min(n_source, most),
            d_source=d_source,
            n_labelled=min(n_labelled, max_rows or n_labelled),
            n_unlabelled=min(n_unlabelled, most),
            d_target=self.X.shape[1],
        )


def _checked_rows(name: str, values: Any) -> Floats:
    with number_errors(values, name):
        return np.asarray(check_array(values, dtype=np.float64, input_name=name))


def _class_codes(
    y: ArrayLike, source: SourceDomain | None, n_rows: int
) -> tuple[Int, Int, NDArray[Any]]:
    labels, labelled = read_labels(y)
    source_labels, mask = (
        (labels[:0], labelled) if source is None else read_labels(source.y)
    )
    if (source is not None and not mask.all()) or len(labelled) != n_rows:
        expected = "a label for each source row and an entry of y for each of"
        got = f"{int(mask.sum())} of {len(mask)} and {len(labelled)}"
        fault = f"compare: expected {expected} {n_rows} target rows, got {got}"
        raise errors.DataError(f"{fault}.")
    source_labels = in_form_of(labels, source_labels)
    _check_labels(labels, source_labels, source)
    classes = np.unique([*labels.tolist(), *source_labels.tolist()])
    codes = np.full(n_rows, UNLABELLED, dtype=np.intp)
    codes[labelled] = np.searchsorted(classes, labels)
    return codes, np.searchsorted(classes, source_labels), classes


def _check_labels(
    labels: NDArray[Any], source_labels: NDArray[Any], source: SourceDomain | None
) -> None:
    """Refuse labels that give no answer; none are needed with columns or pairs."""
    if source is None:
        if len(np.unique(labels)) < 2:
            fault = f"compare: y has {counted(len(np.unique(labels)), 'class')}"
            remedy = "Label rows of each class, or pass a source"
            raise errors.DataError(f"{fault}, expected two or more. {remedy}.")
        check_classes(labels)
        return
    check_classes(source_labels, "source.y")
    if len(labels) or not has_bridge(source):
        require_common({"y": labels, "source.y": source_labels})
        check_classes(labels)
        compare_classes(labels, source_labels, "compare")


def has_bridge(source: SourceDomain) -> bool:
    """Return whether a source has shared columns or paired rows."""
    return source.shared_columns is not None or source.paired_rows is not None


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


def all_folds(
    problem: Problem, repeats: int, share: float, max_rows: int, seed: int
) -> list[Fold]:
    """Return the hold-outs, first `repeats` by `make_folds`, then the `stand_ins`."""
    folds = make_folds(problem, repeats, share, max_rows, seed)
    return [*folds, *stand_ins(problem, max_rows, seed)] if repeats else folds


def make_folds(
    problem: Problem, repeats: int, share: float, max_rows: int, seed: int
) -> list[Fold]:
    """Hold out a share of the labelled rows of each class, all of them in turn.

    The only row of a class is never held out.
    """
    rng = generator("compare", seed)
    n_labelled = len(problem.labelled)
    train: list[list[Int]] = [[] for _ in range(repeats)]
    test: list[list[Int]] = [[] for _ in range(repeats)]
    for code in np.unique(problem.codes[problem.labelled]):
        rows = np.flatnonzero(problem.codes == code)
        n_parts = min(len(rows), max(2, round(1 / share)))
        parts = [rows[:0]] * (repeats if n_parts == 1 else 0)
        while len(parts) < repeats:
            parts += np.array_split(rng.permutation(rows), n_parts)
        for number, held in enumerate(parts[:repeats]):
            test[number].append(held)
            others = rng.permutation(np.setdiff1d(rows, held))
            train[number].append(others[: math.ceil(len(rows) * max_rows / n_labelled)])
    return list(zip(train, map(np.concatenate, test), strict=True))


def stand_ins(problem: Problem, max_rows: int, seed: int) -> Iterator[Fold]:
    """Hold out all rows but one of up to `STAND_INS` classes in turn, if one has one.

    A class with a single label is never tested. How a method learns a class from one
    row is seen on others.
    """
    sizes, n_labelled = problem.class_sizes, len(problem.labelled)
    if not (sizes == 1).any():
        return
    rng = generator("compare", seed, "stand-ins")
    rows = {
        code: np.flatnonzero(problem.codes == code) for code in np.flatnonzero(sizes)
    }
    some = {
        code: rng.permutation(own)[: math.ceil(len(own) * max_rows / n_labelled)]
        for code, own in rows.items()
    }
    for code in rng.permutation(np.flatnonzero(sizes > 2))[:STAND_INS]:
        kept = some | {code: some[code][:1]}
        yield [*kept.values()], np.setdiff1d(rows[code], kept[code])


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
    _predicted: dict[tuple[str, int], tuple[Int, bool]] = field(default_factory=dict)
    _final: dict[str, tuple[Int, Any, Scaling]] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """Yield notes on the rows of the fits, and on methods that failed."""
        if subsampled := self._subsampled(self.problem):
            yield f"each fit uses at most about {self.max_rows} of {listed(subsampled)}"
        for method, reason in self.failures.items():
            yield f"{method_class(method).display_name} failed: {reason}"
        if self.problem.note:
            yield self.problem.note

    def _subsampled(self, problem: Problem) -> list[str]:
        """Return the kinds of rows of which a fit uses a part, with their numbers."""
        source = problem.source
        sizes = {
            "labelled target rows": len(problem.labelled),
            "unlabelled target rows": len(problem.unlabelled),
            "source rows": 0 if source is None else len(np.asarray(source.y)),
        }
        return [f"{n} {kind}" for kind, n in sizes.items() if n > self.max_rows]

    def final(self, problem: Problem) -> dict[str, tuple[Any, Scaling]]:
        """Return the models of `transduction` that know all rows of a problem.

        Each comes with its scaling of target rows, by method.
        """
        if self._subsampled(problem):
            return {}
        fits = self._final.items()
        return {
            name: (model, scaling)
            for name, (codes, model, scaling) in fits
            if np.array_equal(codes, problem.codes)
        }

    def predicted(self, method: str) -> Int:
        """Return class codes of the labelled rows, by repeat and row.

        -1 if a row is not held out, or the method failed.
        """
        found = [self._repeat(method, number)[0] for number in range(len(self.folds))]
        shape = len(self.folds), len(self.problem.labelled)
        return np.array(found, dtype=np.intp).reshape(shape)

    def degenerate(self, method: str) -> float:
        """Return the share of degenerate, diverged and failed fits."""
        flags = [self._repeat(method, number)[1] for number in range(len(self.folds))]
        return sum(flags) / len(flags) if flags else 0.0

    def _repeat(self, method: str, number: int) -> tuple[Int, bool]:
        if (method, number) not in self._predicted:
            train, test = self.folds[number]
            labelled = self.problem.labelled
            row = np.full(len(labelled), UNLABELLED)
            train_rows = np.concatenate(train)
            model, scaling = self._fit_model(self.problem, method, train_rows, number)
            if model is not None:
                predicted = model.predict(scaling.apply(self.problem.X[test]))
                row[np.searchsorted(labelled, test)] = predicted
            degenerate = model is None or bool(model.collapsed_)
            self._predicted[method, number] = row, degenerate
        return self._predicted[method, number]

    def transduction(self, problem: Problem, method: str) -> Int | None:
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
        self._final[method] = problem.codes, model, scaling
        places, step = problem.unlabelled, self.max_rows
        if len(places) <= step:
            return np.asarray(model.transduction_[len(train) :])
        parts = [places[k : k + step] for k in range(0, len(places), step)]
        predictions = [model.predict(scaling.apply(problem.X[part])) for part in parts]
        return np.concatenate(predictions)

    def seed_of(self, method: str, number: int | None = None) -> int:
        """Return the seed of a fit, by default of that on all labelled rows."""
        number = len(self.folds) if number is None else number
        return integer_seed(method, self.seed, "compare", number)

    def _fit_model(
        self, problem: Problem, method: str, train: Int, number: int
    ) -> tuple[Any, Scaling]:
        """Return a model fitted on labelled rows `train`; None if it failed."""
        rng = generator("compare", self.seed, number, "unlabelled")
        others = np.sort(rng.permutation(problem.unlabelled)[: self.max_rows])
        rows = np.concatenate([train, others])
        scaling = fit_scaling(self.scale, problem.X[rows])
        domain = problem.source
        if domain is not None:
            domain, scaling = self._scaled_source(domain, method, number, scaling)
        model = make_seeded(method, self.seed_of(method, number))
        with warnings.catch_warnings():
            for category in errors.OF_ONE_FIT:
                warnings.simplefilter("ignore", category)
            try:
                X = scaling.apply(problem.X[rows])
                return model.fit(X, problem.codes[rows], source=domain), scaling
            except errors.MethodFailed as error:
                self.failures.setdefault(method, str(error))
                return None, scaling

    def _scaled_source(
        self, source: SourceDomain, method: str, number: int, scaling: Scaling
    ) -> tuple[SourceDomain, Scaling]:
        """Return the source of a fit, and the scaling of target rows that suits it."""
        domain = self._source(source, number)
        domain = domain.with_bridges(method_class(method).bridges)
        of_source = self.problem.scaling
        if domain.shared_columns is not None and of_source is not None:
            source_columns, columns = np.transpose(domain.shared_columns)
            scaling = scaling.with_columns_of(of_source, columns, source_columns)
        if domain.paired_rows is not None:
            left, right = domain.paired_rows
            domain = replace(domain, paired_rows=(left, scaling.apply(right)))
        return domain, scaling

    def _source(self, source: SourceDomain, number: int) -> SourceDomain:
        """Return the source of a repeat; of a large source, a share of each class."""
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
