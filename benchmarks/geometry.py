"""Gains of methods from a source, by the geometry of classes that the domains share.

The planted problems lie on a fixed grid of labelled target rows per class, classes, and
shared geometry. Every quick method is fitted with the source and without. A gain is a
mean over independent problems, so its interval holds for other problems, and not only
for other labelled samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.planted import Planted, PlantedProblem
from cdspp.analysis.summary import mean_sd
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.verdicts import ALPHA, decide_pair, paired_gain
from cdspp.core.devices import limit_threads
from cdspp.core.errors import CollapseWarning, MethodFailed
from cdspp.core.seeding import integer_seed
from cdspp.core.wording import in_points
from cdspp.methods import make_seeded, method_class
from cdspp.methods.base import SourceDomain

__all__ = ["GRID", "METHODS", "Place", "bench_geometry", "geometry_table", "planted_at"]

METHODS = (
    "cdls-sup",
    "dama-sup",
    "cdspp-sup",
    "dama",
    "cdls",
    "tit",
    "ddacl",
    "dama-plus",
    "cdspp",
)
MARGIN = 0.01
# Latent dimensions by number of classes: fewer, so that some classes lie near others.
LATENT = {2: 2, 3: 2, 5: 4, 20: 8, 65: 16}
FEW_CLASSES = (2, 3)  # numbers of classes that have a table of their own


class Place(NamedTuple):
    """A place of the grid: labelled target rows per class, classes, shared geometry."""

    labels: int
    classes: int
    shared: float


GRID = tuple(Place(*each) for each in product((1, 2, 3), LATENT, (0.0, 0.5, 1.0)))


def planted_at(place: Place) -> Planted:
    """Return the problems of a place.

    Without shared geometry, the spread of the source's classes is independent, too;
    otherwise it is that of the target's.
    """
    return Planted(
        geometry="shared" if place.shared else "none",
        shared=place.shared or 1.0,
        n_classes=place.classes,
        n_labelled=place.labels,
        n_unlabelled=10,
        n_source=20,
        n_latent=LATENT[place.classes],
        d_source=60,
        d_target=40,
        spread=0.7,
    )


def bench_geometry(
    *,
    draws: int = 20,
    workers: int = 2,
    places: Sequence[Place] = GRID,
    methods: Sequence[str] = METHODS,
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Measure the gains of methods from a planted source over none.

    Parameters
    ----------
    draws : int, default=20
        Problems per place.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    places : sequence of Place
        Places of the grid; all by default.
    methods : sequence of str
        Identifiers; the quick methods by default.
    progress : callable, optional
        Receives a line of text after each place.

    Returns
    -------
    DataFrame
        By place and method: accuracies with the source and without (`accuracy`,
        `alone`), the paired gain over problems with its 95 % t interval, its verdict
        `pair` (`cdspp.analysis.verdicts.decide_pair`), and the number of `problems`
        behind it; those on which the method failed are left out.
    """
    requests = list(product(places, methods, range(draws)))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        accuracies, answers = {}, pool.map(_accuracies, requests)
        for request, pair in zip(requests, answers, strict=True):
            accuracies[request] = pair
            place, method, draw = request
            if (method, draw) == (methods[-1], draws - 1):
                progress(
                    f"{place.labels} labels, {place.classes} classes, shared "
                    f"geometry {place.shared:g}"
                )
    records = []
    for place, method in product(places, methods):
        pairs = np.array([accuracies[place, method, draw] for draw in range(draws)])
        gain = paired_gain(*pairs.T)
        records.append(
            {
                **place._asdict(),
                "method": method,
                "display_name": method_class(method).display_name,
                "accuracy": mean_sd(pairs[:, 0])[0],
                "alone": mean_sd(pairs[:, 1])[0],
                "gain": gain.gain,
                "low": gain.low,
                "high": gain.high,
                "pair": decide_pair(gain, MARGIN),
                "problems": gain.trials,
            }
        )
    return pd.DataFrame(records)


def _accuracies(request: tuple[Place, str, int]) -> tuple[float, float]:
    """Return the accuracy of a method on a problem with its source, and without."""
    place, method, draw = request
    problem = planted_at(place).draw(integer_seed("geometry", *map(str, place), draw))
    with limit_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        with_source = _accuracy(method, problem, problem.source, draw)
        return with_source, _accuracy(method, problem, None, draw)


def _accuracy(
    method: str, problem: PlantedProblem, source: SourceDomain | None, seed: int
) -> float:
    """Return the accuracy of a fit; NaN where it failed."""
    model = make_seeded(method, seed)
    try:
        model.fit(problem.X, problem.y, source=source)
    except MethodFailed:
        return float("nan")
    return float((model.transduction_ == problem.truth)[problem.unlabelled].mean())


def geometry_table(gains: pd.DataFrame) -> str:
    """Return the gains as aligned tables: methods by shared geometry.

    A cell has the mean gain over labels and classes, in points, and the number of these
    places on which the source surely helped. Few classes have tables of their own.
    """
    several = sorted({*gains["classes"]} - {*FEW_CLASSES})
    parts = [
        ([number], str(number))
        for number in FEW_CLASSES
        if number in {*gains["classes"]}
    ]
    parts += [(several, ", ".join(map(str, several)))] if several else []
    lines = ["Gain over no source, points (significant at n of the grid points)"]
    for numbers, classes in parts:
        lines += _lines(gains[gains["classes"].isin(numbers)], f"{classes} classes")
    lines += [
        "",
        f"By chance, a useless source is significant at {100 * ALPHA:g} % of the grid "
        "points.",
    ]
    return "\n".join([*lines, ""])


def _lines(gains: pd.DataFrame, title: str) -> Iterator[str]:
    """Yield the table of some places, behind an empty line."""
    levels = sorted(gains["shared"].unique())
    heads = "".join(f"{f'shared {level:g}':>20}" for level in levels)
    yield from ("", f"{title:16}{heads}")
    for name, group in gains.groupby("display_name", sort=False):
        cells = ""
        for level in levels:
            gains_at_level = group[group["shared"] == level]
            n_helped = int((gains_at_level["pair"] == Transfer.POSITIVE.word).sum())
            mean = in_points(gains_at_level["gain"].mean(), sign=True)
            cells += f"{f'{mean} ({n_helped} of {len(gains_at_level)})':>20}"
        yield f"{name:16}{cells}"
