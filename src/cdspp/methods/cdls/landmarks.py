r"""Landmark weights of CDLS: the quadratic program and its interior-point method.

Samples of one class and domain form a *group*. For samples i and j of groups g and h,
the entry of the Hessian H is ``W[g, h] z_i^T z_j``, where ``W[g, h]`` depends only on
the domains unless g and h have the same class. H is thus the sum of one block per class
and a matrix of rank 2m, where m is the number of columns of z. It is never formed: a
step takes one Cholesky factor per class, and one system of about m + 3C equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import class_sums, counts
from cdspp.methods.base import Float, Int

TOLERANCE = 1e-10  # of residuals, as a share of the largest entry of the gradient
GAP_TOLERANCE = 1e-12  # of the mean complementarity, likewise
ACCEPTABLE = 1e-6  # tolerance if rounding prevents further progress
MAX_STEPS = 50
STEP_SHARE = 0.995  # of the longest step that keeps every bound
MIN_SLACK = 1e-20  # smallest distance to a bound, so that quotients do not overflow


class ClassTargets(NamedTuple):
    """Sums of the target's weighted rows by class, and the weights in these sums."""

    sums: Float
    labelled: Float
    pseudo: Float
    mean: Float


class ProjectedTarget(NamedTuple):
    """Target rows in the principal subspace of dimension m, some with class codes."""

    labelled: Float
    codes: Int
    unlabelled: Float
    n_classes: int

    def initial_targets(self) -> ClassTargets:
        """Return targets without predictions; unlabelled rows count in the mean."""
        sums = class_sums(self.labelled, self.codes, self.n_classes)
        sizes = counts(self.codes, self.n_classes)
        mean = np.vstack([self.labelled, self.unlabelled]).mean(axis=0)
        return ClassTargets(sums, sizes, np.zeros(self.n_classes), mean)

    def targets(self, prediction: Int, weights: Float) -> ClassTargets:
        """Return targets that include weighted unlabelled rows by predicted class."""
        sums, sizes, _, _ = self.initial_targets()
        column, n_classes = weights[:, None], self.n_classes
        sums += class_sums(column * self.unlabelled, prediction, n_classes)
        pseudo = class_sums(column, prediction, n_classes).ravel()
        mean = sums.sum(axis=0) / (len(self.labelled) + weights.sum())
        return ClassTargets(sums, sizes, pseudo, mean)


@dataclass(frozen=True, eq=False)
class LandmarkProgram:
    r"""The program ``min x^T H x / 2 + f^T x`` over the weights x of all samples.

    The constraints are ``0 <= x <= 1`` and, for each group, ``sum of x = delta *
    size``. `rows` (n, m) are the projected source rows, then the unlabelled target
    rows; `groups` has their class, plus `n_classes` in the target. Inner products of
    two samples have the factors `between_domains` (2, 2), plus `within_classes`
    (n_classes, 2, 2) if they have one class. H has `curvature` times the identity.
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
        mixed_normaliser: bool = True,
        norms_of_all_classes: bool = True,
    ) -> LandmarkProgram:
        """Build the program for mapped source rows and predictions of the target.

        Squared norms of pairs of all classes give a bilinear term. It is linear if the
        constraints hold, so it is part of f, and H keeps its structure.
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
        between_domains = np.array([[a_all**2, -ab_all], [-ab_all, bb_all]])
        within_classes = np.array([[a**2, -cross], [-cross, b**2]]).T
        linear = np.einsum("ij,ij->i", rows, slopes + norms[:, None] * rows)
        return cls(rows, groups, between_domains, within_classes, linear, delta)

    @property
    def n_classes(self) -> int:
        """Number of classes; each has two groups."""
        return len(self.within_classes)

    @cached_property
    def group_sums(self) -> Float:
        """Required sum of the weights of each group, (2 n_classes,)."""
        return self.delta * counts(self.groups, 2 * self.n_classes)

    def product(self, x: Float) -> Float:
        """Return ``H @ x`` in O(n m), without H."""
        n_groups, m = 2 * self.n_classes, self.rows.shape[1]
        sums = class_sums(x[:, None] * self.rows, self.groups, n_groups)
        sums = sums.reshape(2, self.n_classes, m)
        slopes = np.einsum("de,em->dm", self.between_domains, sums.sum(axis=1))[:, None]
        slopes = slopes + np.einsum("cde,ecm->dcm", self.within_classes, sums)
        slopes = slopes.reshape(n_groups, m)[self.groups]
        return np.asarray(np.einsum("ij,ij->i", self.rows, slopes) + self.curvature * x)


class _Block(NamedTuple):
    """The samples of one class, by domain, in the equations of a step.

    `matrix` is their part of the Hessian without the low-rank term but with the penalty
    of the equalities; `border` has their rows of U and the columns of their equalities.
    """

    members: Int
    matrix: Float
    border: Float
    equalities: slice


