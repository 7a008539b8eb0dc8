"""Where a network is trained: device, precision and seed; products and rectifier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from cdspp.core.provenance import hardware
from cdspp.methods.base import Float
from cdspp.methods.networks.trained_network import LEAKY_SLOPE

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["FIRST_SCALE", "Site", "product", "rectify"]

FIRST_SCALE = 0.01


@dataclass(frozen=True, eq=False)
class Site:
    """Where and how precisely a network is trained, and its random numbers.

    The generator is the network's own and lives on the processor: the first weights are
    the same on every device, and torch's global state plays no part.
    """

    device: torch.device
    dtype: torch.dtype
    generator: torch.Generator

    @classmethod
    def open(cls, device: str, random_state: Any, *, double: bool = False) -> Site:
        """Resolve a device's name and seed a generator; an integer is the seed itself.

        ``auto`` takes CUDA where there is one; `ValueError` where this torch does not
        have the device. A `double` site computes in float64 in place of float32.
        """
        import torch

        if isinstance(random_state, Integral):
            seed = int(random_state)
        else:
            seed = int(check_random_state(random_state).randint(2**31 - 1))
        generator = torch.Generator(device="cpu").manual_seed(seed)
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        else:
            try:
                torch.ones(1, device=device).item()
            except (RuntimeError, AssertionError) as error:
                raise ValueError(
                    "device must be auto or a device that this torch has, got "
                    f'{device!r}. Use device="auto".'
                ) from error
        dtype = torch.float64 if double else torch.float32
        return cls(torch.device(device), dtype, generator)

    @property
    def fuses(self) -> bool:
        """Whether torch's optimisers update all weights in one pass here."""
        return self.device.type in {"cpu", "cuda"}

    def normal(self, *shape: int) -> Tensor:
        """Draw first values of weights, on the processor."""
        return self._empty(*shape).normal_(0.0, FIRST_SCALE, generator=self.generator)

    def skip(self, count: int) -> None:
        """Draw `count` uniform numbers that nobody needs."""
        self._empty(count).uniform_(generator=self.generator)

    def _empty(self, *shape: int) -> Tensor:
        import torch

        return torch.empty(shape, dtype=self.dtype, device="cpu")

    def place(self, values: Float | Tensor) -> Tensor:
        """Copy an array or tensor to the device."""
        import torch

        tensor = torch.from_numpy(values) if isinstance(values, np.ndarray) else values
        return tensor.to(device=self.device, dtype=self.dtype, copy=True)

    def place_rows(self, X: Float) -> Tensor:
        """Copy rows to the device, laid out as `product` takes them."""
        return _laid_out(self.place(X))

    def parameter(self, values: Float | Tensor) -> Tensor:
        """Copy first values to the device, to be trained."""
        return self.place(values).contiguous().requires_grad_()

    @contextmanager
    def arithmetic(self) -> Iterator[None]:
        """Shield the block from what the caller set in torch: precision, gradients."""
        import torch

        before = torch.get_float32_matmul_precision()
        with ExitStack() as stack:
            stack.callback(torch.set_float32_matmul_precision, before)
            torch.set_float32_matmul_precision("highest")
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            stack.enter_context(torch.autocast(self.device.type, enabled=False))
            yield


def product(X: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``X @ weight.T + bias``, in float32 by oneDNN where that is quicker.

    MKL, which torch takes otherwise, is a quarter quicker on Intel's processors and
    half as quick on others. `Site.place_rows` saves a copy of rows that stay.
    """
    from torch.nn import functional

    outputs = functional.linear(_laid_out(X), weight, bias)
    return outputs.to_dense() if outputs.is_mkldnn else outputs


def _laid_out(X: Tensor) -> Tensor:
    """Return rows as oneDNN takes them, where it does."""
    import torch

    fits = X.device.type == "cpu" and X.dtype == torch.float32 and not X.is_mkldnn
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return X.to_mkldnn() if fits and there and not _is_intel() else X


@cache
def _is_intel() -> bool:
    return "Intel" in hardware()["processor"]


def rectify(outputs: Tensor) -> Tensor:
    """Apply the leaky rectifier in place."""
    from torch.nn import functional

    return functional.leaky_relu_(outputs, LEAKY_SLOPE)
