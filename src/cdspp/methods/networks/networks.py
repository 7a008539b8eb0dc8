"""The base class of the networks, which have arrays once they are trained.

A fit alone imports torch: fitted networks are stored, copied and used without it.
"""

from __future__ import annotations

import importlib.util
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cdspp.core.discovery import defaults_of
from cdspp.core.files import storable
from cdspp.core.linalg import softmax
from cdspp.methods.base import ConfidentClassifier, Float, Problem, Round
from cdspp.methods.shared.common_subspace import CommonSpaceMethod
from cdspp.methods.shared.constraints import COUNT, POSITIVE, require_every_class

LEAKY_SLOPE = 0.2


@storable
@dataclass(frozen=True, eq=False)
class TrainedLayer:
    """A `Layer` in arrays."""

    weight: NDArray[Any]
    bias: NDArray[Any]

    def __call__(self, X: Float) -> Float:
        """Return float64: a row's output hardly depends on the other rows."""
        outputs = X @ self.weight.T.astype(np.float64) + self.bias
        return np.asarray(np.maximum(outputs, LEAKY_SLOPE * outputs))


@storable
@dataclass(frozen=True, eq=False)
class TrainedEncoder:
    """An `Encoder` in arrays."""

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
    """A `Network` in arrays, and the loss before each iteration."""

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


class NetworkClassifier(CommonSpaceMethod, ConfidentClassifier):
    """Base class of the networks: an encoder a domain and a common classifier.

    A subclass gives `_train`. Rows are scaled to unit length first; the result is that
    of the last iteration. An encoder has the widths ``d``, ``(d + k) // 2`` and ``k``
    for `n_components` k, leaky rectifiers of slope 0.2, and codes of unit length; the
    classifier's outputs pass a leaky rectifier, too.

    Parameters
    ----------
    n_components, learning_rate, max_iter
        As a subclass describes them.
    device : str
        A torch device; ``auto`` takes CUDA where there is one.
    random_state : int, RandomState or None
        Draws the first weights; nothing else is random.

    Attributes
    ----------
    loss_curve_ : list of float
        Loss before each iteration.
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every method: see `cdspp.methods.base.HeterogeneousClassifier`; `history_`
        has one entry.

    Raises
    ------
    MethodFailed
        A class has no source row or no labelled target row, or training diverges.
    """

    needs_torch = True
    sums_rows: ClassVar[bool] = False  # a first layer may be a `RowLayer`

    max_iter: int
    loss_curve_: list[float]

    _parameter_constraints = {
        "n_components": [COUNT],
        "learning_rate": [POSITIVE],
        "max_iter": [COUNT],
        "device": [str],
        "random_state": ["random_state"],
    }

    @classmethod
    def cost(cls, size: Any, n_components: int | None = None) -> tuple[float, float]:
        """Estimate the seconds of a fit, and its MB in addition to the data."""
        # Products of both layers, forward and backward, and the update of the weights.
        defaults = defaults_of(cls)
        k = n_components or defaults["n_components"]
        products = trained = held = 0
        for n, d in ((size.n_source, size.d_source), (size.n_target, size.d_target)):
            hidden = (d + k) // 2
            summed = cls.sums_rows and rows_cost_less(n, d)
            products += n * hidden * ((2 * n if summed else 4 * d) + 6 * k)
            trained += hidden * ((n if summed else d) + k)
            held += (hidden + n) * (d + k)
        iteration = 0.0015 + 5.7e-12 * products + 3.4e-9 * trained
        return 1.0 + defaults["max_iter"] * iteration, 16e-6 * held

    @abstractmethod
    def _train(self, problem: Problem) -> Trained:
        """Train on a problem of prepared rows."""

    def _fit_problem(self, problem: Problem) -> list[Round]:
        require_every_class(problem, self.classes_)
        if importlib.util.find_spec("torch") is None:
            raise ModuleNotFoundError(
                f"{type(self).__name__} needs torch, which is not installed: "
                "pip install 'cdspp[networks]'",
                name="torch",
            )
        self._trained = self._train(self._prepare(problem))
        self.loss_curve_ = self._trained.losses
        return []

    def _finish(self, problem: Problem, labelled: NDArray[np.bool_]) -> None:
        super()._finish(problem, labelled)
        self.n_iter_ = self.max_iter

    def _place_target(self, X: Float) -> Float:
        return self._trained.target(X)

    def _place_source(self, X: Float, number: int) -> Float:
        return self._trained.source(X)

    def _probabilities(self, X: Float) -> Float:
        return self._trained.probabilities(self._prepare_target(X))
