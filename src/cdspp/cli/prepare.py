"""What is done to the features of a file before the method: missing numbers, scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.wording import counted
from cdspp.methods.base import Float

if TYPE_CHECKING:
    from cdspp.cli.tabular import DomainRows

__all__ = ["complete", "learn_scaling", "scaled"]


def complete(
    rows: DomainRows, *, impute: bool = False, means: Float | None = None
) -> DomainRows:
    """Return rows whose features are all finite.

    Parameters
    ----------
    rows : DomainRows
        Rows as read.
    impute : bool, default=False
        Whether a number that is missing or not finite becomes the mean of its column.
    means : ndarray of shape (d,), optional
        The means to take; by default those of the finite numbers in the file.

    Raises
    ------
    DataError
        A number is missing and not to be imputed, or a column has none at all.
    """
    holes = ~np.isfinite(rows.X)
    if not holes.any():
        return rows
    if not impute:
        row, column = map(int, np.argwhere(holes)[0])
        value = rows.X[row, column]
        fault = "the number is missing" if np.isnan(value) else f"{value} is not finite"
        raise DataError(
            f"{rows.place(row, column)}: {fault} (of {holes.sum()} such). Fill it in, "
            "leave the column out with --drop, or take the means of columns with "
            "--impute."
        )
    known = np.where(holes, 0.0, rows.X)
    if means is None or len(means) != rows.X.shape[1]:
        counts = (~holes).sum(axis=0)
        if not counts.all():
            column = int(np.argmin(counts))
            raise DataError(
                f"{rows.place(0, column)}: the column has no number to take the mean "
                "of. Leave it out with --drop."
            )
        means = known.sum(axis=0) / counts
    note = f"{counted(int(holes.sum()), 'number')} imputed"
    filled = np.where(holes, means, rows.X)
    return replace(rows, X=filled, notes=(*rows.notes, note))


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
