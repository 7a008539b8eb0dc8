"""Views computed from other views: principal components, and standardised shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cdspp.core.errors import ConfigError, DataError
from cdspp.core.scaling import principal_components
from cdspp.features.base import ViewExtractor


@dataclass(frozen=True)
class Pca(ViewExtractor):
    """A view reduced to its principal components, per domain and without labels.

    Give either `n_components` or `energy`.
    """

    identifier: ClassVar[str] = "pca"
    kind: ClassVar[str] = "view"
    modules: ClassVar[tuple[str, ...]] = ("numpy", "scipy.linalg")

    n_components: int | None = None  #: Number of components.
    energy: float | None = None  #: Share of the variance to keep, in (0, 1].
    center: bool = True  #: Whether to subtract the mean first.

    def __post_init__(self) -> None:
        """Check the options."""
        self.check_integer("n_components", 1, optional=True)
        self.check_switch("center")
        if self.energy is not None:
            self.check_share("energy")
        if (self.n_components is None) == (self.energy is None):
            values = f"n_components={self.n_components}, energy={self.energy}"
            expected = "exactly one of n_components and energy"
            raise ConfigError(f"extractor pca: give {expected}, got {values}.")

    def width(self) -> int | None:
        """Return the number of features, None for a share of the energy."""
        return self.n_components

    def seconds(self, n_rows: int, width: int) -> float:
        """Return the processor seconds of the smaller Gram matrix and its vectors."""
        smaller = min(n_rows, width)
        products = n_rows * width + 10 * smaller**2
        return super().seconds(n_rows, width) + 1e-9 * smaller * products

    def reduce(self, X: Any) -> tuple[np.ndarray, Mapping[str, Any]]:
        """Return the coordinates, float32, and the share of the variance they hold."""
        n = self.n_components
        if n is not None and n > min(X.shape):
            message = f"extractor pca: features of shape {X.shape} have fewer than"
            raise DataError(f"{message} n_components {n}. Lower it.")
        fitted = principal_components(X, n, self.energy, center=self.center)
        record = {"energy": fitted.energy, "components": len(fitted.components)}
        return fitted.transform(X).astype(np.float32), record


@dataclass(frozen=True)
class SharesZscore(ViewExtractor):
    """Rows divided by their sum, then columns standardised, without labels.

    Every column gets mean 0 and standard deviation 1 (n - 1) over all rows of the
    domain; a constant column becomes 0, and an all-zero row counts as zero shares. The
    z-scored copies of SURF features that circulate for Office-Caltech were prepared
    from histograms of visual words in this way.

    >>> SharesZscore().reduce([[1, 3], [3, 1], [2, 2]])[0].tolist()
    [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]
    """

    identifier: ClassVar[str] = "shares-zscore"
    kind: ClassVar[str] = "view"
    keeps_width: ClassVar[bool] = True

    def reduce(self, X: Any) -> tuple[np.ndarray, Mapping[str, Any]]:
        """Return the standardised shares, float32, and how many columns vary."""
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        minimum = dense.min(initial=0.0)
        if len(dense) < 2 or minimum < 0:
            got = f"shape {dense.shape} with the smallest entry {minimum:g}"
            expected = "expected two or more rows of counts"
            raise DataError(f"extractor shares-zscore: {expected}, got {got}.")
        sums = dense.sum(axis=1, keepdims=True)
        shares = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)
        varies = np.ptp(shares, axis=0) > 0
        scores = np.zeros_like(shares)
        kept = shares[:, varies]
        scores[:, varies] = (kept - kept.mean(axis=0)) / kept.std(axis=0, ddof=1)
        return scores.astype(np.float32), {"varying_columns": int(varies.sum())}
