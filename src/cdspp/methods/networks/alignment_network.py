"""SSAN's network and its loss, by torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from cdspp.methods.base import Float, Problem
from cdspp.methods.networks.layers import (
    Batch,
    Encoder,
    Layer,
    Network,
    RowLayer,
    Setup,
    class_means,
    cross_entropy,
    train,
)
from cdspp.methods.networks.networks import Trained, rows_cost_less

LENGTH_FLOOR = 1e-12


@dataclass(frozen=True, eq=False)
class AlignmentNetwork(Network):
    """The network; a `model` is the `SSAN` whose parameters weigh its loss."""

    discriminator: Layer

    @classmethod
    def fit_on(cls, setup: Setup, problem: Problem, model: Any) -> Trained:
        """Draw a network and train it."""
        network = cls.draw(problem, model.n_components, setup)
        first = network.source.first.inputs, network.target.first.inputs
        batch = Batch(problem.map_rows(*first), setup)
        optimiser = torch.optim.SGD(
            [values for layer in network.layers for values in layer.parameters],
            lr=model.learning_rate,
            momentum=0.9,
            nesterov=True,
            weight_decay=model.weight_decay,
            fused=setup.fused_steps,
        )

        def loss(iteration: int) -> Tensor:
            reversal = math.tanh(5.0 * iteration / model.max_iter)
            return network.loss(batch, reversal, model)

        return network.trained(train(loss, optimiser, model.max_iter))

    @classmethod
    def draw(
        cls, problem: Problem, n_components: int, setup: Setup
    ) -> AlignmentNetwork:
        """Draw all weights, in the order of the released code."""
        X_target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        source = _draw_encoder(problem.X_source, n_components, setup)
        target = _draw_encoder(X_target, n_components, setup)
        (first,) = _draw_layers(setup, (n_components, problem.n_classes))
        (second,) = _draw_layers(setup, (n_components, 1))
        return cls(source, target, Layer(*first, setup), Layer(*second, setup))

    def loss(self, batch: Batch, reversal: float, model: Any) -> Tensor:
        """Return the loss; `reversal` scales the discriminator's reversed gradient."""
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        O_source, O_target = self.classifier(Z_source), self.classifier(Z_target)
        O_labelled = O_target[: len(batch.Y_labelled)]
        known = cross_entropy(O_source.log_softmax(dim=1), batch.Y_source)
        hard = cross_entropy(O_labelled.log_softmax(dim=1), batch.Y_labelled)
        # The cross entropy with the source's mean prediction for each class.
        softly = (O_source / model.temperature).softmax(dim=1)
        logarithms = (O_labelled.softmax(dim=1) + 1e-5).log()
        expected = class_means(batch.Y_source, softly)
        soft = -(expected * class_means(batch.Y_labelled, logarithms)).sum()
        gaps: Tensor = model.beta * _centroid_loss(Z_source, Z_target, O_target, batch)
        loss: Tensor = known + (1.0 - model.alpha) * hard + model.alpha * soft
        domain: Tensor = model.gamma * self._domain_loss(Z_source, Z_target, reversal)
        return loss + domain + gaps

    def _domain_loss(
        self, Z_source: Tensor, Z_target: Tensor, reversal: float
    ) -> Tensor:
        """Return the cross entropy of the discriminator, source rows being ones."""
        codes = Z_source, Z_target
        weight, bias = self.discriminator.weight[0], self.discriminator.bias
        fixed = torch.cat([Z.detach() @ weight for Z in codes])
        moving = torch.cat([Z @ weight.detach() for Z in codes])
        # The second term is zero, with the gradient of -reversal * Z.
        logits = fixed + bias - reversal * (moving - moving.detach())
        is_source = torch.arange(len(logits), device=logits.device) < len(Z_source)
        truth = is_source.to(logits.dtype)
        return functional.binary_cross_entropy_with_logits(logits, truth)


def _centroid_loss(
    Z_source: Tensor, Z_target: Tensor, O_target: Tensor, batch: Batch
) -> Tensor:
    """Return the squared distances among the class means of source, target and both.

    With the share w of the target in the rows of a class, the mean of both lies on the
    line between the others: the distances add up to 1 + w^2 + (1 - w)^2 times one.
    """
    n_labelled = len(batch.Y_labelled)
    Z_labelled, Z_unlabelled = Z_target[:n_labelled], Z_target[n_labelled:]
    n_source, n_target = batch.Y_source.sum(dim=0), batch.Y_labelled.sum(dim=0)
    source_sums = batch.Y_source.T @ Z_source
    target_sums = batch.Y_labelled.T @ Z_labelled
    centres = (source_sums + target_sums) / (n_source + n_target)[:, None]
    # An unlabelled row counts where the network and the nearest centre agree.
    units = functional.normalize(centres.detach(), dim=1, eps=1e-8)
    nearest = (Z_unlabelled.detach() @ units.T).argmax(dim=1)
    predicted = O_target[n_labelled:].argmax(dim=1)
    indicator = functional.one_hot(predicted, len(centres))
    agreed = (indicator * (nearest == predicted)[:, None]).to(Z_target.dtype)
    target_sums = target_sums + agreed.T @ Z_unlabelled
    n_target = n_target + agreed.sum(dim=0)
    gaps = source_sums / n_source[:, None] - target_sums / n_target[:, None]
    share = n_target / (n_source + n_target)
    weights = 1.0 + share.square() + (1.0 - share).square()
    return (weights * gaps.square().sum(dim=1)).sum()


def _draw_encoder(X: Float, n_components: int, setup: Setup) -> Encoder:
    n, d = X.shape
    hidden = (d + n_components) // 2
    first, second = _draw_layers(setup, (d, hidden), (hidden, n_components))
    lower = RowLayer(*first, setup, X) if rows_cost_less(n, d) else Layer(*first, setup)
    return Encoder(lower, Layer(*second, setup), LENGTH_FLOOR)


def _draw_layers(setup: Setup, *shapes: tuple[int, int]) -> list[tuple[Tensor, Tensor]]:
    """Draw weight and bias of layers (n_in, n_out) that are built together."""
    # torch fills new layers itself; the released code then draws again.
    skipped = sum((n_in + 1) * n_out for n_in, n_out in shapes)
    torch.rand(skipped, dtype=setup.dtype, device="cpu", generator=setup.generator)
    return [(setup.normal(n_out, n_in), setup.normal(n_out)) for n_in, n_out in shapes]
