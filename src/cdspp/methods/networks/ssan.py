"""SSAN: a network that aligns what both domains mean in three ways at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils._param_validation import Interval

from cdspp.methods.base import Float, Problem
from cdspp.methods.networks.alignment_network import AlignmentNetwork, LossWeights
from cdspp.methods.networks.networks import (
    Batch,
    Encoder,
    Layer,
    NetworkClassifier,
    Site,
    train,
)
from cdspp.methods.networks.trained_network import Trained, TrainedEncoder
from cdspp.methods.shared.constraints import NON_NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SSAN", "RowSpace"]

LENGTH_FLOOR = 1e-12
MOMENTUM = 0.9
REVERSAL_RATE = 5.0


@dataclass(frozen=True, eq=False)
class RowSpace:
    """The span of a domain's rows, where there are fewer rows than features.

    Gradient descent with momentum and weight decay commutes with rotations of the
    features, and what a first layer's weights are outside the span only decays. So the
    coordinates within the span do for training, exactly.

    Attributes
    ----------
    basis : ndarray of shape (d, n) or None
        Orthonormal columns; None where the rows' own coordinates are kept.
    """

    basis: Float | None

    @classmethod
    def of(cls, X: Float) -> RowSpace:
        """Find the span of the rows of `X`."""
        if len(X) >= X.shape[1]:
            return cls(None)
        basis, _ = linalg.qr(X.T, mode="economic", check_finite=False)
        return cls(basis)

    def coordinates(self, A: Float) -> Float:
        """Return rows, of data or weights, in the coordinates of the span."""
        return A if self.basis is None else np.asarray(A @ self.basis)

    def lift(
        self, trained: TrainedEncoder, first: Float, decay: float
    ) -> TrainedEncoder:
        """Return a trained encoder for features in place of coordinates.

        Parameters
        ----------
        trained : TrainedEncoder
            Encoder of coordinates.
        first : ndarray of shape (n_out, d)
            The first values of its first layer's weights.
        decay : float
            What remains of a weight that no row touches.
        """
        if self.basis is None:
            return trained
        untouched = decay * (first @ self.basis)
        weight = (trained.first.weight - untouched) @ self.basis.T + decay * first
        layer = replace(trained.first, weight=weight.astype(trained.first.weight.dtype))
        return replace(trained, first=layer)


@dataclass(frozen=True, eq=False)
class _Side:
    """A domain's encoder of coordinates, and the way back to features."""

    space: RowSpace
    encoder: Encoder
    first: Float

    @classmethod
    def draw(cls, X: Float, n_components: int, site: Site) -> _Side:
        space = RowSpace.of(X)
        d = X.shape[1]
        hidden = (d + n_components) // 2
        lower, upper = _draw_layers(site, (d, hidden), (hidden, n_components))
        first = lower[0].numpy()
        encoder = Encoder(
            _parameters(site, space.coordinates(first), lower[1]),
            _parameters(site, *upper),
            LENGTH_FLOOR,
        )
        return cls(space, encoder, first)

    def coordinates(self, X: Float) -> Float:
        return self.space.coordinates(X)

    def trained(self, decay: float) -> TrainedEncoder:
        return self.space.lift(self.encoder.trained(), self.first, decay)


def _parameters(site: Site, weight: Float | Tensor, bias: Tensor) -> Layer:
    return Layer(site.parameter(weight), site.parameter(bias))


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

    See Also
    --------
    STN : Soft labels in place of pseudo-labels, no discriminator.

    Notes
    -----
    Encoders and classifier are those of `NetworkClassifier`. Cost
    O(n min(n, d) d + n d k) an iteration and domain: with fewer rows than features the
    network is trained on coordinates within their span, which changes nothing.

    The step never shrinks, so single iterations can collapse and recover; where the
    last is such a one, the log says so. The published code reports the best accuracy on
    the test rows over all iterations, which needs their labels; this is the last
    iteration's. Its encoders are chosen by the number of features, so that domains of
    equal width share the source's; here each domain has its own.

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
    compresses = True

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
        self.temperature = temperature
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.weight_decay = weight_decay

    def _train(self, problem: Problem, site: Site) -> Trained:
        X_target = np.vstack([problem.X_labelled, problem.X_unlabelled])
        source, target = (
            _Side.draw(X, self.n_components, site) for X in (problem.X_source, X_target)
        )
        heads = [
            _draw_layers(site, (self.n_components, n))[0]
            for n in (problem.n_classes, 1)
        ]
        classifier, discriminator = (_parameters(site, *head) for head in heads)
        network = AlignmentNetwork(
            source.encoder, target.encoder, classifier, discriminator
        )
        losses = self._descend(
            network,
            Batch.of(problem.map_rows(source.coordinates, target.coordinates), site),
            site,
        )
        decay = self._decay()
        return Trained(
            source.trained(decay), target.trained(decay), classifier.trained(), losses
        )

    def _descend(
        self, network: AlignmentNetwork, batch: Batch, site: Site
    ) -> list[float]:
        import torch

        weights = LossWeights(self.temperature, self.alpha, self.beta, self.gamma)
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
            return network.loss(batch, reversal, weights)

        return train(loss, optimiser, self.max_iter)

    def _decay(self) -> float:
        """Return what remains of a weight that has no gradient but its own decay."""
        weight, velocity = 1.0, 0.0
        for _ in range(self.max_iter):
            gradient = self.weight_decay * weight
            velocity = MOMENTUM * velocity + gradient
            weight -= self.learning_rate * (gradient + MOMENTUM * velocity)
        return weight
