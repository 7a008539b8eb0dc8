"""What the networks share: tensors of a problem, layers, the training loop."""

from __future__ import annotations

import importlib.util
import logging
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cdspp.core.discovery import defaults_of
from cdspp.core.errors import MethodFailed
from cdspp.core.linalg import one_hot
from cdspp.methods.base import ConfidentClassifier, Float, Problem, Round
from cdspp.methods.networks.site import Site, product, rectify
from cdspp.methods.networks.trained_network import Trained, TrainedEncoder, TrainedLayer
from cdspp.methods.shared.common_subspace import CommonSpaceMethod
from cdspp.methods.shared.constraints import COUNT, POSITIVE, require_every_class

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from cdspp.methods.networks.row_layer import RowLayer

__all__ = [
    "Batch",
    "Encoder",
    "Layer",
    "Network",
    "NetworkClassifier",
    "class_means",
    "cross_entropy",
    "rows_cost_less",
    "train",
]

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 30.0
# A last loss of so many medians of as many last losses is no noise.
SPIKE, USUAL_OVER = 1.5, 100


@dataclass(frozen=True, eq=False)
class Batch:
    """All rows of a problem as tensors, of the target the labelled ones first.

    Labels are class indicators (n, n_classes), so that sums of classes are products.
    """

    X_source: Tensor
    X_target: Tensor
    Y_source: Tensor
    Y_labelled: Tensor

    @classmethod
    def of(cls, problem: Problem, site: Site) -> Batch:
        """Copy a problem of prepared rows to the device."""
        n_classes = problem.n_classes
        target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        rows = (site.place_rows(X) for X in (problem.X_source, target))
        codes = problem.y_source, problem.y_labelled
        return cls(*rows, *(site.place(one_hot(y, n_classes)) for y in codes))


def rows_cost_less(n: int, d: int) -> bool:
    """Return whether a `RowLayer` of n rows costs less than a `Layer` of d features."""
    return n < 2 * d


def class_means(Y: Tensor, Z: Tensor) -> Tensor:
    """Return the mean of the rows of `Z` of each class, by class indicators `Y`."""
    return Y.T @ Z / Y.sum(dim=0)[:, None]


def cross_entropy(log_probabilities: Tensor, Y: Tensor) -> Tensor:
    """Return the mean cross entropy with class indicators `Y`."""
    return -(Y * log_probabilities).sum() / len(Y)


@dataclass(frozen=True, eq=False)
class Layer:
    """An affine map followed by a leaky rectifier; `weight` is (n_out, n_in)."""

    weight: Tensor
    bias: Tensor

    @classmethod
    def of(cls, site: Site, weight: Tensor, bias: Tensor) -> Layer:
        """Return a layer to be trained from first values."""
        return cls(site.parameter(weight), site.parameter(bias))

    def __call__(self, X: Tensor) -> Tensor:
        """Return the output for rows."""
        return rectify(product(X, self.weight, self.bias))

    @property
    def parameters(self) -> list[Tensor]:
        """The weights and biases."""
        return [self.weight, self.bias]

    def inputs(self, X: Float) -> Float:
        """Return the rows themselves, which the layer takes."""
        return X

    def trained(self) -> TrainedLayer:
        """Return the layer in arrays."""
        weight, bias = (w.detach().cpu().numpy() for w in (self.weight, self.bias))
        return TrainedLayer(weight, bias)


@dataclass(frozen=True, eq=False)
class Encoder:
    """Two layers, then rows of unit length; `floor` bounds the length from below."""

    first: Layer | RowLayer
    second: Layer
    floor: float

    def __call__(self, X: Tensor) -> Tensor:
        """Return the codes of rows."""
        from torch.nn import functional

        return functional.normalize(self.second(self.first(X)), dim=1, eps=self.floor)

    @property
    def parameters(self) -> list[Tensor]:
        """The weights and biases of both layers."""
        return [*self.first.parameters, *self.second.parameters]

    def trained(self) -> TrainedEncoder:
        """Return the encoder in arrays."""
        return TrainedEncoder(self.first.trained(), self.second.trained(), self.floor)


@dataclass(frozen=True, eq=False)
class Network:
    """An encoder a domain and the common classifier."""

    source: Encoder
    target: Encoder
    classifier: Layer

    def trained(self, losses: list[float]) -> Trained:
        """Return the network in arrays, with the loss before each iteration."""
        encoders = self.source.trained(), self.target.trained()
        return Trained(*encoders, self.classifier.trained(), losses)


def train(
    loss: Callable[[int], Tensor], optimiser: torch.optim.Optimizer, max_iter: int
) -> list[float]:
    """Take one step an iteration, counted from 0; return the loss before each step.

    `MethodFailed` where a loss or, after the last step, a weight is not finite.
    """
    import torch

    losses, shown = list[float](), time.monotonic()
    for iteration in range(max_iter):
        optimiser.zero_grad()
        value = loss(iteration)
        losses.append(value.item())
        if not math.isfinite(losses[-1]):
            raise MethodFailed(f"the loss is {losses[-1]} at iteration {iteration}")
        torch.autograd.backward(value)
        optimiser.step()
        if time.monotonic() - shown > PROGRESS_SECONDS:
            shown, done = time.monotonic(), iteration + 1
            log.info("%d of %d iterations, loss %.4f", done, max_iter, losses[-1])
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    if not all(bool(weight.isfinite().all()) for weight in weights):
        raise MethodFailed(f"a weight is not finite after iteration {max_iter - 1}")
    usual = float(np.median(losses[-USUAL_OVER:]))
    if losses[-1] > SPIKE * usual:
        told = "the last loss, %.4f, is far above the usual %.4f: training had just "
        log.warning(told + "come apart, and the result is poor", losses[-1], usual)
    return losses


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

    loss_curve_: list[float]

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        "n_components": [COUNT],
        "learning_rate": [POSITIVE],
        "max_iter": [COUNT],
        "device": [str],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int,
        learning_rate: float,
        max_iter: int,
        device: str,
        random_state: Any,
    ) -> None:
        self.n_components, self.learning_rate = n_components, learning_rate
        self.max_iter, self.device, self.random_state = max_iter, device, random_state

    @classmethod
    def work(cls, size: Any, n_components: int | None = None) -> tuple[float, float]:
        """Return about how many seconds a fit takes, and MB beside the data."""
        # Products of both layers, forward and backward, and the update of the weights.
        defaults = defaults_of(cls)
        k = n_components or defaults["n_components"]
        products = trained = held = 0
        domains = (size.n_source, size.d_source), (size.n_target, size.d_target)
        for n, d in domains:
            hidden = (d + k) // 2
            summed = cls.sums_rows and rows_cost_less(n, d)
            products += n * hidden * ((2 * n if summed else 4 * d) + 6 * k)
            trained += hidden * ((n if summed else d) + k)
            held += (hidden + n) * (d + k)
        iteration = 0.0015 + 5.7e-12 * products + 3.4e-9 * trained
        return 1.0 + defaults["max_iter"] * iteration, 16e-6 * held

    @abstractmethod
    def _train(self, problem: Problem, site: Site) -> Trained:
        """Train on a problem of prepared rows."""

    def _fit_problem(self, problem: Problem) -> list[Round]:
        require_every_class(problem, self.classes_)
        if importlib.util.find_spec("torch") is None:
            raise ModuleNotFoundError(
                f"{type(self).__name__} needs torch, which is not installed: "
                "pip install 'cdspp[networks]'",
                name="torch",
            )
        site = Site.open(self.device, self.random_state)
        with site.arithmetic():
            self._trained = self._train(self._prepare(problem), site)
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
