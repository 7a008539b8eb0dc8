r"""Landmark weights of CDLS: the quadratic program.

Each sample of the projected source and of the projected, pseudo-labelled target gets a
weight in [0, 1]; the weights of a class add up to a given share of its size, in each
domain. Samples of one class and domain form a *group*. Between samples i and j of
groups g and h the Hessian is ``W[g, h] z_i^T z_j``, and ``W[g, h]`` depends on the
domains alone unless g and h are of one class: a block for each class plus a matrix of
rank 2m, where m is the number of columns of z. H itself is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cdspp.core.linalg import class_sums, counts
from cdspp.methods.base import Float, Int
from cdspp.methods.cdls.source_map import ProjectedTarget

__all__ = ["LandmarkProgram"]


@dataclass(frozen=True, eq=False)
class LandmarkProgram:
    r"""The program ``min x^T H x / 2 + f^T x`` over the weights x of all samples.

    Subject to ``0 <= x <= 1`` and, for each group, ``sum of x = delta * size``.
    `rows` (n, m) are the projected samples, source rows first, then the unlabelled
    target rows. `groups` holds their class, with `n_classes` added in the target. The
    factors of the inner products of two samples are `between_domains` (2, 2), whatever
    their classes, to which samples of one class add `within_classes` (n_classes, 2, 2).
    `linear` is f, `delta` the share of the weight of each group, and `curvature` a
    multiple of the unit matrix in H.
    """

    rows: Float
    groups: Int
    between_domains: Float
    within_classes: Float
    linear: Float
    delta: float
    curvature: float = 0.0

    @classmethod
    def build(
        cls,
        source: Float,
        source_codes: Int,
        target: ProjectedTarget,
        prediction: Int,
        delta: float,
        *,
        mixed_normaliser: bool = True,
        norms_of_all_classes: bool = True,
    ) -> LandmarkProgram:
        """State the program for the mapped source rows and a prediction of the target.

        Each class needs a source row and a labelled target row. `mixed_normaliser`
        weighs the inner products of target samples in the marginal term by the product
        of both domains' normalisers, as the released code does, else by the square of
        the target's, as the objective says. `norms_of_all_classes` sums the squared
        norms of the pair term over pairs of all classes, as the released code does,
        else over pairs of one class. Over all classes they give a bilinear piece of H,
        which is linear where the constraints hold: it stands in f, so that H keeps its
        structure.
        """
        n_classes, t = target.n_classes, counts(target.codes, target.n_classes)
        s, u = (delta * counts(c, n_classes) for c in (source_codes, prediction))
        a, b = 1.0 / s, 1.0 / (u + t)
        a_all, b_all = 1.0 / s.sum(), 1.0 / (u + t).sum()
        pairs = 1.0 / (s * u + u * t + t * s)
        cross = a * b + pairs
        sums = class_sums(target.labelled, target.codes, n_classes)
        total = sums.sum(axis=0)
        slope_source = -a_all * b_all * total - cross[:, None] * sums
        slope_target = b_all**2 * total + (b**2 - pairs)[:, None] * sums
        partners = np.stack([t + u, t + s])
        if norms_of_all_classes:
            partners[:] = partners.sum(axis=1, keepdims=True)
        rows = np.vstack([source, target.unlabelled])
        groups = np.hstack([source_codes, prediction + n_classes])
        slopes = np.vstack([slope_source, slope_target])[groups]
        norms = (0.5 * pairs * partners).ravel()[groups]
        ab_all = a_all * b_all
        bb_all = ab_all if mixed_normaliser else b_all**2
        return cls(
            rows=rows,
            groups=groups,
            between_domains=np.array([[a_all**2, -ab_all], [-ab_all, bb_all]]),
            within_classes=np.array([[a**2, -cross], [-cross, b**2]]).T,
            linear=np.einsum("ij,ij->i", rows, slopes + norms[:, None] * rows),
            delta=delta,
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.within_classes)

    @cached_property
    def group_sums(self) -> Float:
        """Required sum of the weights of each group, (2 n_classes,)."""
        return self.delta * counts(self.groups, 2 * self.n_classes)

    def sums_of(self, x: Float) -> Float:
        """Return the sum of `x` over each group, (2 n_classes,)."""
        return np.asarray(np.bincount(self.groups, x, 2 * self.n_classes))

    def product(self, x: Float) -> Float:
        """Return ``H @ x`` in O(n m), without H."""
        n_groups, m = 2 * self.n_classes, self.rows.shape[1]
        sums = class_sums(x[:, None] * self.rows, self.groups, n_groups)
        sums = sums.reshape(2, self.n_classes, m)
        slopes = np.einsum("de,em->dm", self.between_domains, sums.sum(axis=1))[:, None]
        slopes = slopes + np.einsum("cde,ecm->dcm", self.within_classes, sums)
        slopes = slopes.reshape(n_groups, m)[self.groups]
        product = np.einsum("ij,ij->i", self.rows, slopes)
        return np.asarray(product + self.curvature * x)

    def objective(self, x: Float) -> float:
        """Return the value of the objective; its constant is left out."""
        return float(0.5 * x @ self.product(x) + self.linear @ x)

    def near(self, anchor: Float, curvature: float) -> LandmarkProgram:
        """Return the program with ``curvature * |x - anchor|^2 / 2`` on top."""
        linear = self.linear - curvature * anchor
        return replace(self, linear=linear, curvature=self.curvature + curvature)
