"""What the tests of HFA and SHFA share: scalar kernels and degenerate problems."""

from __future__ import annotations

import numpy as np
from support.toy_problem import ToyProblem, doubled, toy_problem, variant

from cdspp import SourceDomain

__all__ = [
    "DEGENERATE",
    "missing",
    "scalar_blocks",
    "scalar_kernel",
    "settled",
]


def scalar_kernel(A: np.ndarray, B: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the Gaussian kernel of the page, one pair after another."""
    mean = np.mean([np.sum((a - b) ** 2) for a in rows for b in rows])
    return np.array([[np.exp(-np.sum((a - b) ** 2) / mean) for b in B] for a in A])


def scalar_blocks(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the block diagonal kernel of the rows of two domains."""
    K = np.zeros((len(A) + len(B),) * 2)
    K[: len(A), : len(A)] = scalar_kernel(A, A, A)
    K[len(A) :, len(A) :] = scalar_kernel(B, B, B)
    return K


def settled(trace: list[float]) -> bool:
    """Return whether the last value differs from the one before by under 0.1 %."""
    return len(trace) > 1 and abs(trace[-1] - trace[-2]) <= 1e-3 * abs(trace[-1])


def missing(problem: ToyProblem, code: int, *, source: bool) -> ToyProblem:
    """Return the problem without a class in one of the domains."""
    if source:
        kept = np.asarray(problem.source.y) != code
        rest = SourceDomain(
            np.asarray(problem.source.X)[kept], np.asarray(problem.source.y)[kept]
        )
        return variant(problem, source=rest)
    kept = (problem.y != code) | problem.unlabelled
    return ToyProblem(
        problem.X[kept], problem.y[kept], problem.truth[kept], problem.source
    )


def scaled(factor: float) -> ToyProblem:
    """Return a problem with another unit of length."""
    problem = toy_problem()
    source = SourceDomain(np.asarray(problem.source.X) * factor, problem.source.y)
    return variant(problem, X=problem.X * factor, source=source)


def same_rows() -> ToyProblem:
    """Return a problem whose rows are all equal."""
    problem = toy_problem()
    source = SourceDomain(np.ones_like(problem.source.X), problem.source.y)
    return variant(problem, X=np.full_like(problem.X, 0.3), source=source)


DEGENERATE = {
    "one label a class": lambda: toy_problem(labelled_per_class=1),
    "one source row a class": lambda: toy_problem(source_per_class=1),
    "no unlabelled row": lambda: toy_problem(unlabelled_per_class=0),
    "one feature each": lambda: toy_problem(d_source=1, d_target=1),
    "more features than rows": lambda: toy_problem(d_source=90, d_target=120),
    "a class without target row": lambda: missing(toy_problem(), 1, source=False),
    "a class without source row": lambda: missing(toy_problem(), 1, source=True),
    "equal rows": same_rows,
    "every row twice": lambda: doubled(toy_problem()),
    "huge": lambda: scaled(1e100),
    "tiny": lambda: scaled(1e-100),
    "one class": lambda: toy_problem(n_classes=1),
    "one target row a class, no other": lambda: toy_problem(
        n_classes=2, labelled_per_class=1, unlabelled_per_class=0, source_per_class=1
    ),
}
