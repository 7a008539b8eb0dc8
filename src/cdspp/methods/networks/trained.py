"""Trained networks as arrays, which are stored, copied and used without torch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core.files import storable
from cdspp.core.linalg import softmax
from cdspp.methods.base import Float

LEAKY_SLOPE = 0.2


@storable
@dataclass(frozen=True, eq=False)
class TrainedLayer:
    """A trained `Layer` as arrays."""

    weight: NDArray[Any]
    bias: NDArray[Any]

    def __call__(self, X: Float) -> Float:
        """Return float64, so that a row's output hardly depends on other rows."""
        outputs = X @ self.weight.T.astype(np.float64) + self.bias
        return np.asarray(np.maximum(outputs, LEAKY_SLOPE * outputs))


@storable
@dataclass(frozen=True, eq=False)
class TrainedEncoder:
    """A trained `Encoder` as arrays."""

    first: TrainedLayer
    second: TrainedLayer
    floor: float

    def __call__(self, X: Float) -> Float:
        """Return the codes of rows."""
        Z = self.second(self.first(X))
        lengths = np.linalg.norm(Z, axis=1, keepdims=True)
        return np.asarray(Z / np.maximum(lengths, self.floor))


@storable
@dataclass(frozen=True, eq=False)
class Trained:
    """A trained `Network` as arrays, and the loss before each iteration."""

    source: TrainedEncoder
    target: TrainedEncoder
    classifier: TrainedLayer
    losses: list[float]

    def probabilities(self, X: Float) -> Float:
        """Return class probabilities of prepared target rows."""
        return softmax(self.classifier(self.target(X)))


def rows_cost_less(n: int, d: int) -> bool:
    """Return whether a `RowLayer` of n rows costs less than a `Layer` of d features."""
    return n < 2 * d
