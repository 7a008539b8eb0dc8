"""Layers of the networks, their tensors, and the steps of training."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state
from torch import Tensor
from torch.nn import functional

from cdspp.core.devices import torch_device
from cdspp.core.errors import MethodFailed
from cdspp.core.provenance import hardware
from cdspp.methods.base import Float, Problem
from cdspp.methods.networks.trained import (
    LEAKY_SLOPE,
    Trained,
    TrainedEncoder,
    TrainedLayer,
)

log = logging.getLogger(__name__)

INITIAL_SCALE = 0.01
PROGRESS_SECONDS = 30.0
LOSSES_READ = 50  # at a time
# A last loss above SPIKE times the median of the last SPIKE_WINDOW losses is not noise.
SPIKE, SPIKE_WINDOW = 1.5, 100


class TrainingContext:
    """Device, precision and random numbers of a training.

    Random numbers come from the processor: initial weights are equal on all devices.
    """

    def __init__(self, device: str, random_state: Any, *, double: bool = False) -> None:
        seed = random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        self.generator = torch.Generator(device="cpu").manual_seed(int(seed))
        self.dtype = torch.float64 if double else torch.float32
        self.device: torch.device = torch_device(device)

    def normal(self, *shape: int) -> Tensor:
        """Draw initial weights on the processor."""
        values = torch.empty(shape, dtype=self.dtype, device="cpu")
        return values.normal_(0.0, INITIAL_SCALE, generator=self.generator)

    def tensor(self, values: Float | Tensor) -> Tensor:
        """Copy an array or tensor to the device."""
        tensor = torch.from_numpy(values) if isinstance(values, np.ndarray) else values
        return tensor.to(device=self.device, dtype=self.dtype, copy=True)

    def parameter(self, values: Float | Tensor) -> Tensor:
        """Return a trainable copy of initial values on the device."""
        return self.tensor(values).contiguous().requires_grad_()

    @contextmanager
    def arithmetic(self) -> Iterator[None]:
        """Use the context's precision and gradients in the block, not the caller's."""
        before = torch.get_float32_matmul_precision()
        with ExitStack() as stack:
            stack.callback(torch.set_float32_matmul_precision, before)
            torch.set_float32_matmul_precision("highest")
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            stack.enter_context(torch.autocast(self.device.type, enabled=False))
            yield


def product(X: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``X @ weight.T + bias``; in float32 by oneDNN if that is faster.

    MKL, torch's default, is a quarter faster on Intel's processors and half as fast on
    others. Constant rows are converted once.
    """
    outputs = functional.linear(to_mkldnn(X), weight, bias)
    return outputs.to_dense() if outputs.is_mkldnn else outputs


def to_mkldnn(X: Tensor) -> Tensor:
    """Return rows in oneDNN's layout if it is available for them."""
    fits = X.device.type == "cpu" and X.dtype == torch.float32 and not X.is_mkldnn
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    is_intel = "Intel" in hardware()["processor"]
    return X.to_mkldnn() if fits and available and not is_intel else X


class Batch:
    """Rows and class indicators on the device, labelled target rows first."""

    def __init__(self, problem: Problem, setup: TrainingContext) -> None:
        target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        self.X_source = to_mkldnn(setup.tensor(problem.X_source))
        self.X_target = to_mkldnn(setup.tensor(target))
        self.Y_source = setup.tensor(np.eye(problem.n_classes)[problem.y_source])
        self.Y_labelled = setup.tensor(np.eye(problem.n_classes)[problem.y_labelled])
        self.Y = torch.cat([self.Y_source, self.Y_labelled])
        sizes = len(problem.y_source), len(target)
        self.is_source = setup.tensor(np.repeat([1.0, 0.0], sizes))


def class_means(Y: Tensor, Z: Tensor) -> Tensor:
    """Return the class means of the rows of `Z`, by class indicators `Y`."""
    return Y.T @ Z / Y.sum(dim=0)[:, None]


def cross_entropy(log_probabilities: Tensor, Y: Tensor) -> Tensor:
    """Return the mean cross entropy with class indicators `Y`."""
    return -(Y * log_probabilities).sum() / len(Y)


class Layer:
    """An affine map and a leaky rectifier; the initial `weight` is (n_out, n_in)."""

    def __init__(self, weight: Tensor, bias: Tensor, setup: TrainingContext) -> None:
        self.parameters = setup.parameter(weight), setup.parameter(bias)
        self.weight, self.bias = self.parameters

    def __call__(self, X: Tensor) -> Tensor:
        """Return the output for rows."""
        return functional.leaky_relu_(product(X, self.weight, self.bias), LEAKY_SLOPE)

    def inputs(self, X: Float) -> Float:
        """Return the inputs of the layer: the rows themselves."""
        return X

    def trained(self) -> TrainedLayer:
        """Return the trained layer as arrays."""
        return TrainedLayer(*(w.detach().cpu().numpy() for w in self.parameters))


