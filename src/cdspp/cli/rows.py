"""Rows of the user's files as methods take them, and predictions back to CSV."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cdspp.core.errors import DataError
from cdspp.core.names import PCA
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.whole_files import atomic
from cdspp.datasets.table_rows import DomainRows
from cdspp.methods.base import UNLABELLED, SourceDomain
from cdspp.methods.bridge import PAIRS, SHARED

__all__ = [
    "learn_scaling",
    "scaled",
    "scaled_both",
    "source_of",
    "target_labels",
    "write_predictions",
]


def target_labels(rows: DomainRows) -> NDArray[Any]:
    """Return labels for `fit`: text, and -1 where a row has none."""
    y = np.empty(len(rows.labels), dtype=object)
    y[:] = [label or UNLABELLED for label in rows.labels]
    return y


def source_of(rows: DomainRows) -> SourceDomain:
    """Return rows as a source.

    Raises
    ------
    DataError
        A row has no label.
    """
    missing = [k for k, label in enumerate(rows.labels, start=1) if not label]
    if missing:
        raise DataError(
            f"{rows.path}: a source needs a label in every row, but {len(missing)} of "
            f"{len(rows.labels)} have none (first: row {missing[0]}). Add a column "
            "'label', name the labels by --label, or leave these rows out."
        )
    return SourceDomain(rows.X, list(rows.labels))


def scaled(rows: DomainRows, scaling: Scaling) -> DomainRows:
    """Return rows scaled, with a note that says how.

    Raises
    ------
    DataError
        The rows have another number of features than those learnt from.
    """
    try:
        X = scaling.apply(rows.X)
    except DataError as error:
        raise DataError(f"{rows.path}: {error}") from error
    return replace(rows, X=X, scaling=str(scaling), width=scaling.n_features)


def learn_scaling(kind: str, rows: DomainRows) -> Scaling:
    """Learn how to scale rows like those of a file, as `fit_scaling` does.

    Raises
    ------
    DataError
        It cannot be learnt from them.
    """
    try:
        return fit_scaling(kind, rows.X)
    except DataError as error:
        raise DataError(f"{rows.path}: {error}") from error


def scaled_both(
    kind: str,
    target: DomainRows,
    source: DomainRows | None,
    bridge: Mapping[str, Any],
) -> tuple[DomainRows, DomainRows | None, SourceDomain | None, Scaling]:
    """Return both files scaled, the source with its bridge, and the target's scaling.

    Raises
    ------
    DataError
        They cannot be scaled so, or a source row has no label.
    """
    scaling = learn_scaling(kind, target)
    if source is None:
        return scaled(target, scaling), None, None, scaling
    theirs = learn_scaling(kind, source)
    if shared := bridge.get(SHARED):
        if kind == PCA:
            raise DataError(
                "--scale pca leaves no columns to share. Choose another scale, or "
                "--shared none."
            )
        columns_source, columns = np.transpose(shared)
        scaling = scaling.with_columns_of(theirs, columns, columns_source)
    given = dict(bridge)
    if PAIRS in given:
        left, right = given[PAIRS]
        given[PAIRS] = theirs.apply(left), scaling.apply(right)
    rows = scaled(source, theirs)
    return scaled(target, scaling), rows, replace(source_of(rows), **given), scaling


def write_predictions(
    path: str | os.PathLike[str],
    ids: Iterable[str],
    predicted: Iterable[Any],
    confidence: Iterable[float] | None,
) -> None:
    """Write CSV: id, predicted, confidence (empty where there is none)."""
    table = pd.DataFrame({"id": list(ids), "predicted": list(predicted)}, dtype=object)
    table["confidence"] = ""
    if confidence is not None:
        table["confidence"] = [f"{value:.6g}" for value in confidence]
    with (
        atomic(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        table.to_csv(stream, index=False, lineterminator="\n")
