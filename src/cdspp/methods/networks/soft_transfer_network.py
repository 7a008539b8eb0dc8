"""STN's objective: classification, domains, class means with soft labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdspp.methods.networks.networks import Batch, Encoder, Layer
from cdspp.methods.networks.site import FIRST_SCALE, Site

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SoftTransferNetwork"]

LENGTH_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class SoftTransferNetwork:
    """The two layers of the source's encoder, of the target's, and the classifier."""

    layers: Sequence[Layer]

    @classmethod
    def draw(
        cls, d_source: int, d_target: int, n_components: int, n_classes: int, site: Site
    ) -> SoftTransferNetwork:
        """Draw all weights, then all biases, in the order of the released code."""
        h_source, h_target = ((d + n_components) // 2 for d in (d_source, d_target))
        shapes = [
            (d_source, h_source),
            (h_source, n_components),
            (d_target, h_target),
            (h_target, n_components),
            (n_components, n_classes),
        ]
        weights = [site.parameter(_cut_normal(site, *shape).T) for shape in shapes]
        biases = [site.parameter(_cut_normal(site, n_out)) for _, n_out in shapes]
        return cls([Layer(w, b) for w, b in zip(weights, biases, strict=True)])

    @property
    def source(self) -> Encoder:
        """The source's encoder."""
        return Encoder(self.layers[0], self.layers[1], LENGTH_FLOOR)

    @property
    def target(self) -> Encoder:
        """The target's encoder."""
        return Encoder(self.layers[2], self.layers[3], LENGTH_FLOOR)

    @property
    def classifier(self) -> Layer:
        """The classifier."""
        return self.layers[4]

    def loss(self, batch: Batch, share: float, beta: float) -> Tensor:
        """Return the loss without the regulariser.

        Parameters
        ----------
        batch : Batch
            All rows.
        share : float
            Weight of an unlabelled row in the class means.
        beta : float
            Weight of the distances between the domains.
        """
        import torch

        known = torch.cat([batch.Y_source, batch.Y_labelled])
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        logits = self.classifier(torch.cat([Z_source, Z_target]))
        log_probabilities = logits.log_softmax(dim=1)
        fit = -(known * log_probabilities[: len(known)]).sum() / len(known)
        marginal = (Z_source.mean(dim=0) - Z_target.mean(dim=0)).square().sum()
        P = log_probabilities[len(known) :].exp()
        conditional = _conditional(Z_source, Z_target, share * P, batch)
        return fit + beta * (marginal + conditional)

    def penalty(self) -> Tensor:
        """Return half the sum of all squared weights, without a gradient."""
        import torch

        with torch.no_grad():
            norms = [torch.linalg.vector_norm(layer.weight) for layer in self.layers]
            return torch.stack(norms).square().sum() / 2


def _conditional(
    Z_source: Tensor, Z_target: Tensor, softly: Tensor, batch: Batch
) -> Tensor:
    """Return the squared distances of class means; `softly` labels unlabelled rows."""
    Y_source, Y_labelled = batch.Y_source, batch.Y_labelled
    n_labelled = len(Y_labelled)
    sums = Y_labelled.T @ Z_target[:n_labelled] + softly.T @ Z_target[n_labelled:]
    sizes = Y_labelled.sum(dim=0) + softly.sum(dim=0)
    source_means = Y_source.T @ Z_source / Y_source.sum(dim=0)[:, None]
    return (source_means - sums / sizes[:, None]).square().sum()


def _cut_normal(site: Site, *shape: int) -> Tensor:
    """Draw from the normal distribution, values beyond two deviations again."""
    values = site.normal(*shape)
    while (outside := values.abs() > 2 * FIRST_SCALE).any():
        values = site.normal(*shape).where(outside, values)
    return values
