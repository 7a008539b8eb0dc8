"""Effect of the order of rows and the names of classes on the labels of a fit.

Neither carries information. Every method with its default options is fitted to the
embedded digits, prints to sketches, unchanged and after each change. Methods that take
several sources also get the source in two halves. Methods that draw random numbers also
get another seed, with whose effect the other changes can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decision_data import embedded_digits
from cdspp.core.names import PathLike
from cdspp.core.provenance import limit_threads
from cdspp.core.seeding import generator
from cdspp.methods import available, make, method_class, option_defaults
from cdspp.methods.base import UNLABELLED, Float, HeterogeneousClassifier, Int
from cdspp.methods.problem import SourceDomain

__all__ = ["CHANGES", "bench_order", "order_table", "write_shares"]

SOURCE_ROWS, LABELLED_ROWS = 20, 3  # per class
ROWS, NAMES, HALVES, SEED = CHANGES = ("rows", "names", "halves", "seed")


def bench_order(
    methods: Sequence[str] = (),
    *,
    draws: int,
    progress: Callable[[str], Any] = lambda line: None,
) -> pd.DataFrame:
    """Return the mean share of labels that differ, in percent, by method and change.

    By default, `methods` are all methods without a bridge.
    """
    usual = [name for name in available() if not method_class(name).bridges]
    problems, rows = [problem(draw) for draw in range(draws)], []
    for name in methods or usual:
        progress(name)
        with limit_threads(1):
            shares = [changed_shares(name, *parts) for parts in problems]
        means = pd.DataFrame(shares).mean()
        rows += [(name, change, share) for change, share in means.items()]
    return pd.DataFrame(rows, columns=["method", "change", "share"])


def problem(draw: int) -> tuple[Float, Int, SourceDomain]:
    """Return target rows, their labels and the source of a draw."""
    (X_source, X), (y_source, y) = embedded_digits().X, embedded_digits().codes
    rng = generator("order", draw)
    rows = _rows_of_classes(y_source, SOURCE_ROWS, rng)
    labels = np.full_like(y, UNLABELLED)
    labelled = _rows_of_classes(y, LABELLED_ROWS, rng)
    labels[labelled] = y[labelled]
    return X, labels, SourceDomain(X_source[rows], y_source[rows])


def _rows_of_classes(codes: Int, number: int, rng: np.random.Generator) -> Int:
    rows = [
        rng.choice(np.flatnonzero(codes == code), number, replace=False)
        for code in np.unique(codes)
    ]
    return np.sort(np.concatenate(rows))


def changed_shares(
    name: str, X: Float, y: Int, source: SourceDomain
) -> dict[str, float]:
    """Return the percentage of unlabelled rows that each change labels differently."""
    usual_labels = _labels(name, X, y, source)
    changes = [_in_another_order, _with_other_names]
    if make(name).several_sources and make(name).uses_source:
        changes.append(_with_halves)
    labels_of_changes = [change(name, X, y, source) for change in changes]
    shares = dict(zip(CHANGES, labels_of_changes, strict=False))
    if "random_state" in option_defaults(name):
        shares[SEED] = _labels(name, X, y, source, seed=1)
    unlabelled = y == UNLABELLED
    return {
        change: 100.0 * float(np.mean((labels != usual_labels)[unlabelled]))
        for change, labels in shares.items()
    }


def _labels(name: str, X: Float, y: Int, source: Any, *, seed: int = 0) -> Int:
    seeded = "random_state" in option_defaults(name)
    model: HeterogeneousClassifier
    model = make(name, **({"random_state": seed} if seeded else {}))
    return np.asarray(model.fit(X, y, source=source).transduction_)


def _in_another_order(name: str, X: Float, y: Int, source: SourceDomain) -> Int:
    rng = generator("order", "rows")
    order, source_order = (
        rng.permutation(len(y)),
        rng.permutation(len(np.asarray(source.y))),
    )
    labels = np.empty_like(y)
    labels[order] = _labels(name, X[order], y[order], _subset(source, source_order))
    return labels


def _with_other_names(name: str, X: Float, y: Int, source: SourceDomain) -> Int:
    last = int(np.max(source.y))
    reversed_codes = np.where(y == UNLABELLED, UNLABELLED, last - y)
    reversed_source = SourceDomain(source.X, last - np.asarray(source.y))
    return last - _labels(name, X, reversed_codes, reversed_source)


def _with_halves(name: str, X: Float, y: Int, source: SourceDomain) -> Int:
    order = generator("order", "halves").permutation(len(np.asarray(source.y)))
    halves = [_subset(source, half) for half in np.array_split(order, 2)]
    return _labels(name, X, y, halves)


def _subset(source: SourceDomain, rows: Int) -> SourceDomain:
    return SourceDomain(np.asarray(source.X)[rows], np.asarray(source.y)[rows])


def order_table(shares: pd.DataFrame) -> str:
    """Return the shares as text, one line per method."""
    table = shares.pivot(index="method", columns="change", values="share")
    texts = table.reindex(columns=list(CHANGES)).map(
        lambda share: "" if pd.isna(share) else f"{share:.1f}"
    )
    return str(texts.to_string())


def write_shares(shares: pd.DataFrame, output: PathLike) -> Path:
    """Write ``order.csv`` below `output`; methods not measured keep their shares."""
    path = Path(output, "order.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        known_shares = pd.read_csv(path)
        other_shares = known_shares[~known_shares["method"].isin(shares["method"])]
        shares = pd.concat([other_shares, shares])
    sorted_shares = shares.sort_values("method", kind="stable")
    sorted_shares.to_csv(path, index=False, float_format="%.2f", lineterminator="\n")
    return path
