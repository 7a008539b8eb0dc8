"""Problems whose truth is planted: two views of one latent geometry of classes.

They need no download and are in no study. They test verdicts on a source whose true
value is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.seeding import generator
from cdspp.methods.base import UNLABELLED, Float, Int, SourceDomain

__all__ = ["GEOMETRIES", "Planted", "PlantedProblem"]

GEOMETRIES = ("shared", "means", "none", "misleading")
# Longest over shortest axis of a class in the latent space.
ELONGATION = 8.0


@dataclass(frozen=True, eq=False)
class PlantedProblem:
    """A problem as methods receive it, and the truth behind it.

    Attributes
    ----------
    X : ndarray of shape (n_target, d_target)
        Target rows.
    y : ndarray of shape (n_target,)
        Their classes; -1 where a row is unlabelled.
    truth : ndarray of shape (n_target,)
        Classes of all target rows.
    source : SourceDomain
        Rows and classes of the source.
    centres_target, centres_source : ndarray of shape (n_classes, n_latent)
        Class centres in the latent space.
    axes_target, axes_source : ndarray of shape (n_latent, n_latent)
        What standard normal rows are multiplied by to spread as rows of a class do.
    """

    X: Float
    y: Int
    truth: Int
    source: SourceDomain
    centres_target: Float
    centres_source: Float
    axes_target: Float
    axes_source: Float

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Which target rows are unlabelled."""
        return np.asarray(self.y == UNLABELLED)

    @property
    def hidden(self) -> Int:
        """Classes of the unlabelled rows, in their order."""
        return self.truth[self.unlabelled]

    def split(self, *axes: str | int) -> PlantedProblem:
        """Return the same rows with others labelled, as many of each class.

        Parameters
        ----------
        *axes : str or int
            What the draw belongs to, a trial for instance; equal axes, equal draws.
        """
        n_classes = len(self.centres_target)
        per_class = np.count_nonzero(~self.unlabelled) // n_classes
        rng = generator("planted-split", *axes)
        y = np.full_like(self.truth, UNLABELLED)
        for code in range(n_classes):
            rows = np.flatnonzero(self.truth == code)
            y[rng.choice(rows, per_class, replace=False)] = code
        return replace(self, y=y)