class _StepEquations:
    """``(H + diag(D)) dx - A^T dy = r`` and ``A dx = p`` for the program's H and A.

    With ``H = blocks + U Q U^T``, the border ``E = [U, -A^T]`` and ``w = [Q U^T dx;
    dy]``, the step is ``dx = B^{-1} (r - E w)``, and w solves a system of one equation
    per column of E. Q is indefinite and never inverted. U has the target rows, and the
    source rows in a basis of their span, of about C dimensions.
    """

    def __init__(self, program: LandmarkProgram) -> None:
        self.program = program
        # Sorted by class, so that the equalities of a block are adjacent.
        order = np.arange(2 * program.n_classes).reshape(2, -1).T.ravel()
        self.present = order[program.group_sums[order] > 0]
        self.penalty = np.zeros(program.n_classes)
        of_source = program.groups < program.n_classes
        rows = program.rows[of_source]
        _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
        negligible = max(rows.shape) * np.finfo(float).eps * sizes.max(initial=0.0)
        basis = axes[sizes > negligible].T
        rank, self.width = basis.shape[1], sum(basis.shape)
        self.low_rank = np.zeros((len(program.rows), self.width))
        self.low_rank[of_source, :rank] = rows @ basis
        self.low_rank[~of_source, rank:] = program.rows[~of_source]
        (ss, st), (ts, tt) = program.between_domains
        upper = [ss * np.eye(rank), st * basis.T]
        self.mixing = np.block([upper, [ts * basis, tt * np.eye(len(basis))]])
        self.blocks = [self._block(code) for code in range(program.n_classes)]

    def _block(self, code: int) -> _Block:
        program, n_classes = self.program, self.program.n_classes
        groups = self.present[self.present % n_classes == code]
        members = np.hstack([np.flatnonzero(program.groups == g) for g in groups])
        domain = program.groups[members] // n_classes
        Z = program.rows[members]
        matrix = program.within_classes[code][np.ix_(domain, domain)] * (Z @ Z.T)
        # The pair term is indefinite along the sums of groups. These are fixed, so a
        # penalty on them changes no step and ensures a Cholesky factor.
        self.penalty[code] = np.abs(matrix).max()
        matrix[domain[:, None] == domain] += self.penalty[code]
        matrix[np.diag_indices_from(matrix)] += program.curvature
        sums = program.groups[members][:, None] == groups
        border = np.asfortranarray(np.hstack([self.low_rank[members], -1.0 * sums]))
        first = self.width + int(np.searchsorted(self.present % n_classes, code))
        equalities = slice(first, first + len(groups))
        return _Block(members, np.asfortranarray(matrix), border, equalities)

    def residuals(self, point: _Iterate) -> tuple[Float, Float]:
        program = self.program
        multipliers = np.zeros(2 * program.n_classes)
        multipliers[self.present] = point.y
        gradient = program.product(point.x) + program.linear
        dual = point.lower - point.upper + multipliers[program.groups] - gradient
        sums = np.bincount(program.groups, point.x, len(multipliers))
        return dual, (program.group_sums - sums)[self.present]

    def factorise(self, diagonal: Float) -> None:
        """Factorise the equations for ``D = diag(diagonal)``."""
        width, size = self.width, self.width + len(self.present)
        inner = np.zeros((size, size))
        self._factors: list[tuple[Float, Float]] = []
        for block in self.blocks:
            factor = _cholesky(block.matrix, diagonal[block.members])
            half = blas.dtrsm(1.0, factor, block.border, lower=True)
            product = half.T @ half
            columns = block.equalities
            inner[:width, :width] += product[:width, :width]
            inner[columns, :width] = product[width:, :width]
            inner[:width, columns] = product[:width, width:]
            inner[columns, columns] = product[width:, width:]
            self._factors.append((factor, half))
        inner[:width] = self.mixing @ inner[:width]
        inner[:width, :width] += np.eye(width)
        self._inner = linalg.lu_factor(inner, overwrite_a=True, check_finite=False)

    def direction(
        self, point: _Iterate, residual: tuple[Float, Float], lower: Float, upper: Float
    ) -> _Iterate:
        """Return the step to the given products of bounds and multipliers."""
        x, rest, width = point.x, 1 - point.x, self.width
        r, p = residual[0] + lower / x - upper / rest, residual[1]
        by_group = np.zeros(2 * self.program.n_classes)
        by_group[self.present] = p
        r = r + (np.tile(self.penalty, 2) * by_group)[self.program.groups]
        w, halves = np.zeros(width + len(p)), []
        w[width:] = p
        for block, (factor, half) in zip(self.blocks, self._factors, strict=True):
            halves.append(blas.dtrsv(factor, r[block.members], lower=True))
            product = halves[-1] @ half
            w[:width] += product[:width]
            w[block.equalities] += product[width:]
        w[:width] = self.mixing @ w[:width]
        w = linalg.lu_solve(self._inner, w, check_finite=False)
        dx = np.empty_like(r)
        parts = zip(self.blocks, self._factors, halves, strict=True)
        for block, (factor, half), right_side in parts:
            right_side -= half[:, :width] @ w[:width]
            right_side -= half[:, width:] @ w[block.equalities]
            dx[block.members] = blas.dtrsv(factor, right_side, lower=True, trans=True)
        lower, upper = (lower - point.lower * dx) / x, (upper + point.upper * dx) / rest
        return _Iterate(dx, lower, upper, w[width:])


