"""A first layer that is trained on the products of a domain's rows with one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cdspp.methods.base import Float
from cdspp.methods.networks.site import Site, product, rectify
from cdspp.methods.networks.trained_network import TrainedLayer

__all__ = ["RowLayer"]


@dataclass(frozen=True, eq=False)
class RowLayer:
    r"""A layer whose weights are sums of the rows that it is trained on.

    The gradient of a first layer's weights W is G' X, with that of its outputs, G, and
    all rows, X. So gradient descent with momentum and weight decay keeps the form

    .. math:: W = s W_0 + B^\top X

    where the first weights are left to their decay, s, and B is trained by the gradient
    G itself: outputs are :math:`s X W_0^\top + (X X^\top) B`. This is one product of
    n^2 h multiplications a step in place of two of n d h, for n rows, d features and h
    outputs. A bias is the weight of a feature that is one everywhere.

    The fields are B as `coefficients`, s as `share` (its gradient is its own decay
    alone), X as `rows`, the `first` weights and biases, and their outputs as `start`.
    """

    coefficients: Tensor
    share: Tensor
    start: Tensor
    rows: Float
    first: TrainedLayer

    @classmethod
    def of(cls, X: Float, weight: Tensor, bias: Tensor, site: Site) -> RowLayer:
        """Return the layer of the rows `X` with its first weights and biases."""
        first = TrainedLayer(weight.numpy(), bias.numpy())
        start = site.place(X @ first.weight.T + first.bias)
        coefficients = torch.zeros_like(start).requires_grad_()
        return cls(coefficients, site.parameter(np.ones(1)), start, X, first)

    @property
    def parameters(self) -> list[Tensor]:
        """What is trained."""
        return [self.coefficients, self.share]

    def inputs(self, X: Float) -> Float:
        """Return what the layer takes for rows: their products with all rows."""
        products = X @ self.rows.T + 1.0
        return products.astype(self.first.weight.dtype)

    def __call__(self, X: Tensor) -> Tensor:
        """Return the layer's output for all rows."""
        given = X, self.coefficients, self.share, self.start
        return rectify(_SumsOfRows.apply(*given))  # type: ignore[no-untyped-call]

    def trained(self) -> TrainedLayer:
        """Return the layer of features in arrays."""
        B, share = (w.detach().cpu().numpy() for w in self.parameters)
        weight = share * self.first.weight + B.T @ self.rows
        bias = share * self.first.bias + B.sum(axis=0, dtype=np.float64)
        return TrainedLayer(weight.astype(B.dtype), bias.astype(B.dtype))


class _SumsOfRows(torch.autograd.Function):
    """Outputs of a `RowLayer`; the coefficients' gradient is that of the outputs."""

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
