"""What is done to the features of a file before the method: missing numbers, scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cdspp.core.errors import DataError
from cdspp.core.wording import counted
from cdspp.methods.base import Float

if TYPE_CHECKING:
    from cdspp.cli.tabular import DomainRows
    from cdspp.core.components import PrincipalComponents

__all__ = ["SCALES", "Scaling", "complete", "fit_scaling"]

MOST_COMPONENTS = 50
SCALES = ("none", "unit", "standardise", "pca")


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


@dataclass(frozen=True, eq=False)
class Scaling:
    """What was learnt from the rows of one file to scale rows like them.

    Attributes
    ----------
    kind : str
        One of `SCALES`.
    n_features : int
        Of the file.
    means, factors : ndarray of shape (n_features,), optional
        Where rows are standardised: what is subtracted, and what then multiplies.
    components : PrincipalComponents, optional
        Where rows are projected.
    """

    kind: str
    n_features: int
    means: Float | None = None
    factors: Float | None = None
    components: PrincipalComponents | None = None

    def apply(self, rows: DomainRows) -> DomainRows:
        """Return the rows scaled, with a note that says how.

        Raises
        ------
        DataError
            The rows have another number of features than those learnt from.
        """
        if rows.X.shape[1] != self.n_features:
            raise DataError(
                f"{rows.path}: X has {rows.X.shape[1]} features, but the model was "
                f"fitted on {self.n_features}."
            )
        X, note = rows.X, "no scaling"
        if self.kind == "unit":
            norms = np.linalg.norm(X, axis=1, keepdims=True)
            X, note = X / np.where(norms > 0, norms, 1.0), "rows scaled to unit length"
        elif self.means is not None and self.factors is not None:
            X, note = (X - self.means) * self.factors, "columns standardised"
        elif self.components is not None:
            X = self.components.transform(X)
            note = f"PCA to {counted(X.shape[1], 'component')}"
        return replace(rows, X=X, scaling=note, width=self.n_features)


def fit_scaling(kind: str, rows: DomainRows) -> Scaling:
    """Learn how to scale rows from those of a file.

    Parameters
    ----------
    kind : {"none", "unit", "standardise", "pca"}
        Rows as they are or of unit length; columns of mean 0 and standard deviation 1,
        constant ones 0; or the first principal components of centred rows, at most 50.
    rows : DomainRows
        Rows whose features are finite.

    Raises
    ------
    DataError
        The rows are all equal, so they have no principal components.
    """
    X = rows.X
    if kind == "standardise":
        spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0.0)
        factors = np.divide(1.0, spread, out=np.zeros(X.shape[1]), where=spread > 0)
        return Scaling(kind, X.shape[1], means=X.mean(axis=0), factors=factors)
    if kind == "pca":
        from cdspp.core.components import principal_components

        most = min(MOST_COMPONENTS, *X.shape)
        try:
            found = principal_components(X, most)
        except DataError as error:
            raise DataError(f"{rows.path}: --scale pca: {error}") from error
        return Scaling(kind, X.shape[1], components=found)
    return Scaling(kind, X.shape[1])
