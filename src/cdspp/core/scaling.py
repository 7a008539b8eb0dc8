"""How features are scaled before a method sees them, learnt without labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from cdspp.core.components import PrincipalComponents, principal_components
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.files import storable
from cdspp.core.linalg import row_normalise, squared_lengths
from cdspp.core.names import (
    MOST_COMPONENTS,
    PCA,
    SCALES,
    STANDARDISE,
    STANDARDISE_EACH,
    UNIT,
)
from cdspp.core.wording import counted

__all__ = ["Scaling", "fit_scaling"]


@storable
@dataclass(frozen=True, eq=False)
class Scaling:
    """A scaling that `fit_scaling` learnt: subtracted means, factors, or components."""

    kind: str
    n_features: int
    means: np.ndarray | None = None
    factors: np.ndarray | None = None
    components: PrincipalComponents | None = None

    def apply(self, X: Any) -> Any:
        """Return rows scaled; sparse ones stay so where they can.

        DataError: they have another number of features than the rows of the fit.
        """
        if X.shape[1] != self.n_features:
            raise DataError(
                f"X has {X.shape[1]} features, expected {self.n_features} as in the "
                "rows of the fit."
            )
        if self.kind == UNIT:
            if not issparse(X):
                return row_normalise(X)
            lengths = np.sqrt(squared_lengths(X))[:, None]  # those of zeros stay
            return X.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)).tocsr()
        if self.means is not None and self.factors is not None:
            return (X - self.means) * self.factors
        return X if self.components is None else self.components.transform(X)

    def with_columns_of(
        self, other: Scaling, own: np.ndarray, others: np.ndarray
    ) -> Scaling:
        """Return the scaling with columns `own` on the scale of `others` of `other`.

        Of the kind standardise-each it is unchanged.
        """
        each = self.kind == STANDARDISE_EACH
        if each or self.means is None or self.factors is None:
            return self
        assert other.means is not None
        assert other.factors is not None
        means, factors = self.means.copy(), self.factors.copy()
        means[own], factors[own] = other.means[others], other.factors[others]
        return replace(self, means=means, factors=factors)

    def __str__(self) -> str:
        """Say it in words."""
        if self.components is not None:
            return f"PCA to {counted(len(self.components.components), 'component')}"
        names = {
            UNIT: "rows scaled to unit length",
            STANDARDISE: "columns standardised",
            STANDARDISE_EACH: "columns standardised, shared ones in each file",
        }
        return names.get(self.kind, "no scaling")


def fit_scaling(kind: str, X: Any) -> Scaling:
    """Learn how to scale rows, dense or sparse, whose features are finite.

    The kind is ``none``, rows as they are; ``unit``, of unit length; ``standardise``,
    columns of mean 0 and standard deviation 1, constant ones 0; ``standardise-each``,
    the same, of which two domains do not share the scale of a column; or ``pca``, the
    first principal components of centred rows, at most 50. ConfigError: another kind.
    DataError: the rows are all equal, so they have no principal components, or sparse
    rows would have to be standardised.

    >>> X = np.array([[0.0, 5.0], [2.0, 5.0]])
    >>> fit_scaling("standardise", X).apply(X).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    if kind not in (known := (*SCALES, STANDARDISE_EACH)):
        raise ConfigError(f"scale must be one of {', '.join(known)}, got {kind!r}.")
    if kind in (STANDARDISE, STANDARDISE_EACH):
        if issparse(X):
            raise DataError(
                "scale: standardise would fill a sparse matrix of shape "
                f"{tuple(X.shape)} with numbers. Use pca or unit."
            )
        spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0.0)
        factors = np.divide(1.0, spread, out=np.zeros(X.shape[1]), where=spread > 0)
        return Scaling(kind, X.shape[1], means=X.mean(axis=0), factors=factors)
    if kind == PCA:
        try:
            found = principal_components(X, min(MOST_COMPONENTS, *X.shape))
        except DataError as error:
            raise DataError(f"scale: pca: {error}") from error
        return Scaling(kind, X.shape[1], components=found)
    return Scaling(kind, X.shape[1])