class RowLayer:
    r"""A layer whose weights are sums of the rows that it is trained on.

    The gradient of a first layer's weights W is ``G^T X``, where G is the gradient of
    its outputs and X are all rows. Gradient descent with momentum and weight decay thus
    keeps the form

    .. math:: W = s W_0 + B^\top X

    where s is the decay of the initial weights, and the gradient of B is G: outputs are
    :math:`s X W_0^\top + (X X^\top) B`. For n rows, d features and h outputs, a step
    takes one product of n^2 h multiplications instead of two of n d h. A bias is the
    weight of a constant feature. B and s are the `parameters`; s only decays.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor, setup: TrainingContext, rows: Float
    ) -> None:
        self._rows, self._initial = rows, TrainedLayer(weight.numpy(), bias.numpy())
        self._outputs = setup.tensor(rows @ self._initial.weight.T + self._initial.bias)
        coefficients = torch.zeros_like(self._outputs).requires_grad_()
        self.parameters = coefficients, setup.parameter(np.ones(1))

    def inputs(self, X: Float) -> Float:
        """Return the inputs of the layer: products of the rows with all rows."""
        return (X @ self._rows.T + 1.0).astype(self._initial.weight.dtype)

    def __call__(self, X: Tensor) -> Tensor:
        """Return the layer's output for all rows."""
        inputs = X, *self.parameters, self._outputs
        outputs = _SumsOfRows.apply(*inputs)  # type: ignore[no-untyped-call]
        return functional.leaky_relu_(outputs, LEAKY_SLOPE)

    def trained(self) -> TrainedLayer:
        """Return the trained layer as arrays, for features instead of products."""
        B, share = (w.detach().cpu().numpy() for w in self.parameters)
        weight = share * self._initial.weight + B.T @ self._rows
        bias = share * self._initial.bias + B.sum(axis=0, dtype=np.float64)
        return TrainedLayer(weight.astype(B.dtype), bias.astype(B.dtype))


class _SumsOfRows(torch.autograd.Function):
    """Outputs of a `RowLayer`; its coefficients have the gradient of the outputs."""

    @staticmethod
    def forward(
        ctx: Any, kernel: Tensor, coefficients: Tensor, share: Tensor, start: Tensor
    ) -> Tensor:
        ctx.save_for_backward(share)
        return product(kernel, coefficients.T).addcmul_(start, share)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (share,) = ctx.saved_tensors
        return None, gradients[0], torch.zeros_like(share), None


@dataclass(frozen=True, eq=False)
class Encoder:
    """Two layers, then scaling to unit length, with `floor` as the smallest length."""

    first: Layer | RowLayer
    second: Layer
    floor: float

    def __call__(self, X: Tensor) -> Tensor:
        """Return the codes of rows."""
        return functional.normalize(self.second(self.first(X)), dim=1, eps=self.floor)

    def trained(self) -> TrainedEncoder:
        """Return the trained encoder as arrays."""
        return TrainedEncoder(self.first.trained(), self.second.trained(), self.floor)


@dataclass(frozen=True, eq=False)
class Network:
    """One encoder per domain, and the common classifier; subclasses have `fit_on`."""

    source: Encoder
    target: Encoder
    classifier: Layer

    @property
    def layers(self) -> list[Layer | RowLayer]:
        """All layers, in the order of the fields."""
        encoders = self.source, self.target
        of_encoders = [x for part in encoders for x in (part.first, part.second)]
        return of_encoders + [getattr(self, part.name) for part in fields(self)[2:]]

    def trained(self, losses: list[float]) -> Trained:
        """Return the trained network as arrays, with the loss before each iteration."""
        encoders = self.source.trained(), self.target.trained()
        return Trained(*encoders, self.classifier.trained(), losses)


def train(
    loss: Callable[[int], Tensor], optimiser: torch.optim.Optimizer, max_iter: int
) -> list[float]:
    """Take one step per iteration, from number 0; return the loss before each step."""
    losses, waiting, last_log = list[float](), list[Tensor](), time.monotonic()
    for iteration in range(max_iter):
        optimiser.zero_grad()
        value = loss(iteration)
        waiting.append(value.detach())
        torch.autograd.backward(value)
        optimiser.step()
        is_late = time.monotonic() - last_log > PROGRESS_SECONDS
        if is_late or len(waiting) == LOSSES_READ or iteration + 1 == max_iter:
            losses += _finite_losses(waiting, len(losses))
            waiting.clear()
        if is_late:
            last_log, done = time.monotonic(), iteration + 1
            log.info("%d of %d iterations, loss %.4f", done, max_iter, losses[-1])
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    if not all(bool(weight.isfinite().all()) for weight in weights):
        raise MethodFailed(f"a weight is not finite after iteration {max_iter - 1}")
    level = float(np.median(losses[-SPIKE_WINDOW:]))
    if losses[-1] > SPIKE * level:
        text = "the last loss, %.4f, is far above the usual %.4f: training has just "
        log.warning(text + "become unstable, and the result is poor", losses[-1], level)
    return losses


def _finite_losses(waiting: Sequence[Tensor], first: int) -> list[float]:
    """Read losses off the device, from iteration `first`; fail at the first not finite.

    A GPU would wait for the processor if each loss was read in its iteration.
    """
    losses: list[float] = torch.stack([*waiting]).tolist()
    for iteration, loss in enumerate(losses, first):
        if not math.isfinite(loss):
            raise MethodFailed(f"the loss is {loss} at iteration {iteration}")
    return losses
