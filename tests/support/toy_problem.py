"""Small synthetic problems with two feature spaces, for tests of methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cdspp import SourceDomain
from cdspp.core.linalg import row_normalise
from cdspp.methods.base import Problem

# More features than rows, so that the solver works on rows.
WIDE: dict[str, Any] = {"d_source": 60, "d_target": 90}
SHAPES: dict[str, dict[str, Any]] = {
    "narrow": {},
    "wide": WIDE,
    "wide source": {"d_source": 80},
    "wide target": {"d_target": 80},
}


@dataclass(frozen=True, eq=False)
class ToyProblem:
    """Target rows with labels (-1 if unlabelled), their truth, and the source."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    source: SourceDomain

    def __post_init__(self) -> None:
        """Add an arbitrary bridge to the source: some columns, and a pair per class."""
        if self.source is None or self._is_bridged():
            return
        X, X_source = (
            0.5 * row_normalise(np.array(rows, dtype=float))
            for rows in (self.X, self.source.X)
        )
        both = sorted({*self.truth} & {*self.source.y})
        parts = [
            np.array([rows[codes == code].mean(axis=0) for code in both])
            if both
            else rows.mean(axis=0, keepdims=True)
            for rows, codes in ((X_source, self.source.y), (X, self.truth))
        ]
        shared = [(k, k) for k in range(min(4, X.shape[1], X_source.shape[1]))]
        bridged = replace(self.source, shared_columns=shared, paired_rows=tuple(parts))
        object.__setattr__(self, "source", bridged)

    def _is_bridged(self) -> bool:
        """Whether the source has a bridge of the width of both domains."""
        widths = [rows.shape[1] for rows in self.source.paired_rows or ()]
        return widths == [self.source.X.shape[1], self.X.shape[1]]

    @property
    def unlabelled(self) -> np.ndarray:
        return self.y == -1

    @property
    def labelled(self) -> np.ndarray:
        return self.y != -1

    def prepared(self) -> Problem:
        """Return the problem as most methods see it: rows of unit length, in parts."""
        X, labelled = row_normalise(self.X), self.labelled
        return Problem(
            row_normalise(self.source.X),
            self.source.y,
            X[labelled],
            self.y[labelled],
            X[~labelled],
            int(self.truth.max()) + 1,
        )

    def fit(self, model: Any) -> Any:
        return model.fit(self.X, self.y, source=self.source)

    def accuracy(self, model: Any) -> float:
        """Return the accuracy of a fitted method on the unlabelled rows."""
        right = model.transduction_ == self.truth
        return float(right[self.unlabelled].mean())


def variant(
    problem: ToyProblem, *, X_source: Any = None, y_source: Any = None, **changes: Any
) -> ToyProblem:
    """Return the problem with other rows, labels or source."""
    fields = {"X": problem.X, "y": problem.y, "truth": problem.truth}
    source = replace(
        problem.source,
        X=problem.source.X if X_source is None else X_source,
        y=problem.source.y if y_source is None else y_source,
    )
    return ToyProblem(**{**fields, "source": source, **changes})


def some_rows(problem: ToyProblem, rows: Any) -> ToyProblem:
    kept = {"X": problem.X[rows], "y": problem.y[rows], "truth": problem.truth[rows]}
    return variant(problem, **kept)


def some_source(problem: ToyProblem, rows: Any) -> ToyProblem:
    X, y = problem.source.X[rows], problem.source.y[rows]
    return variant(problem, X_source=X, y_source=y)


def shuffled(problem: ToyProblem) -> tuple[ToyProblem, np.ndarray]:
    """Return the problem with both domains in another order, and the target's order."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(problem.X))
    drawn = rng.permutation(len(problem.source.y))
    return some_source(some_rows(problem, order), drawn), order


def renamed(problem: ToyProblem, names: np.ndarray) -> ToyProblem:
    """Return the problem with the class c called ``names[c]``."""
    y = np.where(problem.unlabelled, -1, names[problem.y])
    truth, y_source = names[problem.truth], names[problem.source.y]
    return variant(problem, y=y, truth=truth, y_source=y_source)


def turned(problem: ToyProblem, width: int) -> ToyProblem:
    """Return the problem rotated into `width` dimensions, no fewer than before."""
    basis = np.linalg.qr(np.random.default_rng(3).standard_normal((width, width)))[0]
    X, X_source, *pairs = (
        rows @ basis[: rows.shape[1]]
        for rows in (problem.X, problem.source.X, *problem.source.paired_rows)
    )
    bridged = replace(problem.source, X=X_source, paired_rows=tuple(pairs))
    return replace(problem, X=X, source=bridged)


def scaled(problem: ToyProblem, target: Any, source: Any) -> ToyProblem:
    """Return the problem with the rows of each domain times one factor, or one each."""
    X, X_source = problem.X * target, problem.source.X * source
    return variant(problem, X=X, X_source=X_source)


def stretched(problem: ToyProblem, factor: float) -> ToyProblem:
    """Return the problem with random row lengths; `factor` scales the domains apart."""
    rng = np.random.default_rng(0)
    both = (len(problem.X), len(problem.source.X))
    target, source = (10.0 ** rng.uniform(-3, 3, (n, 1)) for n in both)
    return scaled(problem, target * factor, source / factor)


def doubled(problem: ToyProblem) -> ToyProblem:
    rows, own = (np.repeat(np.arange(len(y)), 2) for y in (problem.y, problem.source.y))
    return some_source(some_rows(problem, rows), own)


def toy_problem(
    *,
    n_classes: int = 4,
    d_source: int = 9,
    d_target: int = 7,
    source_per_class: int = 8,
    labelled_per_class: int = 3,
    unlabelled_per_class: int = 10,
    spread: float = 0.6,
    seed: int = 0,
) -> ToyProblem:
    """Draw rows around one centre per class and domain."""
    rng = np.random.default_rng(seed)

    def draw(per_class: int, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = np.repeat(np.arange(n_classes), per_class)
        noise = rng.standard_normal((len(codes), centres.shape[1]))
        return centres[codes] + spread * noise, codes

    source_centres = rng.standard_normal((n_classes, d_source))
    target_centres = rng.standard_normal((n_classes, d_target))
    X_source, y_source = draw(source_per_class, source_centres)
    X_labelled, y_labelled = draw(labelled_per_class, target_centres)
    X_unlabelled, truth = draw(unlabelled_per_class, target_centres)
    return ToyProblem(
        X=np.vstack([X_labelled, X_unlabelled]),
        y=np.concatenate([y_labelled, np.full(len(truth), -1)]),
        truth=np.concatenate([y_labelled, truth]),
        source=SourceDomain(X_source, y_source),
    )


def paired_problem() -> tuple[np.ndarray, np.ndarray, SourceDomain]:
    """Return ten classes, hard to separate with three labelled rows each; 60 pairs."""
    rng = np.random.default_rng(0)
    centres, views = rng.standard_normal((10, 10)), rng.standard_normal((2, 10, 14))

    def draw(codes: np.ndarray) -> np.ndarray:
        return centres[codes] + 1.1 * rng.standard_normal((len(codes), 10))

    codes, truth = np.arange(120) % 10, np.arange(150) % 10
    objects = draw(rng.integers(10, size=60))
    X = draw(truth) @ views[1]
    y = np.where(np.arange(150) < 30, truth, -1)
    pairs = objects @ views[0], objects @ views[1]
    return X, y, SourceDomain(draw(codes) @ views[0], codes, paired_rows=pairs)
