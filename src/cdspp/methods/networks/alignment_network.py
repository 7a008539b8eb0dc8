"""SSAN's objective: classification, soft labels, domains, class means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdspp.methods.networks.networks import Batch, Encoder, Layer

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["AlignmentNetwork", "LossWeights"]

LENGTH_FLOOR = 1e-12
CENTRE_FLOOR = 1e-8
PROBABILITY_FLOOR = 1e-5


@dataclass(frozen=True)
class LossWeights:
    """The parts of the loss: see the parameters of `SSAN`."""

    temperature: float
    alpha: float
    beta: float
    gamma: float


@dataclass(frozen=True, eq=False)
class AlignmentNetwork:
    """Both encoders, the common classifier and the linear domain discriminator."""

    source: Encoder
    target: Encoder
    classifier: Layer
    discriminator: Layer

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases."""
        parts = (self.source, self.target, self.classifier, self.discriminator)
        return [values for part in parts for values in part.parameters]

    def loss(self, batch: Batch, reversal: float, weights: LossWeights) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        batch : Batch
            All rows.
        reversal : float
            Factor of the gradient that reaches the encoders reversed.
        weights : LossWeights
            What the parts weigh.
        """
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        O_source, O_target = self.classifier(Z_source), self.classifier(Z_target)
        O_labelled = O_target[: len(batch.Y_labelled)]
        hard = _cross_entropy(O_labelled, batch.Y_labelled)
        soft = _soft_label_loss(O_source, O_labelled, batch, weights.temperature)
        explicit = _centroid_loss(Z_source, Z_target, O_target, batch)
        return (
            _cross_entropy(O_source, batch.Y_source)
            + (1.0 - weights.alpha) * hard
            + weights.alpha * soft
            + weights.gamma * self._domain_loss(Z_source, Z_target, reversal)
            + weights.beta * explicit
        )

    def _domain_loss(
        self, Z_source: Tensor, Z_target: Tensor, reversal: float
    ) -> Tensor:
        """Return the cross entropy of the discriminator, source rows being ones."""
        import torch
        from torch.nn import functional

        codes = Z_source, Z_target
        weight, bias = self.discriminator.weight[0], self.discriminator.bias
        fixed = torch.cat([Z.detach() @ weight for Z in codes])
        moving = torch.cat([Z @ weight.detach() for Z in codes])
        # The second term is zero, with the gradient of -reversal * Z.
        logits = fixed + bias - reversal * (moving - moving.detach())
        is_source = torch.arange(len(logits), device=logits.device) < len(Z_source)
        return functional.binary_cross_entropy_with_logits(
            logits, is_source.to(logits.dtype)
        )


def _cross_entropy(logits: Tensor, Y: Tensor) -> Tensor:
    return -(Y * logits.log_softmax(dim=1)).sum() / len(Y)


def _soft_label_loss(
    O_source: Tensor, O_labelled: Tensor, batch: Batch, temperature: float
) -> Tensor:
    """Return the cross entropy with the source's mean prediction for each class."""
    Y_source, Y_labelled = batch.Y_source, batch.Y_labelled
    sums = Y_source.T @ (O_source / temperature).softmax(dim=1)
    expected = sums / Y_source.sum(dim=0)[:, None]
    logarithms = (O_labelled.softmax(dim=1) + PROBABILITY_FLOOR).log()
    means = Y_labelled.T @ logarithms / Y_labelled.sum(dim=0)[:, None]
    return -(expected * means).sum()


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
    agreed = _agreed_labels(Z_unlabelled, O_target[n_labelled:], centres)
    target_sums = target_sums + agreed.T @ Z_unlabelled
    n_target = n_target + agreed.sum(dim=0)
    gaps = source_sums / n_source[:, None] - target_sums / n_target[:, None]
    share = n_target / (n_source + n_target)
    weights = 1.0 + share.square() + (1.0 - share).square()
    return (weights * gaps.square().sum(dim=1)).sum()


def _agreed_labels(Z: Tensor, logits: Tensor, centres: Tensor) -> Tensor:
    """Return class indicators, zero where network and nearest centre disagree."""
    from torch.nn import functional

    units = functional.normalize(centres.detach(), dim=1, eps=CENTRE_FLOOR)
    nearest = (Z.detach() @ units.T).argmax(dim=1)
    predicted = logits.argmax(dim=1)
    indicator = functional.one_hot(predicted, len(centres))
    return (indicator * (nearest == predicted)[:, None]).to(Z.dtype)
