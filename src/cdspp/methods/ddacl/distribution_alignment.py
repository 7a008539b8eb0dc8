"""The objective of discriminative distribution alignment, and its exact reduction.

One softmax classifier behind one linear projection a domain. The unlabelled rows enter
through the means of the classes alone, so no matrix of size n x n or d x d is formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from cdspp.core.linalg import class_sums, counts
from cdspp.methods.base import Float, Int

__all__ = [
    "AlignmentObjective",
    "AlignmentTerm",
    "Parameters",
    "Reduced",
    "discrepancy_norm",
    "stacked_means",
]


@dataclass(frozen=True, eq=False)
class Parameters:
    """What is learnt; also the gradient with respect to it.

    `weights` (n_classes, n_components) and `biases` of the classifier, and of each
    domain a projection (d, n_components).
    """

    weights: Float
    biases: Float
    projections: tuple[Float, ...]

    def pack(self) -> Float:
        """Return all numbers in one vector."""
        arrays = (self.weights, self.biases, *self.projections)
        return np.concatenate([array.ravel() for array in arrays])

    def unpack(self, vector: Float) -> Parameters:
        """Return views of a vector in the shapes of these parameters."""
        arrays = (self.weights, self.biases, *self.projections)
        parts = np.split(vector, np.cumsum([array.size for array in arrays])[:-1])
        weights, biases, *projections = (
            part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)
        )
        return Parameters(weights, biases, tuple(projections))


@dataclass(frozen=True, eq=False)
class AlignmentTerm:
    """Pulls the projected means of two domains together, those of the classes apart.

    `means` (n_classes + 1, d) of source and target: of all rows, then of each class.
    `attraction` weighs the squared distances of the means of both domains,
    `separation` those of class means to their average, in a domain.
    """

    means: tuple[Float, Float]
    attraction: float
    separation: float

    def add(self, projections: Sequence[Float], gradients: Sequence[Float]) -> float:
        """Return the value of the term; add its gradient to `gradients`."""
        placed = [A @ P for A, P in zip(self.means, projections, strict=True)]
        gap = placed[0] - placed[1]
        value = self.attraction * float(np.vdot(gap, gap))
        for A, sign, B, gradient in zip(
            self.means, (1.0, -1.0), placed, gradients, strict=True
        ):
            apart = B[1:] - B[1:].mean(axis=0)
            value -= self.separation * float(np.vdot(apart, apart))
            force = sign * self.attraction * gap
            force[1:] -= self.separation * apart
            gradient += A.T @ force
        return value / 2.0


@dataclass(frozen=True, eq=False)
class AlignmentObjective:
    r"""Cross entropy of the labelled rows, alignment and ridge, with the gradient.

    Over labelled rows and class codes of each domain; `like` gives the shapes. The
    intercepts are not regularised. An alignment takes two domains.
    """

    domains: Sequence[tuple[Float, Int]]
    like: Parameters
    ridge: float
    alignment: AlignmentTerm | None = None

    def __call__(self, vector: Float) -> tuple[float, Float]:
        """Return value and gradient; the value is NaN where the softmax overflows."""
        at = self.like.unpack(vector)
        gradient = self.ridge * vector
        slopes = self.like.unpack(gradient)
        slopes.biases[:] = 0.0
        value = 0.5 * self.ridge * float(vector @ vector - at.biases @ at.biases)
        for (X, codes), P, slope in zip(
            self.domains, at.projections, slopes.projections, strict=True
        ):
            scores = X @ (P @ at.weights.T) + at.biases
            loss, errors = _cross_entropy(scores, codes)
            if not np.isfinite(loss):
                return np.nan, gradient
            value += loss
            pulled = X.T @ errors
            slope += pulled @ at.weights
            slopes.weights[:] += pulled.T @ P
            slopes.biases[:] += errors.sum(axis=0)
        if self.alignment is not None:
            value += self.alignment.add(at.projections, slopes.projections)
        return value, gradient


def _cross_entropy(scores: Float, codes: Int) -> tuple[float, Float]:
    """Return the mean cross entropy and its gradient, NaN where it overflows.

    Without subtracting the largest score on purpose: the overflow of a long step is
    what tells the line search of the authors' code to halve it.
    """
    rows = np.arange(len(codes))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        if not probabilities.min() > 0.0:
            return np.nan, probabilities
    loss = -float(np.log(probabilities[rows, codes]).mean())
    probabilities[rows, codes] -= 1.0
    probabilities /= len(codes)
    return loss, probabilities


def stacked_means(blocks: Sequence[tuple[Float, Int]], n_classes: int) -> Float:
    """Return the mean of all rows, then the class means, (n_classes + 1, d).

    Every class has a row in one of the blocks of rows and class codes.
    """
    sums = sum(class_sums(X, codes, n_classes) for X, codes in blocks)
    sizes = sum(counts(codes, n_classes) for _, codes in blocks)
    total = np.sum(sums, axis=0) / np.sum(sizes)
    return np.vstack([total, sums / np.asarray(sizes)[:, None]])


def discrepancy_norm(y_source: Int, y_target: Int, n_classes: int) -> float:
    """Return the Frobenius norm of the n x n matrix of the squared discrepancy.

    By the small matrix of products of its factors: the indicators of all rows and of
    each class, divided by their number. Every class occurs in both domains.
    """
    of_all = 1.0 / len(y_source) + 1.0 / len(y_target)
    of_class = 1.0 / counts(y_source, n_classes) + 1.0 / counts(y_target, n_classes)
    return float(np.sqrt((2 * n_classes + 1) * of_all**2 + of_class @ of_class))


class Reduced:
    """Rows and a projection in as many coordinates as there are rows, exactly.

    All gradients of a projection but the ridge's lie in the span of the `rows`, which
    hold whatever else multiplies the projection, too. An orthonormal basis of it thus
    gives a smaller problem with the same values; what is left of the projection is only
    ever scaled, and one more feature, zero in all rows, carries its norm. From (n, d)
    this leads to (n, n + 1) where it is narrower.
    """

    def __init__(self, rows: Float, projection: Float) -> None:
        self.rows, self.projection = rows, projection
        self._basis: Float | None = None
        n, d = rows.shape
        if n + 1 >= d:
            return
        basis, triangle = linalg.qr(rows.T, mode="economic", check_finite=False)
        inside = basis.T @ projection
        rest = projection - basis @ inside
        norm = float(linalg.norm(rest))
        self.rows = np.zeros((n, n + 1))
        self.rows[:, :n] = triangle.T
        self.projection = np.zeros((n + 1, projection.shape[1]))
        self.projection[:n] = inside
        self.projection[n, 0] = norm
        self._basis = basis
        self._rest = rest / norm if norm else rest

    def expand(self, projection: Float) -> Float:
        """Return a reduced projection in the original features."""
        if self._basis is None:
            return projection
        inside = self._basis @ projection[:-1]
        return np.asarray(inside + projection[-1, 0] * self._rest)
