"""Rates at which `compare` recommends a source for the columns that it shares.

In the planted problems, labels transfer nothing: source and target have independent
class geometries. Three columns are in both. They are *useful* (equal class means in
both domains), *useless* (no class differs in them) or *misleading* (a class of the
target has the mean of another class of the source). Other columns carry little
information. Target labels soon suffice to learn three columns, so that even useful ones
leave little to gain from a source; the table also shows the true gain.
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
from cdspp.analysis.explanation import USE
from cdspp.core.provenance import limit_threads
from cdspp.core.scaling import fit_scaling
from cdspp.core.seeding import generator
from cdspp.core.wording import aligned, in_points
from cdspp.methods import make
from cdspp.methods.base import UNLABELLED, Float, Int, SourceDomain
from cdspp.stages.source_states import derangement

__all__ = ["KINDS", "bench_bridges", "bridges_table", "shared_problem"]

KINDS = USEFUL, USELESS, MISLEADING = ("useful", "useless", "misleading")
SIZES = (12, 30, 100)
N_SHARED = 3
# Standard deviation of rows around the mean of their class, drawn from N(0, 1).
SPREAD = 0.5
WITH_BRIDGE, WITHOUT_SOURCE = "shared-columns", ("svm-t", "target-only")


def shared_problem(
    kind: str, n_labelled: int, number: int
) -> tuple[Float, Int, Int, SourceDomain]:
    """Return target rows, labels, truth and a source with three shared columns.

    Parameters
    ----------
    kind : {"useful", "useless", "misleading"}
        Information in the shared columns.
    n_labelled : int
        Labelled target rows, one of `SIZES`.
    number : int
        Number of the problem.
    """
    per_class = LABELLED[n_labelled]
    population = Planted(
        "none",
        n_classes=len(per_class),
        n_labelled=per_class[0],
        n_unlabelled=8,
        n_source=20,
        d_source=50,
        d_target=40,
        n_latent=6,
        spread=4.0,
    )
    problem = population.draw(number)
    rng = generator("shared-columns", kind, n_labelled, number)
    means = rng.standard_normal((len(per_class), N_SHARED)) * (kind != USELESS)
    order = np.arange(len(means))
    if kind == MISLEADING:
        order = derangement(len(means), rng)

    def with_columns(X: Float, codes: Int, means: Float) -> Float:
        columns = means[codes] + SPREAD * rng.standard_normal((len(codes), N_SHARED))
        return np.hstack([X, columns])

    source = problem.source
    codes = np.asarray(source.y)
    places = [(np.shape(source.X)[1] + k, problem.X.shape[1] + k) for k in range(3)]
    bridged_source = replace(
        source,
        X=with_columns(np.asarray(source.X), codes, means),
        shared_columns=places,
    )
    X = with_columns(problem.X, problem.truth, means[order])
    return X, problem.y, problem.truth, bridged_source


def bench_bridges(
    *,
    problems: int = 40,
    workers: int = 2,
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Count how often `compare` recommends the source of planted problems.

    Parameters
    ----------
    problems : int, default=40
        Problems of each kind and size.
    workers : int, default=2
        Processes at a time, each with one BLAS thread; results are the same for any.
    progress : callable, optional
        Receives a line of text after each kind and size.

    Returns
    -------
    DataFrame
        By `kind` and `n_labelled`: in how many of the `problems` the source was
        recommended with `shared` columns and without (`apart`), and the mean `gain` of
        shared columns over the best method without a source, in accuracy on unlabelled
        target rows.
    """
    requests = list(product(KINDS, SIZES, range(problems)))
    rows = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        answers = pool.map(_recommendations, requests)
        for request, answer in zip(requests, answers, strict=True):
            rows.append((*request, *answer))
            if request[2] == problems - 1:
                progress(f"{request[0]} columns, {request[1]} labelled rows: done")
    names = ["kind", "n_labelled", "number", "shared", "unshared", "gain"]
    groups = pd.DataFrame(rows, columns=names).groupby(
        ["kind", "n_labelled"], sort=False
    )
    counts = groups[["shared", "unshared"]].sum()
    table = counts.assign(problems=groups.size(), gain=groups["gain"].mean())
    return table.reset_index()


def _recommendations(request: tuple[str, int, int]) -> tuple[bool, bool, float]:
    """Return whether the source is recommended, with shared columns and without.

    The third value is the true gain of shared columns.
    """
    X, y, truth, source = shared_problem(*request)
    with limit_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explanations = [
            compare(X, y, source=domain, seed=request[2], why=True).explanation
            for domain in (source, source.with_bridges(()))
        ]
        shared, unshared = (e is not None and e.decision == USE for e in explanations)
        gain = _true_gain(X, y, truth, source)
    return shared, unshared, gain


def _true_gain(X: Float, y: Int, truth: Int, source: SourceDomain) -> float:
    """Return the gain of shared columns over the best method without a source."""
    rows, X_source = _standardise(X), _standardise(np.asarray(source.X))
    is_labelled, same_columns = (
        y != UNLABELLED,
        [(column, column) for column in _places(source)],
    )
    target_as_source = SourceDomain(
        rows[is_labelled], y[is_labelled], shared_columns=same_columns
    )
    fits: list[tuple[str, SourceDomain | None]] = [
        (name, None) for name in WITHOUT_SOURCE
    ]
    fits = [
        (WITH_BRIDGE, replace(source, X=X_source)),
        (WITH_BRIDGE, target_as_source),
        *fits,
    ]
    with_source, *alone = (
        (make(name).fit(rows, y, source=domain).transduction_ == truth)[
            ~is_labelled
        ].mean()
        for name, domain in fits
    )
    return float(with_source - max(alone))


def _places(source: SourceDomain) -> list[int]:
    """Return the positions of the shared columns in the target."""
    return [column for _, column in source.shared_columns]


def _standardise(X: Float) -> Float:
    return np.asarray(fit_scaling("standardise", X).apply(X))


def bridges_table(counts: pd.DataFrame) -> str:
    """Return a table of the rates of recommendation, in percent, by kind."""
    grid = [["shared columns", "labelled rows", "true gain", "shared", "not shared"]]
    for row in counts.itertuples():
        shares = [f"{100 * n / row.problems:.0f} %" for n in (row.shared, row.unshared)]
        gain = in_points(row.gain, sign=True)
        grid.append([row.kind, str(row.n_labelled), gain, *shares])
    return "\n".join(aligned(grid))
