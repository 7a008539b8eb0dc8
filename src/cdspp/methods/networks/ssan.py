"""SSAN: a network that aligns what both domains mean in three ways at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from cdspp.methods.base import Float, Problem
from cdspp.methods.networks.networks import (
    Batch,
    Encoder,
    Layer,
    Network,
    NetworkClassifier,
    class_means,
    cross_entropy,
    rows_cost_less,
    train,
)
from cdspp.methods.networks.site import Site
from cdspp.methods.networks.trained_network import Trained
from cdspp.methods.shared.constraints import NON_NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SSAN", "AlignmentNetwork"]

LENGTH_FLOOR = 1e-12
CENTRE_FLOOR = 1e-8
PROBABILITY_FLOOR = 1e-5
MOMENTUM = 0.9
REVERSAL_RATE = 5.0


@dataclass(frozen=True, eq=False)
class AlignmentNetwork(Network):
    """The network, its linear domain discriminator, and its loss."""

    discriminator: Layer

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases."""
        parts = (self.source, self.target, self.classifier, self.discriminator)
        return [values for part in parts for values in part.parameters]

    def loss(self, batch: Batch, reversal: float, model: SSAN) -> Tensor:
        """Return the loss, whose weights are the parameters of the model.

        The gradient of the domains' part reaches the encoders times minus `reversal`.
        """
        Z_source, Z_target = self.source(batch.X_source), self.target(batch.X_target)
        O_source, O_target = self.classifier(Z_source), self.classifier(Z_target)
        O_labelled = O_target[: len(batch.Y_labelled)]
        known = cross_entropy(O_source.log_softmax(dim=1), batch.Y_source)
        hard = cross_entropy(O_labelled.log_softmax(dim=1), batch.Y_labelled)
        # The cross entropy with the source's mean prediction for each class.
        softly = (O_source / model.temperature).softmax(dim=1)
        logarithms = (O_labelled.softmax(dim=1) + PROBABILITY_FLOOR).log()
        expected = class_means(batch.Y_source, softly)
        soft = -(expected * class_means(batch.Y_labelled, logarithms)).sum()
        explicit = _centroid_loss(Z_source, Z_target, O_target, batch)
        return (
            known
            + (1.0 - model.alpha) * hard
            + model.alpha * soft
            + model.gamma * self._domain_loss(Z_source, Z_target, reversal)
            + model.beta * explicit
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
        truth = is_source.to(logits.dtype)
        return functional.binary_cross_entropy_with_logits(logits, truth)


def _centroid_loss(
    Z_source: Tensor, Z_target: Tensor, O_target: Tensor, batch: Batch
) -> Tensor:
    """Return the squared distances among the class means of source, target and both.

    With the share w of the target in the rows of a class, the mean of both lies on the
    line between the others: the distances add up to 1 + w^2 + (1 - w)^2 times one.
    """
    from torch.nn import functional

    n_labelled = len(batch.Y_labelled)
    Z_labelled, Z_unlabelled = Z_target[:n_labelled], Z_target[n_labelled:]
    n_source, n_target = batch.Y_source.sum(dim=0), batch.Y_labelled.sum(dim=0)
    source_sums = batch.Y_source.T @ Z_source
    target_sums = batch.Y_labelled.T @ Z_labelled
    centres = (source_sums + target_sums) / (n_source + n_target)[:, None]
    # An unlabelled row counts where the network and the nearest centre agree.
    units = functional.normalize(centres.detach(), dim=1, eps=CENTRE_FLOOR)
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


def _draw_encoder(X: Float, n_components: int, site: Site) -> Encoder:
    """Draw an encoder for the rows `X`."""
    from cdspp.methods.networks.row_layer import RowLayer

    n, d = X.shape
    hidden = (d + n_components) // 2
    first, second = _draw_layers(site, (d, hidden), (hidden, n_components))
    summed = rows_cost_less(n, d)
    lower = RowLayer.of(X, *first, site) if summed else Layer.of(site, *first)
    return Encoder(lower, Layer.of(site, *second), LENGTH_FLOOR)


def _draw_layers(site: Site, *shapes: tuple[int, int]) -> list[tuple[Tensor, Tensor]]:
    """Draw weight and bias of layers (n_in, n_out) that are built together."""
    # torch fills new layers itself; the released code then draws again.
    site.skip(sum((n_in + 1) * n_out for n_in, n_out in shapes))
    return [(site.normal(n_out, n_in), site.normal(n_out)) for n_in, n_out in shapes]


class SSAN(NetworkClassifier):
    r"""Simultaneous semantic alignment network (SSAN).

    An encoder for each domain and one classifier, trained together on all rows by
    gradient descent with momentum:

    .. math::

        L_s + (1 - \alpha) L_t + \alpha L_{soft} + \gamma L_{adv} + \beta
        \sum_c \bigl( \lVert \mu_{s,c} - \mu_{t,c} \rVert^2
        + \lVert \mu_{s,c} - \mu_c \rVert^2 + \lVert \mu_{t,c} - \mu_c \rVert^2 \bigr)

    with the cross entropies of the labelled rows; that of labelled target rows with the
    mean softened prediction of their class in the source; that of a domain
    discriminator, whose gradient reaches the encoders reversed; and the means of each
    class in the source, in the target and in both. An unlabelled row belongs to a class
    where classifier and nearest class mean agree on it.

    Parameters
    ----------
    n_components : int, default=256
        Dimension of the common space.
    temperature : float, default=5.0
        What the source's outputs are divided by before their softmax gives soft labels.
    alpha : float, default=0.1
        Share of the soft labels in the loss of labelled target rows.
    beta : float, default=0.004
        Weight of the distances among class means.
    gamma : float, default=0.1
        Weight of the discriminator's loss.
    learning_rate : float, default=0.1
        Step of gradient descent, constant.
    weight_decay : float, default=0.001
        Share of each weight and bias that is added to its gradient.
    max_iter : int, default=3000
        Number of iterations, each one step on all rows. The reversed gradient grows
        from nothing to its full size on this scale.
    device : str, default="auto"
    random_state : int, RandomState or None, default=None
        As in every network: see `cdspp.methods.networks.networks.NetworkClassifier`.

    Attributes
    ----------
    classes_, transduction_, history_, n_iter_, n_features_in_, n_features_source_
        As in every network; each class needs a source row and a labelled target row.
    loss_curve_ : list of float
        Loss, without weight decay, before each iteration.

    Notes
    -----
    Encoders and classifier are those of `NetworkClassifier`. Cost
    O(n min(n, d) d + n d k) an iteration and domain: with fewer rows than twice the
    features the first layer is trained on the products of rows with one another, which
    changes nothing, in O(n^2 + n d) memory. The step never shrinks, so single
    iterations can collapse and recover; where the last one does, the log says so. The
    published code reports the best accuracy on the test rows over all iterations, which
    needs their labels; this is the last iteration's. Its domains of equal width share
    one encoder; here each has its own.

    References
    ----------
    .. [1] Li, S., Xie, B., Wu, J., Zhao, Y., Liu, C. H., Ding, Z., "Simultaneous
       semantic alignment network for heterogeneous domain adaptation", ACM Multimedia
       2020. :doi:`10.1145/3394171.3413995`

    Examples
    --------
    >>> from cdspp import SSAN, SourceDomain
    >>> source = SourceDomain([[1.0, 0.0, 0.2], [0.0, 1.0, 0.1]], ["cat", "dog"])
    >>> model = SSAN(max_iter=100, device="cpu", random_state=0)
    >>> model = model.fit([[0.9, 0.1], [0.2, 1.0]], ["cat", "dog"], source=source)
    >>> model.predict([[1.0, 0.3]])
    array(['cat'], dtype='<U3')
    """

    identifier = "ssan"
    display_name = "SSAN"
    sums_rows = True

    _parameter_constraints: ClassVar[Mapping[str, list[Any]]] = {
        **NetworkClassifier._parameter_constraints,
        "temperature": [POSITIVE],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "beta": [NON_NEGATIVE],
        "gamma": [NON_NEGATIVE],
        "weight_decay": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_components: int = 256,
        temperature: float = 5.0,
        alpha: float = 0.1,
        beta: float = 0.004,
        gamma: float = 0.1,
        learning_rate: float = 0.1,
        weight_decay: float = 0.001,
        max_iter: int = 3000,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, learning_rate, max_iter, device, random_state)
        self.temperature, self.weight_decay = temperature, weight_decay
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def _train(self, problem: Problem, site: Site) -> Trained:
        X_target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        k, n_classes = self.n_components, problem.n_classes
        source = _draw_encoder(problem.X_source, k, site)
        target = _draw_encoder(X_target, k, site)
        classifier = Layer.of(site, *_draw_layers(site, (k, n_classes))[0])
        discriminator = Layer.of(site, *_draw_layers(site, (k, 1))[0])
        network = AlignmentNetwork(source, target, classifier, discriminator)
        inputs = problem.map_rows(source.first.inputs, target.first.inputs)
        return network.trained(self._descend(network, Batch.of(inputs, site), site))

    def _descend(
        self, network: AlignmentNetwork, batch: Batch, site: Site
    ) -> list[float]:
        import torch

        optimiser = torch.optim.SGD(
            network.parameters,
            lr=self.learning_rate,
            momentum=MOMENTUM,
            nesterov=True,
            weight_decay=self.weight_decay,
            fused=site.fuses,
        )

        def loss(iteration: int) -> Tensor:
            reversal = math.tanh(REVERSAL_RATE * iteration / self.max_iter)
            return network.loss(batch, reversal, self)

        return train(loss, optimiser, self.max_iter)
