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
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.whole_files import atomic
from cdspp.datasets.table_rows import DomainRows
from cdspp.methods.base import UNLABELLED, SourceDomain

__all__ = [
    "learn_scaling",
    "scaled",
    "scaled_bridge",
    "scaling_with",
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


def scaling_with(
    scaling: Scaling, theirs: Scaling, bridge: Mapping[str, Any]
) -> Scaling:
    """Return the target's scaling with shared columns as in the source.

    Raises
    ------
    DataError
        The scaling leaves no columns.
    """
    shared = bridge.get("shared_columns")
    if not shared:
        return scaling
    if scaling.components is not None:
        raise DataError(
            "--scale pca leaves no columns to share. Choose another scale, or "
            "--shared none."
        )
    columns_source, columns = np.transpose(shared)
    return scaling.with_columns_of(theirs, columns, columns_source)


def scaled_bridge(
    bridge: Mapping[str, Any], theirs: Scaling, scaling: Scaling
) -> dict[str, Any]:
    """Return a bridge whose paired rows are scaled as those of either domain."""
    if "paired_rows" not in bridge:
        return dict(bridge)
    left, right = bridge["paired_rows"]
    return {**bridge, "paired_rows": (theirs.apply(left), scaling.apply(right))}


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
