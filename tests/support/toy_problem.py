"""Small synthetic problems with two feature spaces, for tests of methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cdspp import SourceDomain

__all__ = [
    "WIDE",
    "ToyProblem",
    "disguised",
    "doubled",
    "renamed",
    "shuffled",
    "toy_problem",
    "turned",
    "variant",
]

# More features than rows, so that the solver works on rows.
WIDE: dict[str, Any] = {"d_source": 60, "d_target": 90}


@dataclass(frozen=True, eq=False)
class ToyProblem:
    """Target rows with labels (-1 where unlabelled), their truth, and the source."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    source: SourceDomain

    @property
    def unlabelled(self) -> np.ndarray:
        """Which target rows are unlabelled."""
        return self.y == -1

    def fit(self, model: Any) -> Any:
        """Fit a method on the problem."""
        return model.fit(self.X, self.y, source=self.source)

    def accuracy(self, model: Any) -> float:
        """Return the accuracy of a fitted method on the unlabelled rows."""
        right = model.transduction_ == self.truth
        return float(right[self.unlabelled].mean())


def variant(problem: ToyProblem, **changes: Any) -> ToyProblem:
    """Return the problem with other rows, labels or source."""
    fields = {"X": problem.X, "y": problem.y, "truth": problem.truth}
    return ToyProblem(**{**fields, "source": problem.source, **changes})


def shuffled(problem: ToyProblem) -> tuple[ToyProblem, np.ndarray]:
    """Return the problem with both domains in another order, and the target's order."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(problem.X))
    drawn = rng.permutation(len(problem.source.y))
    source = SourceDomain(problem.source.X[drawn], problem.source.y[drawn])
    rows = (problem.X[order], problem.y[order], problem.truth[order])
    return ToyProblem(*rows, source), order


def renamed(problem: ToyProblem, names: np.ndarray) -> ToyProblem:
    """Return the problem with the class c called ``names[c]``."""
    y = np.where(problem.unlabelled, -1, names[problem.y])
    source = SourceDomain(problem.source.X, names[problem.source.y])
    return ToyProblem(problem.X, y, names[problem.truth], source)


def turned(problem: ToyProblem, width: int) -> ToyProblem:
    """Return the problem rotated into `width` dimensions, as many as before or more."""
    basis = np.linalg.qr(np.random.default_rng(3).standard_normal((width, width)))[0]
    X, X_source = (
        rows @ basis[: rows.shape[1]] for rows in (problem.X, problem.source.X)
    )
    return variant(problem, X=X, source=SourceDomain(X_source, problem.source.y))


def disguised(problem: ToyProblem) -> tuple[ToyProblem, np.ndarray, np.ndarray]:
    """Return the problem turned, scaled by row, renamed and shuffled; names, order."""
    names = np.array([2, 0, 3, 1])
    lengths = np.random.default_rng(2).uniform(0.1, 9.0, (len(problem.X), 1))
    other = renamed(turned(problem, problem.source.X.shape[1]), names)
    other, order = shuffled(variant(other, X=other.X * lengths))
    return other, names, order


def doubled(problem: ToyProblem) -> ToyProblem:
    """Return the problem with every row twice."""
    source = SourceDomain(
        np.repeat(problem.source.X, 2, axis=0), np.repeat(problem.source.y, 2)
    )
    given = (problem.X, problem.y, problem.truth)
    return ToyProblem(*(np.repeat(values, 2, axis=0) for values in given), source)


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
    """Draw rows around one centre a class and domain."""
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
