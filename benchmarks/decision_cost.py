"""Time and memory of an answer of `compare`, with and without `why`, by rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.measure import Rows, Size, Work, measure
from cdspp.analysis.compare import compare

__all__ = ["SIZES", "bench_cost", "prepare"]

BET, WHY = "bet", "why"  # without an explanation, and with one
N_SHARED = 3
# Labelled and unlabelled target rows.
SIZES = ((12, 1000), (100, 1000), (1000, 1000), (100, 100_000))
LIMIT = 3600.0


def prepare(name: str, size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    """Return the answer `name` on rows with three shared columns, to be timed."""
    shared = [(column, column) for column in range(N_SHARED)]
    source = replace(rows.source(), shared_columns=shared)

    def work() -> Mapping[str, Any]:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(rows.X_target, rows.y_target, source=source, why=name == WHY)
        return {"processor": time.process_time() - start}

    return work


def bench_cost(
    sizes: Sequence[tuple[int, int]] = SIZES,
    *,
    progress: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Measure both answers in processes of their own with one thread.

    Parameters
    ----------
    sizes : sequence of pairs
        Labelled and unlabelled target rows.
    progress : callable, optional
        Receives a line of text before each measurement.

    Returns
    -------
    list of dict
        By size: `n_labelled`, `n_unlabelled`, and for `bet` and `why` the seconds of
        the `processor` and of the clock (`seconds`), and `peak_memory_mb`.
    """
    costs = []
    for n_labelled, n_unlabelled in sizes:
        size = Size("own", 4, 500, 50, n_labelled, n_unlabelled, 40)
        cost: dict[str, Any] = {"n_labelled": n_labelled, "n_unlabelled": n_unlabelled}
        for name in (BET, WHY):
            progress(f"{n_labelled} labelled rows of {n_unlabelled}: {name}")
            cost[name] = measure(f"{__name__}:{name}", size, limit=LIMIT)
        costs.append(cost)
    return costs
