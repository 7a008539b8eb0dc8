"""How often `compare` says to use a source for the columns that it shares.

Planted problems whose labels say nothing across domains: source and target have
independent geometries of classes. Three columns stand in both. They are *useful* (the
means of classes are the same in both domains), *useless* (no class differs in them) or
*misleading* (a class of the target has the mean of another class of the source).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from multiprocessing import get_context

import numpy as np
import pandas as pd

from benchmarks.planted import Planted
from benchmarks.verdict_cases import LABELLED
from cdspp.analysis.compare import compare
from cdspp.analysis.decision import USE
from cdspp.core.errors import BridgeWarning
from cdspp.core.provenance import limit_threads
from cdspp.core.seeding import generator
from cdspp.core.wording import aligned
from cdspp.methods.base import Float, Int, SourceDomain
from cdspp.stages.source_states import derangement

__all__ = ["KINDS", "bench_bridges", "bridges_table", "shared_problem"]

KINDS = USEFUL, USELESS, MISLEADING = ("useful", "useless", "misleading")
SIZES = (12, 30, 100)
N_SHARED = 3
# Of a row around the mean of its class in the shared columns, which have N(0, 1).
SPREAD = 0.8


def shared_problem(
    kind: str, n_labelled: int, number: int
) -> tuple[Float, Int, SourceDomain]:
    """Return target rows, their labels and a source with three shared columns.

    Parameters
    ----------
    kind : {"useful", "useless", "misleading"}
        What the shared columns say.
    n_labelled : int
        Labelled target rows, one of `SIZES`.
    number : int
        Which problem.
    """
    per_class = LABELLED[n_labelled]
    planted = Planted(
        "none",
        n_classes=len(per_class),
        n_labelled=per_class[0],
        n_unlabelled=8,
        n_source=20,
        d_source=50,
        d_target=40,
        n_latent=6,
        spread=0.6,
    )
    problem = planted.draw(number)
    rng = generator("shared-columns", kind, n_labelled, number)
    means = rng.standard_normal((len(per_class), N_SHARED)) * (kind != USELESS)
    order = np.arange(len(means))
    if kind == MISLEADING:
        order = derangement(len(means), rng)

    def beside(X: Float, codes: Int, means: Float) -> Float:
        drawn = means[codes] + SPREAD * rng.standard_normal((len(codes), N_SHARED))
        return np.hstack([X, drawn])

    source = problem.source
    codes = np.asarray(source.y)
    places = [(np.shape(source.X)[1] + k, problem.X.shape[1] + k) for k in range(3)]
    bridged = replace(
        source,
        X=beside(np.asarray(source.X), codes, means),
        shared_columns=places,
    )
    return beside(problem.X, problem.truth, means[order]), problem.y, bridged


def bench_bridges(
    *,
    problems: int = 40,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Ask of planted problems whether their source is worth using.

    Parameters
    ----------
    problems : int, default=40
        Problems of each kind and size.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    progress : callable, optional
        Told what has been asked.

    Returns
    -------
    DataFrame
        By `kind` and `n_labelled`: how many of the `problems` were told to use the
        source where its columns are `shared`, and where they are not (`apart`).
    """
    asked = list(product(KINDS, SIZES, range(problems)))
    rows = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for request, told in zip(asked, pool.map(_used, asked), strict=True):
            rows.append((*request, *told))
            if request[2] == problems - 1:
                progress(f"{request[0]} columns, {request[1]} labelled rows: done")
    names = ["kind", "n_labelled", "number", "shared", "apart"]
    found = pd.DataFrame(rows, columns=names)
    groups = found.groupby(["kind", "n_labelled"], sort=False)
    counts = groups[["shared", "apart"]].sum()
    return counts.assign(problems=groups.size()).reset_index()


def _used(request: tuple[str, int, int]) -> tuple[bool, bool]:
    """Return whether to use the source is said with its columns shared, and apart."""
    limit_threads(1)
    X, y, source = shared_problem(*request)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BridgeWarning)
        found = [
            compare(X, y, source=each, seed=request[2])
            for each in (source, source.with_bridges(()))
        ]
    return found[0].decision == USE, found[1].decision == USE


def bridges_table(found: pd.DataFrame) -> str:
    """Write how often *use* was said, in percent, by what the columns say."""
    grid = [["shared columns", "labelled rows", "shared", "apart"]]
    for row in found.itertuples():
        shares = [f"{100 * n / row.problems:.0f} %" for n in (row.shared, row.apart)]
        grid.append([row.kind, str(row.n_labelled), *shares])
    return "\n".join(aligned(grid))
