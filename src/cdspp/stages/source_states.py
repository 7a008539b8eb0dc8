"""Sources in place of the real one: what they take away tells what the source gave.

Whether a source helped is asked by fitting the same method on the same target rows with
another source. Each *state* takes something more away: which class is which, that rows
of a class belong together, that the rows are data, and the source itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import ALONE, CLASS_NOISE, REAL
from cdspp.core.seeding import generator
from cdspp.methods.base import SourceDomain

__all__ = ["STATES", "SourceState", "derangement"]

Array = NDArray[Any]


def derangement(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a permutation of `n` that leaves nothing in its place, all equally likely.

    Raises
    ------
    DataError
        There is none: `n` is below two.
    """
    if n < 2:
        raise DataError(
            f"swapped-classes needs two source classes at least, got {n}. Leave this "
            "source state out."
        )
    while True:  # a share of about 1/e of all permutations will do
        drawn = rng.permutation(n)
        if not np.any(drawn == np.arange(n)):
            return drawn


def _real(source: SourceDomain, rng: np.random.Generator, spread: float) -> Any:
    return source


def _none(source: SourceDomain, rng: np.random.Generator, spread: float) -> Any:
    return None


def _swapped_classes(source: SourceDomain, rng: np.random.Generator, _: float) -> Any:
    classes, codes = np.unique(_labels(source), return_inverse=True)
    return SourceDomain(source.X, classes[derangement(len(classes), rng)][codes])


def _permuted_labels(source: SourceDomain, rng: np.random.Generator, _: float) -> Any:
    return SourceDomain(source.X, rng.permutation(_labels(source)))


def _class_noise(source: SourceDomain, rng: np.random.Generator, spread: float) -> Any:
    rows = np.asarray(source.X)
    classes, codes = np.unique(_labels(source), return_inverse=True)
    means = rng.standard_normal((len(classes), rows.shape[1]))
    drawn = means[codes] + spread * rng.standard_normal(rows.shape)
    lengths = np.linalg.norm(rows, axis=1) / np.linalg.norm(drawn, axis=1)
    return SourceDomain(drawn * lengths[:, None], source.y)


def _noise(source: SourceDomain, rng: np.random.Generator, spread: float) -> Any:
    shape = np.shape(source.X)
    return SourceDomain(np.abs(rng.standard_normal(shape)), source.y)


def _labels(source: SourceDomain) -> Array:
    return np.asarray(source.y)


# From the most that is kept to the least; `none` keeps nothing and draws nothing.
STATES: Mapping[
    str, Callable[[SourceDomain, np.random.Generator, float], SourceDomain | None]
] = {
    REAL: _real,
    ALONE: _none,
    "swapped-classes": _swapped_classes,
    "permuted-labels": _permuted_labels,
    CLASS_NOISE: _class_noise,
    "noise": _noise,
}


@dataclass(frozen=True)
class SourceState:
    """What becomes of the source before a fit.

    Parameters
    ----------
    name : {'real', 'none', 'swapped-classes', 'permuted-labels', 'class-noise', \
'noise'}
        As given; no source, so that the labelled target rows serve; classes renamed by
        a derangement, rows of a class still together; labels permuted over the rows;
        rows around one random centre a class, each as long as the row that it replaces;
        rows of |N(0, 1)| without classes.
    spread : float, default=1.0
        Of class noise: standard deviation of a row around its centre, whose values are
        drawn from N(0, 1).
    absolute : bool, default=False
        Of class noise: absolute values, for views without negative ones.

    Raises
    ------
    ValueError
        `spread` or `absolute` is given to another state.
    """

    name: str = REAL
    spread: float = 1.0
    absolute: bool = False

    def __post_init__(self) -> None:
        """Check that class noise alone has a shape."""
        if self.name != CLASS_NOISE and (self.spread != 1.0 or self.absolute):
            raise ValueError(
                f"spread and absolute are of {CLASS_NOISE}, the source state is "
                f"{self.name}. Remove them."
            )

    def of(self, source: SourceDomain, *axes: str | int) -> SourceDomain | None:
        """Return the source in this state.

        Parameters
        ----------
        source : SourceDomain
            The real one.
        *axes : str or int
            What the draw belongs to: seed, benchmark, task, trial. Equal axes give
            equal draws, for every method and every spread.

        Raises
        ------
        DataError
            Classes are to be swapped and there is one class only.
        """
        changed = STATES[self.name](source, generator(self.name, *axes), self.spread)
        if changed is None or not self.absolute:
            return changed
        return SourceDomain(np.abs(changed.X), changed.y)
