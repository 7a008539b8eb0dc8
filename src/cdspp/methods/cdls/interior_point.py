"""The interior-point method for the landmark weights of CDLS.

A step solves one linear system with the Hessian, a block for each class plus a matrix
of rank 2m: one Cholesky factor a class, and one system of 2m + 2C equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from cdspp.core.errors import MethodFailed
from cdspp.methods.base import Float, Int
from cdspp.methods.cdls.landmarks import LandmarkProgram

__all__ = ["solve_landmarks"]

TOLERANCE = 1e-10  # Residuals, as a share of the largest entry of the gradient.
GAP_TOLERANCE = 1e-12  # Mean complementarity, likewise.
ACCEPTABLE = 1e-6  # Enough where rounding lets these sink no further.
MAX_STEPS = 50
TO_THE_BOUNDARY = 0.995
SMALLEST = 1e-20  # Distance to the bounds at least; below, quotients overflow.
MAX_ANCHORS = 500
MOVED = 1e-6  # A smaller change of all weights from one anchor to the next is none.


@dataclass(frozen=True, eq=False)
class _Block:
    """The samples of one class: their part of the equations of a step.

    `members` are ordered by domain; `matrix` is their part of the Hessian, the rank-2m
    term left out, with the penalty of the equalities; `border` has 2m + 2 columns at
    most, `columns` of the whole border.
    """

    members: Int
    matrix: Float
    border: Float
    columns: Int


class _StepEquations:
    """``(H + diag(D)) dx - A^T dy = r`` and ``A dx = p`` for the program's H and A.

    With ``H = blocks + U Q U^T``, `border` ``E = [U, -A^T]`` and ``w = [Q U^T dx; dy]``
    the samples follow from ``dx = B^{-1} (r - E w)``, one Cholesky factor a class, and
    w from a system of 2m + 2C equations. Q is indefinite and never inverted.
    """

    def __init__(self, program: LandmarkProgram) -> None:
        self.program = program
        self.width = 2 * program.rows.shape[1]
        self.present = np.flatnonzero(program.group_sums)
        self.mixing = np.kron(program.between_domains, np.eye(self.width // 2))
        self.penalty = np.zeros(program.n_classes)
        self.blocks = list(self._blocks())

    def _blocks(self) -> Iterator[_Block]:
        program, n_classes = self.program, self.program.n_classes
        half = self.width // 2
        for c in range(n_classes):
            groups = [c, c + n_classes]
            parts = [np.flatnonzero(program.groups == g) for g in groups]
            members = np.hstack(parts)
            domain = np.repeat([0, 1], [len(part) for part in parts])
            Z = program.rows[members]
            factors = program.within_classes[c][np.ix_(domain, domain)]
            matrix = factors * (Z @ Z.T)
            # The pair term is indefinite along the groups' sums, which are fixed:
            # penalising them changes no step and lets the Cholesky factor exist.
            self.penalty[c] = np.abs(matrix).max()
            same = domain[:, None] == domain
            matrix[same] += self.penalty[c]
            matrix[np.diag_indices_from(matrix)] += program.curvature
            border = np.zeros((len(members), self.width + 2))
            border[domain == 0, :half] = Z[domain == 0]
            border[domain == 1, half : self.width] = Z[domain == 1]
            border[np.arange(len(members)), self.width + domain] = -1.0
            kept = np.isin(groups, self.present)
            equalities = self.width + np.searchsorted(
                self.present, np.array(groups)[kept]
            )
            yield _Block(
                members=members,
                matrix=matrix,
                border=border[:, np.hstack([np.ones(self.width, dtype=bool), kept])],
                columns=np.hstack([np.arange(self.width), equalities]),
            )

    def factorise(self, diagonal: Float) -> None:
        """Prepare `solve` for ``D = diag(diagonal)``."""
        size = self.width + len(self.present)
        inner = np.zeros((size, size))
        self._factors = [_cholesky(b.matrix, diagonal[b.members]) for b in self.blocks]
        for block, factor in zip(self.blocks, self._factors, strict=True):
            half, _ = lapack.dtrtrs(factor, block.border, lower=True)
            inner[np.ix_(block.columns, block.columns)] += half.T @ half
        inner[: self.width] = self.mixing @ inner[: self.width]
        inner[: self.width, : self.width] += np.eye(self.width)
        self._inner = linalg.lu_factor(inner, overwrite_a=True, check_finite=False)

    def solve(self, r: Float, p: Float) -> tuple[Float, Float]:
        """Return dx and dy; `p` and dy have one entry for each group present."""
        by_group = np.zeros(2 * self.program.n_classes)
        by_group[self.present] = p
        r = r + (np.tile(self.penalty, 2) * by_group)[self.program.groups]
        w = self._border_product(self._solve_blocks(r))
        w[: self.width] = self.mixing @ w[: self.width]
        w[self.width :] += p
        w = linalg.lu_solve(self._inner, w, check_finite=False)
        for block in self.blocks:
            r[block.members] -= block.border @ w[block.columns]
        return self._solve_blocks(r), w[self.width :]

    def _solve_blocks(self, r: Float) -> Float:
        found = np.empty_like(r)
        for block, factor in zip(self.blocks, self._factors, strict=True):
            found[block.members], _ = lapack.dpotrs(
                factor, r[block.members], lower=True
            )
        return found

    def _border_product(self, x: Float) -> Float:
        product = np.zeros(self.width + len(self.present))
        for block in self.blocks:
            product[block.columns] += block.border.T @ x[block.members]
        return product


def _cholesky(matrix: Float, diagonal: Float) -> Float:
    """Return the lower factor of ``matrix + diag(diagonal)``, shifted if need be."""
    shift = 0.0
    scale = float(np.abs(matrix).max())
    for _ in range(12):
        shifted = matrix.copy(order="F")
        shifted[np.diag_indices_from(shifted)] += diagonal + shift
        # LAPACK itself: for so small a block SciPy's checks cost more than the factor.
        factor, failed = lapack.dpotrf(
            shifted, lower=True, clean=True, overwrite_a=True
        )
        if not failed:
            return np.asarray(factor)
        shift = max(10.0 * shift, 1e-8 * scale)
    raise MethodFailed("the landmark weights' quadratic program is not convex enough")


@dataclass(eq=False)
class _Iterate:
    """Weights `x`, multipliers of ``0 <= x``, of ``x <= 1`` and of the equalities."""

    x: Float
    lower: Float
    upper: Float
    y: Float

    def gap(self) -> float:
        """Return the mean complementarity."""
        return float(
            (self.x @ self.lower + (1 - self.x) @ self.upper) / 2 / len(self.x)
        )

    def longest_step(self, direction: _Iterate) -> float:
        """Return the longest step, one at most, that keeps every bound."""
        longest = 1.0
        for value, change in (
            (self.x, direction.x),
            (1 - self.x, -direction.x),
            (self.lower, direction.lower),
            (self.upper, direction.upper),
        ):
            falling = change < 0
            if falling.any():
                ratio = float(np.min(-value[falling] / change[falling]))
                longest = min(longest, ratio)
        return longest

    def moved(self, direction: _Iterate, step: float) -> _Iterate:
        """Return the iterate after a step."""
        x = self.x + step * direction.x
        return _Iterate(
            np.clip(x, SMALLEST, np.nextafter(1.0, 0.0)),
            self.lower + step * direction.lower,
            self.upper + step * direction.upper,
            self.y + step * direction.y,
        )


def solve_landmarks(program: LandmarkProgram) -> Float:
    r"""Return weights that solve the program, by an interior-point method.

    Parameters
    ----------
    program : LandmarkProgram
        The program.

    Returns
    -------
    x : ndarray of shape (n,)
        Weights in [0, 1]. Equal samples get equal weights.

    Raises
    ------
    MethodFailed
        No solution was reached.

    Notes
    -----
    Mehrotra's predictor and corrector from ``x = delta``. A step costs ``O(sum of n_c^3
    + sum of n_c^2 m + n m^2 + (m + C)^3)`` with n_c samples of class c; 10 to 20 are
    enough. H has a few slightly negative eigenvalues where the constraints hold. Mostly
    the linear part outweighs them and the method finds the minimum as if H were convex.
    Where it does not converge, a sequence of convex programs near the last solution
    leads to a minimum, a local one at least.
    """
    solution = _minimise(program)
    return _minimise_by_anchors(program) if solution is None else solution


def _minimise_by_anchors(program: LandmarkProgram) -> Float:
    """Minimise with a penalty of the distance to the last solution, repeatedly."""
    x = np.full(len(program.rows), program.delta)
    largest = float(np.einsum("ij,ij->i", program.rows, program.rows).max())
    curvature = 1e-2 * float(np.abs(program.within_classes).max()) * largest
    for _ in range(MAX_ANCHORS):
        found = _minimise(program.near(x, curvature))
        if found is None:
            curvature *= 4.0
            continue
        change, x = float(np.abs(found - x).max()), found
        if change < MOVED:
            break
    else:
        raise MethodFailed("the landmark weights did not converge")
    return x


def _minimise(program: LandmarkProgram) -> Float | None:
    """Run the interior-point method; None where it does not converge."""
    x = np.full(len(program.rows), program.delta)
    scale = float(np.abs(program.product(x) + program.linear).max())
    if scale == 0.0:
        return x
    equations = _StepEquations(program)
    bounds = np.full_like(x, scale)
    at = _Iterate(x, bounds, bounds, np.zeros(len(equations.present)))
    for _ in range(MAX_STEPS):
        dual, primal = _residuals(program, equations, at)
        error = max(float(np.abs(dual).max()) / scale, float(np.abs(primal).max()))
        if error < TOLERANCE and at.gap() < GAP_TOLERANCE * scale:
            return np.clip(at.x, 0.0, 1.0)
        equations.factorise(at.lower / at.x + at.upper / (1 - at.x))
        predictor = _direction(equations, at, dual, primal, None)
        predicted = at.moved(predictor, at.longest_step(predictor))
        direction = _direction(
            equations, at, dual, primal, (predictor, predicted.gap())
        )
        at = at.moved(direction, TO_THE_BOUNDARY * at.longest_step(direction))
    acceptable = error < ACCEPTABLE and at.gap() < ACCEPTABLE * scale
    return np.clip(at.x, 0.0, 1.0) if acceptable else None


def _residuals(
    program: LandmarkProgram, equations: _StepEquations, at: _Iterate
) -> tuple[Float, Float]:
    multipliers = np.zeros(2 * program.n_classes)
    multipliers[equations.present] = at.y
    gradient = program.product(at.x) + program.linear
    dual = at.lower - at.upper + multipliers[program.groups] - gradient
    primal = (program.group_sums - program.sums_of(at.x))[equations.present]
    return dual, primal


def _direction(
    equations: _StepEquations,
    at: _Iterate,
    dual: Float,
    primal: Float,
    prediction: tuple[_Iterate, float] | None,
) -> _Iterate:
    """Return the predictor, or the corrector from the predictor and its gap."""
    x, rest = at.x, 1 - at.x
    lower, upper = -x * at.lower, -rest * at.upper
    if prediction is not None:
        predictor, gap = prediction
        centre = gap**3 / at.gap() ** 2
        lower += centre - predictor.x * predictor.lower
        upper += centre + predictor.x * predictor.upper
    dx, dy = equations.solve(dual + lower / x - upper / rest, primal)
    return _Iterate(dx, (lower - at.lower * dx) / x, (upper + at.upper * dx) / rest, dy)
