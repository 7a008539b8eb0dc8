"""A view reduced to its principal components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cdspp.core.components import principal_components
from cdspp.core.errors import ConfigError, DataError
from cdspp.features.base import ViewExtractor

__all__ = ["Pca"]


@dataclass(frozen=True)
class Pca(ViewExtractor):
    """A view reduced to its principal components, per domain and without labels.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components.
    energy : float or None, default=None
        Share of the variance to keep, in (0, 1]. Give one of the two.
    center : bool, default=True
        Whether to subtract the mean first.
    """

    identifier: ClassVar[str] = "pca"
    kind: ClassVar[str] = "view"
    modules: ClassVar[tuple[str, ...]] = ("numpy", "scipy.linalg")

    n_components: int | None = None
    energy: float | None = None
    center: bool = True

    def __post_init__(self) -> None:
        """Check the options."""
        self.check_integer("n_components", 1, optional=True)
        self.check_switch("center")
        if self.energy is not None:
            self.check_share("energy")
        if (self.n_components is None) == (self.energy is None):
            raise ConfigError(
                "extractor pca: give exactly one of n_components and energy, got "
                f"n_components={self.n_components}, energy={self.energy}."
            )

    def width(self) -> int | None:
        """Return how many features there will be, None for a share of the energy."""
        return self.n_components

    def seconds(self, n_rows: int, width: int) -> float:
        """Return the processor seconds of the smaller Gram matrix and its vectors."""
        smaller = min(n_rows, width)
        products = n_rows * width + 10 * smaller**2
        return super().seconds(n_rows, width) + 1e-9 * smaller * products

    def reduce(self, X: Any) -> tuple[np.ndarray, Mapping[str, Any]]:
        """Return the coordinates, float32, and how much variance they hold.

        DataError: `X` cannot have so many components, or its rows are all equal.
        """
        n = self.n_components
        if n is not None and n > min(X.shape):
            message = f"extractor pca: n_components {n} is more than features of shape"
            raise DataError(f"{message} {X.shape} can have.")
        fitted = principal_components(X, n, self.energy, center=self.center)
        record = {"energy": fitted.energy, "components": len(fitted.components)}
        return fitted.transform(X).astype(np.float32), record
