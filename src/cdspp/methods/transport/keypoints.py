"""Keypoints of both domains, and the guide by which they steer a transport plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import class_sums, counts, softmax, squared_distances
from cdspp.methods.base import Float, Problem

__all__ = ["Keypoints"]

CHUNK = 1024  # rows whose distances are held at a time


def _largest_distance(X: Float) -> float:
    """Return the largest squared distance between two rows, O(n^2 d)."""
    parts = (X[k : k + CHUNK] for k in range(0, len(X), CHUNK))
    return max(float(squared_distances(part, X).max()) for part in parts)


@dataclass(frozen=True, eq=False)
class Keypoints:
    """Labelled target rows, each with the mean of the source rows of its class.

    A labelled row whose class the source lacks is no keypoint. The scales are the
    largest squared distances within a domain, keypoints among its rows.
    """

    source: Float
    target: Float
    source_scale: float
    target_scale: float

    @classmethod
    def of(cls, problem: Problem) -> Keypoints:
        """Return the keypoints of a problem with rows of unit length."""
        sums = class_sums(problem.X_source, problem.y_source, problem.n_classes)
        sizes = counts(problem.y_source, problem.n_classes)
        known = sizes[problem.y_labelled] > 0
        codes = problem.y_labelled[known]
        if not len(codes):
            raise MethodFailed("no keypoints: source and target share no class")
        source = sums[codes] / sizes[codes, None]
        target = problem.X_labelled[known]
        every_source = np.vstack([source, problem.X_source])
        every_target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        return cls(
            source,
            target,
            _largest_distance(every_source) or 1.0,
            _largest_distance(every_target) or 1.0,
        )

    def guide(self, X_source: Float, X_target: Float, tau: float) -> Float:
        r"""Return how differently source and target rows lie towards the keypoints.

        ``G_ij = JS(r_i, r_j)``, the Jensen-Shannon divergence of ``r_i =
        softmax(-d(x_i, k) / tau)`` over the keypoints k of the row's domain; divided by
        its largest entry. O(n m L) for L keypoints, in n x m memory.
        """
        left = _relation(X_source, self.source, self.source_scale * tau)
        right = _relation(X_target, self.target, self.target_scale * tau)
        own = xlogy(left, left).sum(axis=1)[:, None] + xlogy(right, right).sum(axis=1)
        found = 0.5 * own
        for ours, theirs in zip(left.T, right.T, strict=True):
            middle = 0.5 * (ours[:, None] + theirs)
            found -= xlogy(middle, middle)
        found = np.maximum(found, 0.0)
        return np.asarray(found / (found.max(initial=0.0) or 1.0))

    def products(self, X_source: Float, X_target: Float) -> Float:
        """Return, for a source row i and a target row j, the sum of ``d_ik d_jk``."""
        left = squared_distances(X_source, self.source) / self.source_scale
        right = squared_distances(X_target, self.target) / self.target_scale
        return np.asarray(left @ right.T)


def _relation(X: Float, keypoints: Float, scale: float) -> Float:
    return softmax(-squared_distances(X, keypoints) / scale)
