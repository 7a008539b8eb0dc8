"""The networks of SSAN, STN and JMEA and their losses, in torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from cdspp.methods.base import Float, Int, Problem
from cdspp.methods.networks import layers
from cdspp.methods.networks.layers import (
    Batch,
    Encoder,
    Layer,
    Network,
    RowLayer,
    TrainingContext,
)
from cdspp.methods.networks.trained import Trained, rows_cost_less

# Smallest lengths by which codes are divided, as in the released programs.
ALIGNMENT_FLOOR, TRANSFER_FLOOR = 1e-12, 1e-6
DECAY_RATES = (0.9, 0.999)
EPSILON = 1e-8


@dataclass(frozen=True, eq=False)
class AlignmentNetwork(Network):
    """The network of SSAN; `model` is the `SSAN` with the weights of its loss."""

    discriminator: Layer

    @classmethod
    def fit_on(cls, setup: TrainingContext, problem: Problem, model: Any) -> Trained:
        """Draw initial weights, train the network, and return it as arrays."""
        network = cls.draw(problem, model.n_components, setup)
        first = network.source.first.inputs, network.target.first.inputs
        batch = Batch(problem.map_rows(*first), setup)
        optimiser = torch.optim.SGD(
            [values for layer in network.layers for values in layer.parameters],
            lr=model.learning_rate,
            momentum=0.9,
            nesterov=True,
            weight_decay=model.weight_decay,
            fused=True,
        )

        def loss(iteration: int) -> Tensor:
            reversal = math.tanh(5.0 * iteration / model.max_iter)
            return network.loss(batch, reversal, model)

        return network.trained(layers.train(loss, optimiser, model.max_iter))

    @classmethod
    def draw(
        cls, problem: Problem, n_components: int, setup: TrainingContext
    ) -> AlignmentNetwork:
        """Draw all weights, in the order of the released code."""
        X_target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        source = _draw_encoder(problem.X_source, n_components, setup)
        target = _draw_encoder(X_target, n_components, setup)
        (first,) = _draw_layers(setup, (n_components, problem.n_classes))
        (second,) = _draw_layers(setup, (n_components, 1))
        return cls(source, target, Layer(*first, setup), Layer(*second, setup))

    def loss(self, batch: Batch, reversal: float, model: Any) -> Tensor:
        """Return the loss; `reversal` scales the reversed discriminator gradient."""
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        O_source, O_target = self.classifier(Z_source), self.classifier(Z_target)
        O_labelled = O_target[: len(batch.Y_labelled)]
        source_loss = layers.cross_entropy(O_source.log_softmax(dim=1), batch.Y_source)
        hard = layers.cross_entropy(O_labelled.log_softmax(dim=1), batch.Y_labelled)
        # Cross entropy with the mean prediction of the source for each class.
        soft_outputs = (O_source / model.temperature).softmax(dim=1)
        logarithms = (O_labelled.softmax(dim=1) + 1e-5).log()
        targets = layers.class_means(batch.Y_source, soft_outputs)
        soft = -(targets * layers.class_means(batch.Y_labelled, logarithms)).sum()
        gaps: Tensor = model.beta * _centroid_loss(Z_source, Z_target, O_target, batch)
        loss: Tensor = source_loss + (1.0 - model.alpha) * hard + model.alpha * soft
        domain = self._domain_loss((Z_source, Z_target), batch, reversal)
        loss = loss + model.gamma * domain
        return loss + gaps

    def _domain_loss(self, Z: Sequence[Tensor], batch: Batch, scale: float) -> Tensor:
        """Return the cross entropy of the discriminator, with source rows as ones."""
        weight, bias = self.discriminator.weight[0], self.discriminator.bias
        fixed_logits = torch.cat([part.detach() @ weight for part in Z])
        moving_logits = torch.cat([part @ weight.detach() for part in Z])
        # The second term has the value zero but the gradient of -scale * Z.
        logits = fixed_logits + bias - scale * (moving_logits - moving_logits.detach())
        return functional.binary_cross_entropy_with_logits(logits, batch.is_source)


def _centroid_loss(
    Z_source: Tensor, Z_target: Tensor, O_target: Tensor, batch: Batch
) -> Tensor:
    """Return the squared distances among the class means of source, target and both.

    The mean of both lies between the other two, at the target's share w of the rows of
    a class. The squared distances thus sum to 1 + w^2 + (1 - w)^2 times the first one.
    """
    n_labelled = len(batch.Y_labelled)
    Z_labelled, Z_unlabelled = Z_target[:n_labelled], Z_target[n_labelled:]
    n_source, n_target = batch.Y_source.sum(dim=0), batch.Y_labelled.sum(dim=0)
    source_sums = batch.Y_source.T @ Z_source
    target_sums = batch.Y_labelled.T @ Z_labelled
    centres = (source_sums + target_sums) / (n_source + n_target)[:, None]
    # An unlabelled row counts if the network and the nearest centre agree on it.
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


def _draw_encoder(X: Float, n_components: int, setup: TrainingContext) -> Encoder:
    n, d = X.shape
    hidden = (d + n_components) // 2
    first, second = _draw_layers(setup, (d, hidden), (hidden, n_components))
    lower = RowLayer(*first, setup, X) if rows_cost_less(n, d) else Layer(*first, setup)
    return Encoder(lower, Layer(*second, setup), ALIGNMENT_FLOOR)


def _draw_layers(
    setup: TrainingContext, *shapes: tuple[int, int]
) -> list[tuple[Tensor, Tensor]]:
    """Draw weights and biases of layers (n_in, n_out) that are created together."""
    # torch initialises new layers itself; the released code then draws again.
    skipped = sum((n_in + 1) * n_out for n_in, n_out in shapes)
    torch.rand(skipped, dtype=setup.dtype, device="cpu", generator=setup.generator)
    return [(setup.normal(n_out, n_in), setup.normal(n_out)) for n_in, n_out in shapes]


def adam(parts: Sequence[Layer | RowLayer], model: Any) -> torch.optim.Adam:
    """Return an Adam optimiser of layers that includes the gradient of `penalty`."""
    weights, biases = zip(*(part.parameters for part in parts), strict=True)
    groups = [{"params": weights, "weight_decay": model.tau}, {"params": biases}]
    return torch.optim.Adam(
        groups, lr=model.learning_rate, betas=DECAY_RATES, fused=True
    )


def correct_epsilon(optimiser: torch.optim.Adam, iteration: int) -> None:
    """Let Adam add epsilon as TensorFlow does: before bias correction."""
    correction = math.sqrt(1.0 - DECAY_RATES[1] ** (iteration + 1))
    for group in optimiser.param_groups:
        group["eps"] = EPSILON / correction


@torch.no_grad()
def penalty(parts: Sequence[Layer | RowLayer]) -> Tensor:
    """Return half the sum of all squared weights, without a gradient."""
    norms = [torch.linalg.vector_norm(part.parameters[0]) for part in parts]
    return torch.stack(norms).square().sum() / 2


@dataclass(frozen=True, eq=False)
class SoftTransferNetwork(Network):
    """The network of STN; `model` is the estimator with the weights of its loss.

    `sizes` are the widths of source, target and codes, and the number of classes.
    """

    @classmethod
    def draw(cls, sizes: Sequence[int], setup: TrainingContext) -> SoftTransferNetwork:
        """Draw all weights, then all biases, in the order of the released code."""
        *widths, k, n_classes = sizes
        of_domains = [((d, (d + k) // 2), ((d + k) // 2, k)) for d in widths]
        shapes = *of_domains[0], *of_domains[1], (k, n_classes)
        weights = [truncated_normal(setup, *shape).T for shape in shapes]
        biases = [truncated_normal(setup, n_out) for _, n_out in shapes]
        parts = [Layer(w, b, setup) for w, b in zip(weights, biases, strict=True)]
        source = Encoder(parts[0], parts[1], TRANSFER_FLOOR)
        target = Encoder(parts[2], parts[3], TRANSFER_FLOOR)
        return cls(source, target, parts[4])

    @classmethod
    def fit_on(cls, setup: TrainingContext, problem: Problem, model: Any) -> Trained:
        """Draw initial weights, train the network, and return it as arrays."""
        widths = problem.X_source.shape[1], problem.X_labelled.shape[1]
        network = cls.draw((*widths, model.n_components, problem.n_classes), setup)
        batch = Batch(problem, setup)
        optimiser = adam(network.layers, model)

        def loss(iteration: int) -> Tensor:
            correct_epsilon(optimiser, iteration)
            weighted: Tensor = model.tau * penalty(network.layers)
            return network.loss(batch, iteration, model) + weighted

        return network.trained(layers.train(loss, optimiser, model.max_iter))

    def loss(self, batch: Batch, iteration: int, model: Any) -> Tensor:
        """Return the loss without the regulariser."""
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        logits = self.classifier(torch.cat([Z_source, Z_target]))
        log_probabilities = logits.log_softmax(dim=1)
        fit = layers.cross_entropy(log_probabilities[: len(batch.Y)], batch.Y)
        Y_soft = iteration / model.max_iter * log_probabilities[len(batch.Y) :].exp()
        gaps: Tensor = model.beta * mean_gaps(Z_source, Z_target, Y_soft, batch)
        return fit + gaps


def mean_gaps(Z_source: Tensor, Z_target: Tensor, soft: Tensor, batch: Batch) -> Tensor:
    """Return the squared distances between domains of overall and class means."""
    Y = batch.Y_labelled
    sums = Y.T @ Z_target[: len(Y)] + soft.T @ Z_target[len(Y) :]
    sizes = Y.sum(dim=0) + soft.sum(dim=0)
    gap = Z_source.mean(dim=0) - Z_target.mean(dim=0)
    gaps = layers.class_means(batch.Y_source, Z_source) - sums / sizes[:, None]
    return gap.square().sum() + gaps.square().sum()


def truncated_normal(setup: TrainingContext, *shape: int) -> Tensor:
    """Draw from a normal distribution, redrawing values beyond two deviations."""
    values = setup.normal(*shape)
    while (is_outlier := values.abs() > 2 * layers.INITIAL_SCALE).any():
        values = setup.normal(*shape).where(is_outlier, values)
    return values


@dataclass(frozen=True, eq=False)
class JointNetwork(SoftTransferNetwork):
    """The network of JMEA, with a second classifier for the target only."""

    target_classifier: Layer

    @classmethod
    def draw(cls, sizes: Sequence[int], setup: TrainingContext) -> JointNetwork:
        """Draw STN's parameters, and a second classifier with twice the deviation."""
        first = SoftTransferNetwork.draw(sizes, setup)
        weight = 2.0 * truncated_normal(setup, *sizes[2:]).T
        second = Layer(weight, 2.0 * truncated_normal(setup, sizes[3]), setup)
        return cls(first.source, first.target, first.classifier, second)

    def trained(self, losses: list[float]) -> Trained:
        """Return the trained network as arrays, with the classifier of the target."""
        classifier = self.target_classifier.trained()
        return replace(super().trained(losses), classifier=classifier)

    def loss(self, batch: Batch, iteration: int, model: Any) -> Tensor:
        """Return the loss without the regulariser."""
        n_labelled = len(batch.Y_labelled)
        part = min((iteration + model.start) / model.max_iter, 1.0)
        n_selected = int(part * (batch.X_target.shape[0] - n_labelled))
        share = iteration / model.max_iter
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        first = self.classifier(torch.cat([Z_source, Z_target])).log_softmax(dim=1)
        second = self.target_classifier(Z_target).log_softmax(dim=1)
        loss = layers.cross_entropy(first[: len(batch.Y)], batch.Y)
        own_loss = layers.cross_entropy(second[:n_labelled], batch.Y_labelled)
        Z_labelled, Z = Z_target[:n_labelled], Z_target[n_labelled:]
        P_first, P_second = first[len(batch.Y) :].exp(), second[n_labelled:].exp()
        by_second = P_second.max(dim=1).values.topk(n_selected).indices
        by_first = P_first.max(dim=1).values.topk(n_selected).indices
        target = torch.cat([Z_labelled, Z[by_second]])
        between = mean_gaps(Z_source, target, share * P_second[by_second], batch)
        within = torch.zeros_like(between)
        if n_selected:
            Z, Y_soft = Z[by_first], share * P_first[by_first]
            means = layers.class_means(batch.Y_labelled, Z_labelled)
            # As in the released code, one more in the size shrinks means of few rows.
            soft_means = Y_soft.T @ Z / (Y_soft.sum(dim=0) + 1.0)[:, None]
            marginal = (Z_labelled.mean(dim=0) - Z.mean(dim=0)).square().sum()
            within = marginal + (means - soft_means).square().sum()
        distances = model.beta * between + model.beta * model.target_weight * within
        total: Tensor = loss + distances + model.second_weight * own_loss
        return total


def fit_target_network(
    setup: TrainingContext, X: Float, codes: Int, model: Any
) -> tuple[Layer, Layer, list[float]]:
    """Return both layers of a trained `NNT`, and the loss before each iteration.

    The output layer is used without its rectifier.
    """
    n_classes = int(codes.max()) + 1
    shapes = (X.shape[1], model.n_components), (model.n_components, n_classes)
    weights = [truncated_normal(setup, *shape).T for shape in shapes]
    biases = [truncated_normal(setup, n_out) for _, n_out in shapes]
    hidden, output = map(Layer, weights, biases, [setup, setup])
    rows, Y = layers.to_mkldnn(setup.tensor(X)), setup.tensor(np.eye(n_classes)[codes])
    optimiser = adam([hidden, output], model)

    def loss(iteration: int) -> Tensor:
        correct_epsilon(optimiser, iteration)
        scores = layers.product(hidden(rows), output.weight, output.bias)
        entropy = layers.cross_entropy(scores.log_softmax(dim=1), Y)
        weighted: Tensor = model.tau * penalty([hidden, output])
        return entropy + weighted

    return hidden, output, layers.train(loss, optimiser, model.max_iter)
