"""Control conditions that replace the source, to test whether the source helps.

The same method is fitted on the same target rows with another source. Each *control*
removes more information: which class is which, that rows of a class belong together,
that the rows are data, and the source itself. Without a source a method is also
regularised differently and does not know the source's class sizes; the labelled target
rows, repeated to *match* these sizes, keep both. Two more controls change only shared
columns or pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import issparse

from cdspp.core import names
from cdspp.core.errors import DataError
from cdspp.core.linalg import dense
from cdspp.core.seeding import generator
from cdspp.methods.base import SourceDomain
from cdspp.methods.bridge import PAIRS, SHARED

__all__ = ["BRIDGE_STATES", "STATES", "SourceState", "derangement"]


def derangement(
    n: int, rng: Generator, needs: str = "expected at least two"
) -> NDArray[np.intp]:
    """Draw a permutation of `n` without fixed points, uniformly.

    DataError, beginning with what a control `needs`: `n` is below two.
    """
    if n < 2:
        raise DataError(f"{needs}, got {n}. Leave this control out.")
    while True:  # about 1/e of all permutations qualify
        drawn = rng.permutation(n)
        if not np.any(drawn == np.arange(n)):
            return drawn


STATES = (names.REAL, *names.CONTROLS)
BRIDGE_STATES = names.BRIDGE_STATES


def _shuffle_bridge(state: str, source: SourceDomain, rng: Generator) -> SourceDomain:
    if state == names.SHUFFLED_COLUMNS:
        own, partners = zip(*source.shared_columns, strict=True)
        order = derangement(len(partners), rng, f"{state} needs at least two columns")
        shuffled = [(i, partners[k]) for i, k in zip(own, order, strict=True)]
        return replace(source, shared_columns=shuffled)
    own, partners = source.paired_rows
    order = derangement(partners.shape[0], rng, f"{state} needs at least two pairs")
    return replace(source, paired_rows=(own, partners[order]))


def _matched(labelled: SourceDomain, y: NDArray[Any], rng: Generator) -> SourceDomain:
    """Repeat labelled target rows to the class sizes of the source labels `y`."""
    X: Any = labelled.X
    X, labels = X if issparse(X) else np.asarray(X), np.asarray(labelled.y)
    rows = [
        np.resize(rng.permutation(np.flatnonzero(labels == label)), size)
        for label, size in zip(*np.unique(y, return_counts=True), strict=True)
        if np.any(labels == label)
    ]
    if not rows:
        what = (
            f"{names.SIZE_MATCHED} repeats labelled target rows of the source's classes"
        )
        fault = "but there are none. Leave this control out."
        raise DataError(f"{what}, {fault}")
    places = np.concatenate(rows)
    return SourceDomain(X[places], labels[places])


@dataclass(frozen=True)
class SourceState:
    """A control: the source that takes the place of the original one in a fit.

    Parameters
    ----------
    name : {'real', 'none', 'none-matched', 'swapped-classes', 'permuted-labels', \
'class-noise', 'noise'}
        In this order: the original; no source, so that the labelled target rows take
        its place; these rows repeated to the class sizes of the source, so that a
        method has the same regularisation and class shares; classes renamed by a
        derangement, rows of a class still together; labels permuted over the rows; rows
        around one random centre per class, each as long as the row that it replaces;
        rows of ``|N(0, 1)|`` without classes. Or one of `BRIDGE_STATES`: partners of
        shared columns, or of paired rows, exchanged by a derangement.
    spread : float, default=1.0
        For class noise: standard deviation of a row around its centre, whose values are
        drawn from N(0, 1).
    absolute : bool, default=False
        For class noise: absolute values, for views without negative values.
    domain : str, default=""
        If there are several sources, the one to replace; by default all.

    Raises
    ------
    ValueError
        `spread` or `absolute` is given to another control.
    """

    name: str = names.REAL
    spread: float = 1.0
    absolute: bool = False
    domain: str = ""

    def __post_init__(self) -> None:
        """Refuse `spread` and `absolute` in other controls than class noise."""
        if self.name != names.CLASS_NOISE and (self.spread != 1.0 or self.absolute):
            fault = f"spread and absolute are only for {names.CLASS_NOISE}"
            raise ValueError(f"{fault}, not for {self.name}. Remove them.")

    def of_all(
        self,
        sources: Sequence[SourceDomain],
        labelled: SourceDomain,
        axes: tuple[int, str, str, int],
    ) -> list[SourceDomain]:
        """Return the sources of a task under this control; without a source, none.

        Parameters and errors are as in `of`; `axes` has the task in the third place.
        """
        changed = []
        domains = names.task_domains(axes[2]).sources
        for number, (domain, source) in enumerate(zip(domains, sources, strict=True)):
            axis = (number,) if number else ()
            ours = self.domain in ("", domain)
            changed.append(self.of(source, labelled, *axes, *axis) if ours else source)
        return [source for source in changed if source is not None]

    def of(
        self, source: SourceDomain, labelled: SourceDomain, *axes: str | int
    ) -> SourceDomain | None:
        """Return the source under this control, None if target rows replace it.

        Shared columns of `source` are pairs of numbers. Equal `axes`,
        such as seed, benchmark, task and trial, give equal draws for every method and
        spread. DataError: there is only one class, shared column or pair to exchange,
        or no labelled target row has a class of the source.
        """
        rng = generator(self.name, *axes)
        if self.name in BRIDGE_STATES:
            return _shuffle_bridge(self.name, source, rng)
        changed = self._replace(source, labelled, rng)
        if changed is not None and self.absolute:
            changed = SourceDomain(np.abs(changed.X), changed.y)
        # With the shared information of the original source.
        bridge = {kind: getattr(source, kind) for kind in (SHARED, PAIRS)}
        if not any(part is not None for part in bridge.values()):
            return changed
        if self.name in names.WITHOUT_SOURCE:  # target rows, shared with themselves
            changed = changed or labelled
            if bridge[SHARED] is not None:
                bridge[SHARED] = [(column, column) for _, column in bridge[SHARED]]
            if bridge[PAIRS] is not None:
                bridge[PAIRS] = (bridge[PAIRS][1], bridge[PAIRS][1])
        return None if changed is None else replace(changed, **bridge)

    def _replace(
        self, source: SourceDomain, labelled: SourceDomain, rng: Generator
    ) -> SourceDomain | None:
        X: Any = source.X
        y = np.asarray(source.y)
        match self.name:
            case names.REAL:
                return source
            case names.NO_SOURCE:
                return None
            case names.SIZE_MATCHED:
                return _matched(labelled, y, rng)
            case names.PERMUTED_CLASSES:
                classes, codes = np.unique(y, return_inverse=True)
                needs = f"{self.name} needs at least two source classes"
                renamed = classes[derangement(len(classes), rng, needs)]
                return SourceDomain(X, renamed[codes])
            case "permuted-labels":
                return SourceDomain(X, rng.permutation(y))
            case names.CLASS_NOISE:
                rows = dense(X)
                classes, codes = np.unique(y, return_inverse=True)
                means = rng.standard_normal((len(classes), rows.shape[1]))
                drawn = means[codes] + self.spread * rng.standard_normal(rows.shape)
                lengths = np.linalg.norm(rows, axis=1) / np.linalg.norm(drawn, axis=1)
                return SourceDomain(drawn * lengths[:, None], source.y)
            case "noise":
                drawn = np.abs(rng.standard_normal(np.shape(X)))
                return SourceDomain(drawn, source.y)
        raise KeyError(self.name)
