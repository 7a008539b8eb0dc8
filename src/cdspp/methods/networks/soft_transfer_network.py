"""The networks of STN and JMEA and their losses, by torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from cdspp.methods.base import Problem
from cdspp.methods.networks.layers import (
    FIRST_SCALE,
    Batch,
    Encoder,
    Layer,
    Network,
    Setup,
    class_means,
    cross_entropy,
    train,
)
from cdspp.methods.networks.networks import Trained

DECAY_RATES = (0.9, 0.999)
EPSILON = 1e-8
LENGTH_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class SoftTransferNetwork(Network):
    """The network of STN; a `model` is the estimator whose parameters weigh the loss.

    The `sizes` are the widths of source, target and codes, and the number of classes.
    """

    @classmethod
    def draw(cls, sizes: Sequence[int], setup: Setup) -> SoftTransferNetwork:
        """Draw all weights, then all biases, in the order of the released code."""
        *widths, k, n_classes = sizes
        of_domains = [((d, (d + k) // 2), ((d + k) // 2, k)) for d in widths]
        shapes = *of_domains[0], *of_domains[1], (k, n_classes)
        weights = [truncated_normal(setup, *shape).T for shape in shapes]
        biases = [truncated_normal(setup, n_out) for _, n_out in shapes]
        layers = [Layer(w, b, setup) for w, b in zip(weights, biases, strict=True)]
        source = Encoder(layers[0], layers[1], LENGTH_FLOOR)
        target = Encoder(layers[2], layers[3], LENGTH_FLOOR)
        return cls(source, target, layers[4])

    @classmethod
    def fit_on(cls, setup: Setup, problem: Problem, model: Any) -> Trained:
        """Draw a network and train it."""
        widths = problem.X_source.shape[1], problem.X_labelled.shape[1]
        network = cls.draw((*widths, model.n_components, problem.n_classes), setup)
        batch = Batch(problem, setup)
        # The optimiser adds the gradient of the regulariser itself.
        weights, biases = zip(*(w.parameters for w in network.layers), strict=True)
        groups = [{"params": weights, "weight_decay": model.tau}, {"params": biases}]
        optimiser = torch.optim.Adam(
            groups, lr=model.learning_rate, betas=DECAY_RATES, fused=setup.fused_steps
        )

        def loss(iteration: int) -> Tensor:
            # TensorFlow adds epsilon before it corrects the second moment.
            correction = math.sqrt(1.0 - DECAY_RATES[1] ** (iteration + 1))
            for group in optimiser.param_groups:
                group["eps"] = EPSILON / correction
            penalty: Tensor = model.tau * network.penalty()
            return network.loss(batch, iteration, model) + penalty

        return network.trained(train(loss, optimiser, model.max_iter))

    def loss(self, batch: Batch, iteration: int, model: Any) -> Tensor:
        """Return the loss without the regulariser."""
        known = torch.cat([batch.Y_source, batch.Y_labelled])
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        logits = self.classifier(torch.cat([Z_source, Z_target]))
        log_probabilities = logits.log_softmax(dim=1)
        fit = cross_entropy(log_probabilities[: len(known)], known)
        softly = iteration / model.max_iter * log_probabilities[len(known) :].exp()
        gaps: Tensor = model.beta * mean_gaps(Z_source, Z_target, softly, batch)
        return fit + gaps

    @torch.no_grad()
    def penalty(self) -> Tensor:
        """Return half the sum of all squared weights, without a gradient."""
        norms = [torch.linalg.vector_norm(w.parameters[0]) for w in self.layers]
        return torch.stack(norms).square().sum() / 2


def mean_gaps(
    Z_source: Tensor, Z_target: Tensor, softly: Tensor, batch: Batch
) -> Tensor:
    """Return the squared distances of the means of all rows and of each class."""
    Y = batch.Y_labelled
    sums = Y.T @ Z_target[: len(Y)] + softly.T @ Z_target[len(Y) :]
    sizes = Y.sum(dim=0) + softly.sum(dim=0)
    gap = Z_source.mean(dim=0) - Z_target.mean(dim=0)
    gaps = class_means(batch.Y_source, Z_source) - sums / sizes[:, None]
    return gap.square().sum() + gaps.square().sum()


def truncated_normal(setup: Setup, *shape: int) -> Tensor:
    """Draw from the normal distribution, values beyond two deviations again."""
    values = setup.normal(*shape)
    while (outside := values.abs() > 2 * FIRST_SCALE).any():
        values = setup.normal(*shape).where(outside, values)
    return values


@dataclass(frozen=True, eq=False)
class JointNetwork(SoftTransferNetwork):
    """The network of JMEA, with a second classifier, only for the target."""

    second: Layer

    @classmethod
    def draw(cls, sizes: Sequence[int], setup: Setup) -> JointNetwork:
        """Draw STN's weights and biases, then those of the second, twice as wide."""
        first = SoftTransferNetwork.draw(sizes, setup)
        weight = 2.0 * truncated_normal(setup, *sizes[2:]).T
        second = Layer(weight, 2.0 * truncated_normal(setup, sizes[3]), setup)
        return cls(first.source, first.target, first.classifier, second)

    def trained(self, losses: list[float]) -> Trained:
        """Return the network in arrays, with the classifier of the target."""
        return replace(super().trained(losses), classifier=self.second.trained())

    def loss(self, batch: Batch, iteration: int, model: Any) -> Tensor:
        """Return the loss without the regulariser."""
        n_labelled = len(batch.Y_labelled)
        part = min((iteration + model.start) / model.max_iter, 1.0)
        n_selected = int(part * (batch.X_target.shape[0] - n_labelled))
        share = iteration / model.max_iter
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        first = self.classifier(torch.cat([Z_source, Z_target])).log_softmax(dim=1)
        second = self.second(Z_target).log_softmax(dim=1)
        known = torch.cat([batch.Y_source, batch.Y_labelled])
        loss = cross_entropy(first[: len(known)], known)
        own_loss = cross_entropy(second[:n_labelled], batch.Y_labelled)
        Z_labelled, Z = Z_target[:n_labelled], Z_target[n_labelled:]
        P_first, P_second = first[len(known) :].exp(), second[n_labelled:].exp()
        by_second = P_second.max(dim=1).values.topk(n_selected).indices
        by_first = P_first.max(dim=1).values.topk(n_selected).indices
        target = torch.cat([Z_labelled, Z[by_second]])
        across = mean_gaps(Z_source, target, share * P_second[by_second], batch)
        within = torch.zeros_like(across)
        if n_selected:
            Z, softly = Z[by_first], share * P_first[by_first]
            means = class_means(batch.Y_labelled, Z_labelled)
            # As released, one more in the size draws the mean of few rows towards zero.
            others = softly.T @ Z / (softly.sum(dim=0) + 1.0)[:, None]
            marginal = (Z_labelled.mean(dim=0) - Z.mean(dim=0)).square().sum()
            within = marginal + (means - others).square().sum()
        distances = model.beta * across + model.beta * model.target_weight * within
        total: Tensor = loss + distances + model.second_weight * own_loss
        return total
