"""Scaling of features, and principal components, learnt without labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh

from cdspp.core import linalg, names
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.files import storable
from cdspp.core.linalg import dense
from cdspp.core.wording import counted

__all__ = ["Scaling", "fit_scaling"]

MAX_GRAM_SIZE = 5000
INITIAL_COUNT = 64


@storable
@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Fitted principal components: orthonormal rows, in order of decreasing variance.

    The mean is zero if features were not centred; energy is a share of the variance.
    """

    mean: np.ndarray
    components: np.ndarray
    variances: np.ndarray
    energy: float

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of the rows of `X`, float64."""
        return np.asarray(X @ self.components.T - self.mean @ self.components.T)


def principal_components(
    X: Any,
    n_components: int | None = None,
    energy: float | None = None,
    *,
    center: bool = True,
) -> PrincipalComponents:
    r"""Fit a given number of components, or enough for a share of the variance.

    With :math:`\tilde X = X - 1 m^\top`, takes the eigenvectors of the smaller of
    :math:`\tilde X \tilde X^\top` and :math:`\tilde X^\top \tilde X`, in
    :math:`O(n d s + s^3)` time and :math:`O(s^2)` memory with :math:`s = \min(n, d)`;
    above 5000 a Lanczos iteration computes only the leading vectors. A sparse `X` is
    never made dense: its mean is subtracted from the products. Directions without
    variance are omitted, so there may be fewer components than requested. DataError: a
    value is not finite, its square overflows, or all rows are equal.
    """
    linalg.require_finite(X, range(X.shape[0]), "principal components")
    X = X.astype(np.float64)
    mean = np.zeros(X.shape[1])
    if center:
        mean = np.asarray(X.sum(axis=0)).ravel() / X.shape[0]
    shift = mean
    if not issparse(X):
        X, shift = X - mean, np.zeros_like(mean)
    centred = _Centred(X, shift)
    count = centred.side if n_components is None else min(n_components, centred.side)
    if centred.side <= MAX_GRAM_SIZE:
        positions = [centred.side - count, centred.side - 1]
        values, vectors = scipy.linalg.eigh(
            centred.gram(), subset_by_index=positions, check_finite=False
        )
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        values, vectors = _lanczos(centred, n_components, energy)
    rank = int((values > centred.floor).sum())  # the rest are rounding errors
    if energy is not None:
        enough = np.cumsum(values[:rank]) >= energy * centred.total * (1 - 1e-12)
        rank = min(rank, int(np.argmax(enough)) + 1) if enough.any() else rank
    values, vectors = values[:rank], vectors[:, :rank]
    if centred.wide:
        vectors = centred.left(vectors) / np.sqrt(values)
    components = (vectors * linalg.column_signs(vectors)).T
    share = min(1.0, float(values.sum() / centred.total))
    return PrincipalComponents(mean, components, values / X.shape[0], share)


class _Centred:
    """Products with ``X - 1 m^T`` that read only X and m."""

    def __init__(self, X: Any, mean: np.ndarray) -> None:
        self.X, self.mean = X, mean
        self.wide = X.shape[0] < X.shape[1]
        self.side = min(X.shape)
        squares = X.multiply(X).sum() if issparse(X) else np.vdot(X, X)
        self.total = float(squares) - X.shape[0] * float(mean @ mean)
        self.floor = self.side * np.finfo(float).eps * max(float(squares), 1e-300)
        if not np.isfinite(self.total):
            fault = "the squares of the values overflow. Scale the rows first."
            raise DataError(f"principal components: {fault}")
        if self.total <= self.floor:
            raise DataError("principal components: all rows are equal.")

    def right(self, V: np.ndarray) -> np.ndarray:
        """Return (X - 1 m^T) V."""
        return np.asarray(self.X @ V - self.mean @ V)

    def left(self, U: np.ndarray) -> np.ndarray:
        """Return (X - 1 m^T)^T U."""
        return np.asarray(self.X.T @ U - np.multiply.outer(self.mean, U.sum(axis=0)))

    def gram(self) -> np.ndarray:
        """Return the Gram matrix of the smaller side, dense."""
        X, mean = self.X, self.mean
        product = dense(X @ X.T if self.wide else X.T @ X)
        if not self.wide:
            return np.asarray(product - X.shape[0] * np.outer(mean, mean))
        offsets = np.asarray(X @ mean)
        return np.asarray(product - offsets[:, None] - offsets[None, :] + mean @ mean)

    def apply(self, v: np.ndarray) -> np.ndarray:
        """Multiply the Gram matrix of the smaller side by a vector."""
        v = v.ravel()
        return self.right(self.left(v)) if self.wide else self.left(self.right(v))


def _lanczos(
    centred: _Centred, n_components: int | None, energy: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute leading vectors, doubling their number until they hold the energy."""
    shape, count = (centred.side, centred.side), n_components or INITIAL_COUNT
    operator = LinearOperator(shape, matvec=centred.apply, dtype=np.float64)
    # Centring would map a vector of ones to zero.
    start_vector = np.random.default_rng(0).standard_normal(centred.side)
    while True:
        count = min(count, centred.side - 1)
        values, vectors = eigsh(operator, k=count, v0=start_vector)
        order = np.argsort(values)[::-1]
        values, vectors = values[order], vectors[:, order]
        enough = energy is None or values.sum() >= energy * centred.total
        if enough or count == centred.side - 1:
            return values, vectors
        count *= 2