@dataclass(frozen=True)
class Planted:
    r"""Two views of one latent space, with as much in common as asked for.

    A row of class c of the target, and of the source likewise, is

    .. math::

        x = (m_c + \text{spread} \cdot e L) A + \text{noise} \cdot f

    with `e` and `f` standard normal rows, class centres `m_c` of entries N(0, 1), axes
    `L` that make classes long in some directions and narrow in others (their mean
    square length is one), and a linear map `A` of entries N(0, 1 / n_latent) for each
    domain: its view. The centres of the source are

    .. math:: m^s_c = w g_c + \sqrt{1 - w^2} \, h_c

    with `w` = `shared`, `h` independent centres, and `g` as `geometry` says.

    Parameters
    ----------
    geometry : {'shared', 'means', 'none', 'misleading'}
        What the source has in common with the target: where classes lie and how they
        spread; where they lie, while classes of the source are round; nothing; all of
        it, but no class lies where its own does in the target.
    shared : float, default=1.0
        Correlation of the source's centres with `g`, from 0 (independent) to 1.
    n_classes, n_source, n_labelled, n_unlabelled : int
        Classes; and of each class, rows of the source and of the target.
    imbalance : float, default=1.0
        Rows of the largest class over those of the smallest, in the source and among
        unlabelled target rows; sizes fall geometrically, with `n_source` and
        `n_unlabelled` as their means. Labelled rows stay balanced.
    d_source, d_target, n_latent : int
        Features of the domains, and dimension of the latent space. With fewer
        dimensions than classes, centres differ in how near they lie to each other.
    spread, noise : float
        Of rows around their centre in the latent space, and of features.
    tail : float, default=inf
        Degrees of freedom: `e` and `f` of a row are divided by the root of one
        chi-squared number over its degrees, so that some rows lie far off.

    Raises
    ------
    ValueError
        A parameter is out of range.

    Examples
    --------
    >>> from cdspp import make
    >>> from benchmarks.planted import Planted
    >>> problem = Planted("shared", n_classes=3).draw(0)
    >>> model = make("cdspp").fit(problem.X, problem.y, source=problem.source)
    >>> float((model.transduction_ == problem.truth)[problem.unlabelled].mean()) > 0.5
    True
    """

    geometry: str = "shared"
    shared: float = 1.0
    n_classes: int = 5
    n_source: int = 20
    n_labelled: int = 3
    n_unlabelled: int = 12
    d_source: int = 20
    d_target: int = 15
    n_latent: int = 4
    spread: float = 0.5
    noise: float = 0.1
    imbalance: float = 1.0
    tail: float = math.inf

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.geometry not in GEOMETRIES:
            names = ", ".join(GEOMETRIES)
            raise ValueError(f"geometry must be one of {names}, got {self.geometry!r}.")
        if not 0 <= self.shared <= 1:
            raise ValueError(f"shared must lie in [0, 1], got {self.shared}.")
        bounds = {"n_classes": 2, "n_source": 1, "n_labelled": 1, "n_unlabelled": 0}
        bounds |= {"d_source": 1, "d_target": 1, "n_latent": 1, "spread": 0, "noise": 0}
        bounds |= {"imbalance": 1, "tail": 1}
        for name, bound in bounds.items():
            value: Any = getattr(self, name)
            if not value >= bound:
                raise ValueError(f"{name} must be {bound} at least, got {value}.")

    def draw(self, seed: int, *pool: int) -> PlantedProblem:
        """Draw both domains; equal seeds give equal problems.

        The labelled rows of a class come first among its rows; see
        `PlantedProblem.split` for other ones. Another *pool* has the same source, and
        other target rows of the same population: around the same centres, in the same
        view.
        """
        rng = generator("planted", seed)
        target, independent = self._centres(rng), self._centres(rng)
        axes, independent_axes = _axes(self.n_latent, rng), _axes(self.n_latent, rng)
        partner = _derangement(self.n_classes, rng)
        partners = {"none": self._centres(rng), "misleading": target[partner]}
        common_centres = partners.get(self.geometry, target)
        source = (
            self.shared * common_centres + (1 - self.shared**2) ** 0.5 * independent
        )
        axes_by_geometry = {"none": independent_axes, "means": np.eye(self.n_latent)}
        source_axes = axes_by_geometry.get(self.geometry, axes)
        # Rows come from streams of their own: the target's do not know the source.
        sizes = self.n_labelled + self._sizes(self.n_unlabelled)
        rng = generator("planted", seed, "target")
        view = self._view(self.d_target, rng)
        rng = generator("planted", seed, "target", *pool) if pool else rng
        X, truth = self._rows(target, axes, sizes, view, rng)
        rng = generator("planted", seed, "source")
        view = self._view(self.d_source, rng)
        sizes = self._sizes(self.n_source)
        rows = SourceDomain(*self._rows(source, source_axes, sizes, view, rng))
        place = np.arange(len(truth)) - np.searchsorted(truth, truth)
        y = np.where(place < self.n_labelled, truth, UNLABELLED)
        return PlantedProblem(X, y, truth, rows, target, source, axes, source_axes)

    def _centres(self, rng: np.random.Generator) -> Float:
        return rng.standard_normal((self.n_classes, self.n_latent))

    def _view(self, width: int, rng: np.random.Generator) -> Float:
        view: Float = rng.standard_normal((self.n_latent, width)) / self.n_latent**0.5
        return view

    def _sizes(self, mean: int) -> Int:
        """Return the rows of each class, from the largest class to the smallest."""
        shares = np.geomspace(self.imbalance, 1.0, self.n_classes)
        sizes: Int = np.rint(mean * shares / shares.mean()).astype(np.intp)
        return sizes.clip(min(mean, 1))

    def _rows(
        self,
        centres: Float,
        axes: Float,
        sizes: Int,
        view: Float,
        rng: np.random.Generator,
    ) -> tuple[Float, Int]:
        """Draw the rows of a domain, class after class."""
        codes = np.repeat(np.arange(self.n_classes), sizes)
        spread = rng.standard_normal((len(codes), self.n_latent)) @ axes
        noise = rng.standard_normal((len(codes), view.shape[1]))
        if math.isfinite(self.tail):
            far = (self.tail / rng.chisquare(self.tail, (len(codes), 1))) ** 0.5
            spread, noise = far * spread, far * noise
        latent = centres[codes] + self.spread * spread
        return latent @ view + self.noise * noise, codes


def _axes(n: int, rng: np.random.Generator) -> Float:
    """Draw axes of a class: random directions, lengths from long to short."""
    lengths = np.geomspace(1.0, 1.0 / ELONGATION, n)
    lengths /= np.sqrt(np.mean(lengths**2))
    turn: Float = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return lengths[:, None] * turn


def _derangement(n: int, rng: np.random.Generator) -> Int:
    """Draw a cycle through all classes, which leaves no class in its place."""
    order = rng.permutation(n)
    partner = np.empty_like(order)
    partner[order] = np.roll(order, 1)
    return partner