def _cholesky(matrix: Float, diagonal: Float) -> Float:
    """Return the lower factor of ``matrix + diag(diagonal)``, shifted if need be."""
    shift = 0.0
    for _ in range(12):
        total = matrix.copy(order="F")
        total[np.diag_indices_from(total)] += diagonal + shift
        # LAPACK is called directly: SciPy's checks take longer than so small a factor.
        # The entries above the diagonal remain.
        factor, failed = lapack.dpotrf(total, lower=True, clean=False, overwrite_a=True)
        if not failed:
            return np.asarray(factor)
        shift = max(10.0 * shift, 1e-8 * float(np.abs(matrix).max()))
    raise MethodFailed("the quadratic program of the landmark weights is not convex")


class _Iterate(NamedTuple):
    """Weights `x`, multipliers of ``0 <= x``, of ``x <= 1`` and of the equalities."""

    x: Float
    lower: Float
    upper: Float
    y: Float

    def gap(self) -> float:
        """Return the mean complementarity."""
        products = self.x @ self.lower + (1 - self.x) @ self.upper
        return float(products / 2 / len(self.x))

    def longest_step(self, direction: _Iterate) -> float:
        """Return the longest step, one at most, that keeps every bound."""
        values = np.concatenate([self.x, 1 - self.x, self.lower, self.upper])
        parts = direction.x, -direction.x, direction.lower, direction.upper
        changes = np.concatenate(parts)
        falling = changes < 0
        return float(np.min(-values[falling] / changes[falling], initial=1.0))

    def moved(self, direction: _Iterate, step: float) -> _Iterate:
        return _Iterate(
            np.clip(self.x + step * direction.x, MIN_SLACK, np.nextafter(1.0, 0.0)),
            self.lower + step * direction.lower,
            self.upper + step * direction.upper,
            self.y + step * direction.y,
        )


def solve_landmarks(program: LandmarkProgram) -> Float:
    """Return weights in [0, 1] that solve the program; equal samples get equal ones.

    Within the constraints, H has a few slightly negative eigenvalues, which the linear
    part usually outweighs. If the method does not converge, a sequence of convex
    programs around the last solution leads to a minimum, at least a local one.
    """
    if (solution := _minimise(program)) is not None:
        return solution
    x = np.full(len(program.rows), program.delta)
    largest = float(np.einsum("ij,ij->i", program.rows, program.rows).max())
    curvature = 1e-2 * float(np.abs(program.within_classes).max()) * largest
    for step in range(500):
        # This adds ``curvature * |x - anchor|^2 / 2`` to the objective.
        linear, total = program.linear - curvature * x, program.curvature + curvature
        nearby = _minimise(replace(program, linear=linear, curvature=total))
        if nearby is None:
            curvature *= 4.0
            continue
        change, x = float(np.abs(nearby - x).max()), nearby
        # Along flat directions, as of repeated samples, changes end at the accuracy of
        # the programs.
        if change < (1e-6 if step < 100 else 1e-3):
            return x
    raise MethodFailed("the landmark weights did not converge")


def _minimise(program: LandmarkProgram) -> Float | None:
    """Run Mehrotra's predictor-corrector method; None if it does not converge."""
    x = np.full(len(program.rows), program.delta)
    scale = float(np.abs(program.product(x) + program.linear).max())
    if scale == 0.0:
        return x
    equations = _StepEquations(program)
    bounds = np.full_like(x, scale)
    point = _Iterate(x, bounds, bounds, np.zeros(len(equations.present)))
    for _ in range(MAX_STEPS):
        residuals = equations.residuals(point)
        largest = [float(np.abs(part).max()) for part in residuals]
        error = max(largest[0] / scale, largest[1])
        if error < TOLERANCE and point.gap() < GAP_TOLERANCE * scale:
            return np.clip(point.x, 0.0, 1.0)
        equations.factorise(point.lower / point.x + point.upper / (1 - point.x))
        lower, upper = -point.x * point.lower, -(1 - point.x) * point.upper
        predictor = equations.direction(point, residuals, lower, upper)
        gap = point.moved(predictor, point.longest_step(predictor)).gap()
        centre = gap**3 / point.gap() ** 2
        lower += centre - predictor.x * predictor.lower
        upper += centre + predictor.x * predictor.upper
        direction = equations.direction(point, residuals, lower, upper)
        point = point.moved(direction, STEP_SHARE * point.longest_step(direction))
    acceptable = error < ACCEPTABLE and point.gap() < ACCEPTABLE * scale
    return np.clip(point.x, 0.0, 1.0) if acceptable else None