@storable
@dataclass(frozen=True, eq=False)
class Scaling:
    """A scaling learnt by `fit_scaling`: subtracted means, factors, or components."""

    kind: str
    n_features: int
    means: np.ndarray | None = None
    factors: np.ndarray | None = None
    components: PrincipalComponents | None = None

    def apply(self, X: Any) -> Any:
        """Return scaled rows; sparse rows stay sparse if possible.

        DataError: the number of features differs from that of the fitted rows.
        """
        if X.shape[1] != self.n_features:
            expected = f"expected {self.n_features}, as in the rows of the fit"
            raise DataError(f"X has {X.shape[1]} features, {expected}.")
        if self.kind == names.UNIT:
            if not issparse(X):
                return linalg.row_normalise(X)
            lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1))
            return X.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)).tocsr()
        if self.means is not None and self.factors is not None:
            return (X - self.means) * self.factors
        return X if self.components is None else self.components.transform(X)

    def with_columns_of(
        self, other: Scaling, target: np.ndarray, source: np.ndarray
    ) -> Scaling:
        """Return the scaling with columns `target` on the scale of `source` of `other`.

        The kind standardise-each is returned unchanged.
        """
        is_separate = self.kind == names.STANDARDISE_EACH
        if is_separate or self.means is None or self.factors is None:
            return self
        assert other.means is not None
        assert other.factors is not None
        means, factors = self.means.copy(), self.factors.copy()
        means[target], factors[target] = other.means[source], other.factors[source]
        return replace(self, means=means, factors=factors)

    def __str__(self) -> str:
        """Describe the scaling in words."""
        if self.components is not None:
            return f"PCA to {counted(len(self.components.components), 'component')}"
        texts = {
            names.UNIT: "rows scaled to unit length",
            names.STANDARDISE: "columns standardised",
            names.STANDARDISE_EACH: "columns standardised, shared ones in each file",
        }
        return texts.get(self.kind, "no scaling")


def fit_scaling(kind: str, X: Any) -> Scaling:
    """Learn a scaling from rows, dense or sparse, with finite features.

    The kinds are ``none``; ``unit``, rows of unit length; ``standardise``, columns of
    mean 0 and standard deviation 1, constant columns 0; ``standardise-each``, the same,
    except that two domains never share the scale of a column; and ``pca``, the first
    principal components of centred rows, at most 50. ConfigError: an unknown kind.
    DataError: sparse rows are not standardised; equal rows have no components.

    >>> X = np.array([[0.0, 5.0], [2.0, 5.0]])
    >>> fit_scaling("standardise", X).apply(X).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    if kind not in (kinds := (*names.SCALES, names.STANDARDISE_EACH)):
        raise ConfigError(f"scale must be one of {', '.join(kinds)}, got {kind!r}.")
    if kind in (names.STANDARDISE, names.STANDARDISE_EACH):
        if issparse(X):
            fault = f"would make a sparse matrix of shape {tuple(X.shape)} dense"
            raise DataError(f"scale: standardise {fault}. Use pca or unit.")
        spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0.0)
        factors = np.divide(1.0, spread, out=np.zeros(X.shape[1]), where=spread > 0)
        return Scaling(kind, X.shape[1], means=X.mean(axis=0), factors=factors)
    if kind == names.PCA:
        try:
            components = principal_components(X, min(names.MAX_COMPONENTS, *X.shape))
        except DataError as error:
            raise DataError(f"scale: pca: {error}") from error
        return Scaling(kind, X.shape[1], components=components)
    return Scaling(kind, X.shape[1])
